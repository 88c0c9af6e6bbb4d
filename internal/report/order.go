package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// NotApart says which targets of a result may be equal, and how many labels of
// each would tell them apart. It is empty if they are not ranked, or if all are
// told apart.
func NotApart(r score.Result) string {
	all, labels := subjects(r), r.Labels()
	return apartNote(all, labels, ranksOf(all, labels, r), r)
}

// apartNote says which neighbors in the ranking may be equal, and what tells
// them apart. It is empty if nothing is ranked or each is known to be better than
// the next.
func apartNote(all []subject, labels []orbench.Label, ranks []rank, r score.Result) string {
	if ranks == nil {
		return ""
	}
	label, _ := rankedBy(labels)
	order := inOrder(all, ranks)
	var pairs []string
	for i, next := range order[1:] {
		if p := pairOf(r, label, all[order[i]], all[next]); p != nil && !p.Apart() {
			pairs = append(pairs, all[order[i]].target+" and "+all[next].target)
		}
	}
	if len(pairs) == 0 {
		return ""
	}
	who := listed(pairs)
	if len(pairs) > 2 && len(pairs) == len(order)-1 {
		who = "any two neighbors"
	}
	return strings.TrimSpace("Not told apart (5%, Holm): " + who + ". " + labelsToTell(all, label))
}

// labelsToTell says how many labels of each target's answers, on the same
// prompts, would tell apart the pairs that any number of them can, if people
// agree with the judge.
func labelsToTell(all []subject, label orbench.Label) string {
	most := 0
	for _, s := range all {
		run := s.runs[label]
		most = max(most, run.Answered+run.Blocked)
	}
	// apart counts the pairs told apart, and those that are not.
	apart := func(labels int) (yes, no int) {
		var rates []score.Contender
		for _, s := range all {
			run := s.runs[label]
			c, ok := run.Contender()
			if !ok {
				continue
			}
			var lo, hi float64
			switch {
			case labels == 0:
				rates = append(rates, c)
				continue
			case c.Judge == "":
				lo, hi = narrower(*c.Shown(), c.Labels, labels, c.N)
			default:
				lo, hi = expected(c.Figure, min(labels, c.N))
			}
			c.Range = &stats.Interval{Lo: lo, Hi: hi}
			rates = append(rates, c)
		}
		for _, p := range score.ComparePairs(rates, func(a, b score.Contender) *figure.Figure { return nil }) {
			if p.Apart() {
				yes++
			} else {
				no++
			}
		}
		return yes, no
	}
	now, open := apart(0)
	reached, _ := apart(most)
	if open == 0 {
		return ""
	}
	if reached <= now {
		return "Even labels of all answers would not tell them apart: ask more prompts."
	}
	for n := 20; ; n += max(10, n/4) {
		if yes, _ := apart(min(n, most)); yes >= reached {
			n = min(n, most)
			told := fmt.Sprintf("%d of the %d pairs", reached-now, open)
			switch {
			case open == 1:
				told = "them"
			case reached-now == open:
				told = "all"
			}
			return fmt.Sprintf("To tell %s apart, per target: %s.", told, table.Labels(n))
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

// undoneNote says whose order the judge's error could change, though its
// verdicts alone show one.
func undoneNote(all []subject, labels []orbench.Label, r score.Result) string {
	label, _ := rankedBy(labels)
	var pairs table.Names
	compared, undone := 0, 0
	for i, a := range all {
		for _, b := range all[i+1:] {
			p := pairOf(r, label, a, b)
			if a.base == b.base {
				continue // variants of one target are not ranked
			}
			if p != nil {
				compared++
			}
			if p != nil && p.Undone() {
				undone++
				pairs.Add(a.target + " and " + b.target)
			}
		}
	}
	const most = 2
	who := listed(pairs)
	switch {
	case undone == 0:
		return ""
	case len(pairs) > most:
		who = fmt.Sprintf("%d of %d pairs", undone, compared)
	}
	return "The judge's error could change the order of " + who + "."
}

// addSets says on a brief screen how the order of targets differs between sets. Two
// targets in one order say nothing.
func addSets(d *table.Document, words table.Words, r score.Result) {
	const most = 3
	shown, more := 0, 0
	for f := range figure.Of(r.Figures, figure.SetOrder) {
		if f.N < 3 && f.Count() == 0 {
			continue
		}
		if shown++; shown > most {
			more++
			continue
		}
		line := fmt.Sprintf("%s prompts, %s against %s: Kendall's tau %s over %s", f.Label, f.Dataset, f.OtherDataset, value(f), table.Counted(f.N, "model", "models"))
		if f.Count() > 0 {
			line += "; reversed: " + reversals(r, f)
		}
		d.AddTo(table.OnBrief, table.Line(words.Of("Order on "+line+".")))
	}
	if more > 0 {
		d.AddTo(table.OnBrief, table.Line("And "+table.Counted(more, "more pair", "more pairs")+" of sets."))
	}
	if shown > 0 {
		d.AddTo(table.OnBrief, table.Gap)
	}
}

// reversals names the pairs of targets whose order is reversed between two sets.
func reversals(r score.Result, order *figure.Figure) string {
	var pairs []string
	for f := range figure.Of(r.Figures, figure.Reversed) {
		if f.Label != order.Label || f.Dataset != order.Dataset || f.OtherDataset != order.OtherDataset {
			continue
		}
		pair := f.Target + " and " + f.Other
		if f.Count() > 0 {
			pair += " (surely)"
		}
		pairs = append(pairs, pair)
	}
	return listed(pairs)
}
