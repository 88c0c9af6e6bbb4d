package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// notApart says what a range of ranks is, and how many labels of each target would tell them
// apart. It is empty if they are not ranked, or all are told apart.
func notApart(r score.Result) string {
	ranked := contests(r)
	if len(ranked) == 0 {
		return ""
	}
	order := ranked[0]
	if len(ranked) == 1 && !slices.ContainsFunc(order, func(at rank) bool { return at.first != at.last }) {
		return ""
	}
	line, tell := "A rank is a range where targets are not told apart. ", labelsToTell(r, order)
	if len(ranked) > 1 && tell != "" {
		line += "On " + order[0].run.Dataset + ", "
		tell = strings.ToLower(tell[:1]) + tell[1:]
	}
	return strings.TrimSpace(line + tell)
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

// labelsToTell says how many labels of each target's answers, on the same
// prompts, would tell apart the pairs that any number of them can, if people
// agree with the judge.
func labelsToTell(r score.Result, ranked []rank) string {
	most, now, open := 0, 0, 0
	for i, at := range ranked {
		most = max(most, at.run.Answered+at.run.Blocked)
		for _, other := range ranked[i+1:] {
			if p := pairOf(r, at.run, other.run); p != nil && p.Apart() {
				now++
			} else {
				open++
			}
		}
	}
	// apart counts the pairs that some labels would tell apart.
	apart := func(labels int) (yes int) {
		var rates []score.Contender
		for _, at := range ranked {
			c, _ := at.run.Contender() // what is ranked has a rate
			var lo, hi float64
			if c.Judge == "" {
				lo, hi = narrower(*c.Shown(), c.Labels, labels, c.N)
			} else {
				lo, hi = expected(c.Figure, min(labels, c.N))
			}
			c.Range = &stats.Interval{Lo: lo, Hi: hi}
			rates = append(rates, c)
		}
		for _, p := range score.ComparePairs(rates, func(a, b score.Contender) *figure.Figure { return nil }) {
			if p.Apart() {
				yes++
			}
		}
		return yes
	}
	reached := apart(most)
	if open == 0 {
		return ""
	}
	if reached <= now {
		return "Even labels of all answers would not tell them apart: ask more prompts."
	}
	for n := 20; ; n += max(10, n/4) {
		if labels := min(n, most); apart(labels) >= reached {
			return fmt.Sprintf("To tell %s apart, per target: %s.", table.Counted(reached-now, "more pair", "more pairs"), table.Labels(labels))
		}
	}
}

// narrower returns about the interval of a rate by labels of some answers out of
// all, once more of them are labeled: the part of its variance that is not that
// of the prompts falls with their number.
func narrower(e stats.Estimate, labels, more, all int) (lo, hi float64) {
	if more = min(more, all); more <= labels {
		return e.Lo, e.Hi
	}
	ofPrompts := e.Value * (1 - e.Value) / float64(all)
	end := func(distance float64) float64 {
		const z = 1.96
		ofLabels := math.Max(0, distance*distance/z/z-ofPrompts)
		falls := (1/float64(more) - 1/float64(all)) / (1/float64(labels) - 1/float64(all))
		return math.Min(distance, z*math.Sqrt(ofPrompts+ofLabels*falls))
	}
	return e.Value - end(e.Value-e.Lo), e.Value + end(e.Hi-e.Value)
}
