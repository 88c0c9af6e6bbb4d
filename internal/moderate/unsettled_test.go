package moderate_test

import (
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/stats"
)

func TestUnsettled(t *testing.T) {
	t.Parallel()
	const safe, toxic, both = orbench.Safe, orbench.Toxic, orbench.Controversial
	for name, c := range map[string]struct {
		votes map[orbench.Label]float64
		all   float64
		want  orbench.Label
	}{
		"nobody":           {nil, 0, orbench.Undecided},
		"all abstain":      {nil, 3, orbench.Undecided},
		"more than half":   {map[orbench.Label]float64{safe: 2, toxic: 1}, 3, safe},
		"half":             {map[orbench.Label]float64{safe: 2, toxic: 1}, 4, orbench.Undecided},
		"a tie":            {map[orbench.Label]float64{safe: 1, toxic: 1}, 2, both},
		"a tie of weights": {map[orbench.Label]float64{safe: 0.1 + 0.2, toxic: 0.3}, 0.1 + 0.2 + 0.3, both},
		"three ways":       {map[orbench.Label]float64{safe: 1, toxic: 1, both: 1}, 3, both},
	} {
		got, settled := stats.Majority(c.votes, c.all)
		if !settled {
			got = moderate.Unsettled(c.votes, c.all)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
