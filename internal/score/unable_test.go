package score

import (
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
)

// TestUnableIsCountedApart checks the counts beside the rate.
func TestUnableIsCountedApart(t *testing.T) {
	t.Parallel()
	j := JudgeResult{Judged: 10, Refused: 2, ByClass: map[orbench.Class]int{orbench.Unable: 3}}
	if with := find((&RunResult{}).judged(&j), figure.WithUnable, figure.Keys{}); with.Count() != 5 || *with.Value != 0.5 {
		t.Errorf("%+v", with)
	}
}
