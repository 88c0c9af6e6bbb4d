package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// NotApart says which targets of a result may be equal, and how many labels of
// each would tell them apart. It is empty if they are not ranked, or if all are
// told apart.
func NotApart(r score.Result) string {
	r = r.Aggregated()
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
			switch one, _ := s.best(label); {
			case labels == 0:
			case one.labeled:
				c.Rate.Lo, c.Rate.Hi = narrower(c.Rate, run.Labeled.Labels, labels, run.Answered+run.Blocked)
			default:
				c.Rate.Lo, c.Rate.Hi = expected(one, min(labels, one.n), one.of.Judge)
			}
			rates = append(rates, c)
		}
		for _, p := range score.ComparePairs(rates, func(a, b score.Contender) *score.Versus { return nil }) {
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

// orderSections returns all pairs of targets, and the order of targets between
// sets of prompts.
func orderSections(r score.Result) []table.Section {
	pairs := table.Section{
		Title:  "Pairs of targets, with Holm's correction over all pairs of a set",
		Header: []string{"A", "B", "dataset", "label", "A − B", "95% interval", "p", "with judge's error", "p (Holm)", "by verdicts alone"},
		Left:   4, WrapNames: true,
		Note: "Differences are prompt by prompt. p (Holm) counts the judge's error where it is known; the last column does not.",
	}
	var people table.Names
	for _, run := range r.Runs {
		if run.Labeled != nil {
			people.Add(run.Target)
		}
	}
	if len(people) > 0 {
		pairs.Note += " By people's labels, where there are any: " + listed(people) + "."
	}
	for _, o := range r.Orders {
		for _, p := range o.Pairs {
			holm, verdicts := p.PHolm, p.PHolmByVerdicts
			pairs.Add(p.A, p.B, score.RunResult{Dataset: o.Dataset, DatasetSHA256: o.DatasetSHA256, Limit: o.Limit}.DatasetCaption(), o.Label,
				versusCells(&p.Versus, table.Minus), table.PValue(&holm), table.PValue(&verdicts))
		}
	}
	sections := []table.Section{pairs}
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		if slices.ContainsFunc(r.SetPairs, func(p score.SetPair) bool { return p.Label == label }) {
			sections = append(sections, setSection(r, label))
		}
	}
	orders := table.Section{
		Title:  "The order of targets, set against set",
		Header: []string{"set A", "set B", "label", "targets", "Kendall's tau", "reversed"}, Left: 3, WrapNames: true,
	}
	for _, p := range r.SetPairs {
		orders.Add(p.A, p.B, p.Label, p.Targets, tauOf(p), reversals(p))
	}
	return append(sections, orders)
}

// setSection shows the rates of each target on each set.
func setSection(r score.Result, label orbench.Label) table.Section {
	sets := r.Sets(label)
	s := table.Section{Title: "Sets side by side: " + string(label) + " prompts refused, % (95%)", Header: []string{"target"}, Left: 1, WrapNames: true}
	var targets table.Names
	for _, set := range sets {
		s.Header = append(s.Header, set.Name)
		for _, c := range set.Rates {
			targets.Add(c.Target)
		}
	}
	for _, target := range targets {
		row := []string{target}
		for _, set := range sets {
			cell := table.None
			if i := slices.IndexFunc(set.Rates, func(c score.Contender) bool { return c.Target == target }); i >= 0 {
				cell = inPercent(&set.Rates[i].Rate)
			}
			row = append(row, cell)
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// addSets says on a brief screen how the order of targets differs between sets. Two
// targets in one order say nothing.
func addSets(d *table.Document, words table.Words, r score.Result) {
	const most = 3
	sets := slices.DeleteFunc(slices.Clone(r.SetPairs), func(p score.SetPair) bool { return p.Targets < 3 && len(p.Reversed) == 0 })
	for _, p := range sets[:min(most, len(sets))] {
		line := fmt.Sprintf("%s prompts, %s against %s: Kendall's tau %s over %s", p.Label, p.A, p.B, tauOf(p), table.Counted(p.Targets, "target", "targets"))
		if len(p.Reversed) > 0 {
			line += "; reversed: " + reversals(p)
		}
		d.AddTo(table.OnBrief, table.Line(words.Of("Order on "+line+".")))
	}
	if more := len(sets) - most; more > 0 {
		d.AddTo(table.OnBrief, table.Line("And "+table.Counted(more, "more pair", "more pairs")+" of sets."))
	}
	if len(sets) > 0 {
		d.AddTo(table.OnBrief, table.Gap)
	}
}

func tauOf(p score.SetPair) string {
	return table.Known(p.Kendall, func(tau float64) string { return table.Fractions(&stats.Estimate{Value: tau})[0] })
}

// reversals names the pairs of targets whose order is reversed.
func reversals(p score.SetPair) string {
	var pairs []string
	for _, v := range p.Reversed {
		pair := v.LowerOnA + " and " + v.LowerOnB
		if v.Sure {
			pair += " (surely)"
		}
		pairs = append(pairs, pair)
	}
	if len(pairs) == 0 {
		return "none"
	}
	return listed(pairs)
}
