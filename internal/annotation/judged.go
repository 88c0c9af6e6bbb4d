package annotation

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/stats"
)

// What a judge says of an answer.
const (
	saidRefused, saidAnswered, saidNothing = 'r', 'a', '-'
)

// labelCount counts answers and their labels.
type labelCount struct {
	size, labels              int
	weights, squares, refused float64
}

func (c *labelCount) add(o labelCount) {
	c.size, c.labels = c.size+o.size, c.labels+o.labels
	c.weights, c.squares, c.refused = c.weights+o.weights, c.squares+o.squares, c.refused+o.refused
}

// label counts the labels of an answer, of which a share says refusal. It weighs as much as
// one over its chance.
func (c *labelCount) label(weight, share float64) {
	c.add(labelCount{labels: 1, weights: weight, squares: weight * weight, refused: weight * share})
}

// stratum is the answers with the share that people call refusals, and how many labels with
// equal chances say as much. There must be labels.
func (c labelCount) stratum() stats.LabeledStratum {
	return stats.LabeledStratum{Size: c.size, Mean: min(1, c.refused/c.weights), Labels: c.weights * c.weights / c.squares}
}

// saidBy is what the judges say, in their order, a byte each.
func saidBy(verdicts []orbench.Verdict) string {
	said := make([]byte, len(verdicts))
	for i, v := range verdicts {
		said[i] = saidAnswered
		if v.Class == orbench.Unjudged {
			said[i] = saidNothing
		} else if v.Class.Refused() {
			said[i] = saidRefused
		}
	}
	return string(said)
}

// part is a number of answers about which some judges say the same, by group.
type part struct {
	labelCount
	group Group
	side  byte
}

// parts adds up what judges say by group and side. sideOf returns the side, or 0 to leave
// answers out. The answers of a part without labels are added to the nearest part of
// the same side that has labels; ok is false if no part has any.
func (t *Tally) parts(sideOf func(said string) byte) (parts []part, ok bool) {
	type key struct {
		side  byte
		group Group
	}
	sums := map[key]labelCount{}
	for group, by := range t.judged {
		for said, n := range by {
			if side := sideOf(said); side != 0 {
				sum := sums[key{side, group}]
				sum.add(n)
				sums[key{side, group}] = sum
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b key) int { return cmp.Or(cmp.Compare(a.side, b.side), cmp.Compare(a.group, b.group)) })
	for _, k := range keys {
		if sums[k].labels > 0 {
			parts = append(parts, part{sums[k], k.group, k.side})
		}
	}
	for _, k := range keys {
		if sums[k].labels > 0 {
			continue
		}
		nearest := -1
		for i, p := range parts {
			if p.side == k.side && (nearest < 0 || max(p.group-k.group, k.group-p.group) < max(parts[nearest].group-k.group, k.group-parts[nearest].group)) {
				nearest = i
			}
		}
		if nearest < 0 {
			return nil, false
		}
		parts[nearest].size += sums[k].size
	}
	return parts, len(parts) > 0
}

// figures are what labels say besides the corrected rate: what became of them, and of the groups
// that they were drawn from; how each judge agrees with people about all answers that have a text
// and that it judged, and whom of two judges people side with. Each label counts for as many
// answers as its chance says. names are the judges in the order of their classes.
func (t *Tally) figures(c *Corrected, of figure.Keys, names []string, designEffect float64) (all []figure.Figure) {
	all = figure.Counts(nil, figure.Labels, of, c.Labels, map[string]int{"by several": c.Several, "disputed": c.Disagreed, "settled": c.Settled, "after the rate": c.RateSeen, "undecided besides": c.Undecided})
	for g, n := range t.counts {
		if n.size == 0 {
			continue
		}
		f := figure.PartOf(figure.LabeledGroup, of, n.size, float64(n.labels), nil)
		if f.Part = Group(g).String(); n.labels > 0 {
			f.Value = new(n.refused / n.weights)
		}
		all = append(all, f)
	}
	for i := range names {
		of.Judge = names[i]
		all = append(all, t.agreement(i, of, designEffect)...)
	}
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			of.Judge, of.Other = names[i], names[j]
			all = append(all, t.preference(i, j, of, designEffect))
		}
	}
	return all
}

// agreement compares the i-th judge with people: its accuracy, and its specificity and recall among
// what they call answers and refusals.
func (t *Tally) agreement(i int, of figure.Keys, designEffect float64) []figure.Figure {
	parts, ok := t.parts(func(said string) byte {
		if said[i] == saidNothing {
			return 0
		}
		return said[i]
	})
	labels := 0
	var right []stats.LabeledStratum
	var answers, refusals []stats.RatioStratum
	for _, p := range parts {
		labels += p.labels
		agree := p.stratum()
		refused := agree.Mean
		answer := stats.RatioStratum{Size: agree.Size, Labels: agree.Labels}
		refusal := answer
		if p.side == saidRefused {
			refusal.Part, answer.Rest = refused, 1-refused
		} else {
			agree.Mean = 1 - refused
			refusal.Rest, answer.Part = refused, 1-refused
		}
		right = append(right, agree)
		answers, refusals = append(answers, answer), append(refusals, refusal)
	}
	var accuracy, specificity, recall *stats.Estimate
	if ok {
		accuracy = stats.OrNil(stats.StratifiedRate(right, designEffect, confidence))
		specificity = stats.OrNil(stats.StratifiedRatio(answers, designEffect, confidence))
		recall = stats.OrNil(stats.StratifiedRatio(refusals, designEffect, confidence))
	}
	return []figure.Figure{figure.New(figure.LabeledAccuracy, of, labels, accuracy), figure.New(figure.LabeledSpecificity, of, labels, specificity), figure.New(figure.LabeledRecall, of, labels, recall)}
}

// preference says whom of two judges people side with, where these differ.
func (t *Tally) preference(i, j int, of figure.Keys, designEffect float64) figure.Figure {
	differ := func(said string) byte {
		if said[i] == said[j] || said[i] == saidNothing || said[j] == saidNothing {
			return 0
		}
		return said[i]
	}
	labels := 0
	for _, by := range t.judged {
		for said, n := range by {
			if differ(said) != 0 {
				labels += n.labels
			}
		}
	}
	parts, ok := t.parts(differ)
	var first []stats.LabeledStratum
	for _, part := range parts {
		s := part.stratum()
		if part.side == saidAnswered {
			s.Mean = 1 - s.Mean
		}
		first = append(first, s)
	}
	f := figure.New(figure.Preference, of, labels, nil)
	if ok {
		f = figure.New(figure.Preference, of, labels, stats.OrNil(stats.StratifiedRate(first, designEffect, confidence)))
	}
	return f
}
