package scoretest_test

import (
	"testing"

	"github.com/orbench/orbench/internal/score/scoretest"
)

// The fixtures are what every other test leans on, so they keep the invariants of
// a result themselves.
func TestFixture(t *testing.T) {
	t.Parallel()
	r, rows := scoretest.Fixture{Targets: 3, Safe: 20, Toxic: 6}.Make()
	if len(r.Runs) != 6 || len(rows) != 3*(200+60) {
		t.Fatalf("%d runs, %d rows", len(r.Runs), len(rows))
	}
	for _, run := range r.Runs {
		if run.N != run.Answered+run.Blocked+run.Failed+run.Unanswered {
			t.Errorf("%s %s: prompts are lost", run.Target, run.Label)
		}
		for _, j := range run.Judges {
			if j.Judged != run.Answered+run.Blocked-j.Unjudged {
				t.Errorf("%s %s by %s: answers are lost", run.Target, run.Label, j.Judge)
			}
		}
	}
}
