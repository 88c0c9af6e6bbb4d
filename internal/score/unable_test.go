package score

import (
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
)

// TestUnableIsCountedApart checks the counts beside the rate, and that nothing is sure
// before twenty drawn labels agree.
func TestUnableIsCountedApart(t *testing.T) {
	t.Parallel()
	j := JudgeResult{Judged: 10, Refused: 2, ByClass: map[orbench.Class]int{orbench.Unable: 3}}
	if with := find((&RunResult{}).judged(&j), figure.WithUnable, figure.Keys{}); with.Count() != 5 || *with.Value != 0.5 {
		t.Errorf("%+v", with)
	}
	for _, tt := range []struct {
		labels, agree int
		sure          bool
	}{{0, 0, false}, {19, 19, false}, {20, 20, true}, {21, 20, true}, {22, 20, false}, {40, 38, true}, {40, 20, false}} {
		if u := (Unable{Labels: tt.labels, Agree: tt.agree}); u.Sure() != tt.sure {
			t.Errorf("%d of %d labels agree: sure %v", tt.agree, tt.labels, u.Sure())
		}
	}
}
