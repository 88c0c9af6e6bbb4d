package report

import (
	"slices"
	"testing"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// A reader of the page sees beside the rate what it does not count.
func TestSideSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := score.Side{
		Run:   score.RunResult{N: 20, Answered: 12, Unanswered: 5, Failed: 3},
		Judge: score.JudgeResult{Judge: "lexical", Judged: 10, Refused: 4, Unjudged: 2, Rate: stats.RateOf(4, 10)},
	}
	if got, want := (Page{}).side(&s, "safe").Without, []string{"5 unanswered", "3 failed", "2 unjudged"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
