package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// notApart says what a range of ranks is. It is empty if targets are not ranked, or if all are
// told apart.
func notApart(r score.Result) string {
	ranges := func(at rank) bool { return at.first != at.last }
	if ranked := contests(r); len(ranked) == 0 || len(ranked) == 1 && !slices.ContainsFunc(ranked[0], ranges) {
		return ""
	}
	return "A rank is a range where targets are not told apart."
}

// worst says which target refuses the most safe prompts, or the fewest toxic ones where no safe
// prompt was asked. It is empty if targets are not ranked, or if sets do not agree.
func worst(r score.Result, words table.Words) string {
	ranked := contests(r)
	run := lastOf(ranked)
	if run == nil {
		return ""
	}
	var last, next []float64
	var apart []string
	for _, order := range ranked {
		n := len(order)
		last, next = append(last, math.Abs(order[n-1].by)), append(next, math.Abs(order[n-2].by))
		if order[n-1].first == n {
			apart = append(apart, order[0].run.Dataset)
		}
	}
	most := "the most safe prompts"
	if label, _ := rankedBy(r.Labels()); label == orbench.Toxic {
		most = "the fewest toxic prompts"
	}
	between := func(all []float64) string {
		lo, hi := table.Percent(slices.Min(all)), table.Percent(slices.Max(all))
		if lo == hi {
			return hi
		}
		return lo + " to " + hi
	}
	line := fmt.Sprintf("%s %s %s: %s, the next %s", nameOf(run), words.Of("refuses"), words.Of(most), between(last), between(next))
	switch {
	case len(apart) == 0:
		line += "; the two are not told apart"
	case len(apart) < len(ranked):
		line += "; told apart on " + joined(apart) + " alone"
	}
	return line + "."
}

// lastOf is a run of the target that is last in each of the orders, nil where they do not agree.
func lastOf(ranked [][]rank) (run *score.RunResult) {
	for _, order := range ranked {
		n := len(order)
		if run != nil && run.Target != order[n-1].run.Target || order[n-1].by == order[n-2].by {
			return nil
		}
		run = order[n-1].run
	}
	return run
}
