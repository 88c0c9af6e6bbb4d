package compare

import (
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// counts are the judged prompts of a metric or of one of its categories.
type counts struct {
	n, refused [2]int
	only       [2]int // refused by this side only
	// excluded counts the prompts of both sides that lack a verdict on one or
	// both. lacking counts, for each side, those that lack a verdict there.
	excluded int
	lacking  [2]int
	clusters [2]clusterCounts
}

func newCounts() *counts { return &counts{clusters: [2]clusterCounts{{}, {}}} }

// count counts the sides of the i-th entry that have a verdict.
func (c *Comparison) count(n *counts, i int, paired bool) {
	e := &c.entries[i]
	for side, f := range e.outcomes {
		if !f.judged() {
			if f != absent {
				n.lacking[side]++
			}
			continue
		}
		n.n[side]++
		if len(c.clusters) > 0 { // otherwise each prompt is one of its own
			n.clusters[side].add(c.clusterOn(side, i, paired), f == refused)
		}
		if f != refused {
			continue
		}
		n.refused[side]++
		if paired && e.outcomes[1-side] == complied {
			n.only[side]++
		}
	}
}

// metric computes the figures of the prompts of a label, and counts them in t.
func (c *Comparison) metric(name MetricName, t *tally, paired bool, b stats.Bootstrap) Metric {
	m := Metric{Name: name, Label: t.label, ByCategory: []CategoryFigures{}}
	var became [2][outcomes]int
	var ended [2]score.Truncation
	var noText [2]int
	for i := range c.entries {
		e := &c.entries[i]
		if e.prompt.Label != t.label {
			continue
		}
		m.Prompts++
		for side, f := range e.outcomes {
			became[side][f]++
			ended[side].Add(e.endings[side])
			if f.judged() && e.noText[side] {
				noText[side]++
			}
		}
		category := t.of(e.prompt.Category)
		both := e.outcomes[base].judged() && e.outcomes[candidate].judged()
		switch {
		case e.outcomes[base] == absent:
			m.OnlyInCandidate++
		case e.outcomes[candidate] == absent:
			m.OnlyInBase++
		case !both:
			m.Excluded++
			t.all.excluded++
			category.excluded++
		}
		if paired && !both {
			continue
		}
		c.count(t.all, i, paired)
		c.count(category, i, paired)
	}
	m.BaseCounts, m.CandidateCounts = sideCounts(became[base]), sideCounts(became[candidate])
	m.BaseCounts.Truncation, m.CandidateCounts.Truncation = ended[base], ended[candidate]
	m.BaseCounts.NoText, m.CandidateCounts.NoText = noText[base], noText[candidate]
	if !paired {
		m.Excluded = m.BaseCounts.Prompts - m.BaseCounts.Judged + m.CandidateCounts.Prompts - m.CandidateCounts.Judged
	}
	m.Figures = t.all.figures(paired, b)
	m.ByCategory = categories(t.by, paired, b)
	if paired {
		m.Kappa = t.all.kappa()
	}
	if m.textless() {
		m.Figures, m.Kappa = m.Figures.withheld(), stats.Kappa{}
		for i := range m.ByCategory {
			m.ByCategory[i].Figures, m.ByCategory[i].PHolm = m.ByCategory[i].Figures.withheld(), nil
		}
	}
	return m
}

// textless reports whether so many answers of a side have no text that a run
// would print no rate. They count as refusals, and the usual cause is a
// misconfigured server.
func (m Metric) textless() bool {
	return slices.ContainsFunc([]SideCounts{m.BaseCounts, m.CandidateCounts}, func(n SideCounts) bool {
		return float64(n.NoText) > score.DefaultMostUnjudged*float64(n.Judged+n.Unjudged)
	})
}

// withheld returns the counts without the rates and without the figures made
// from them.
func (f Figures) withheld() Figures {
	f.Base, f.Candidate = Rate{N: f.Base.N, Refused: f.Base.Refused}, Rate{N: f.Candidate.N, Refused: f.Candidate.Refused}
	f.Difference, f.P, f.Test = nil, nil, ""
	return f
}

func sideCounts(n [outcomes]int) SideCounts {
	s := SideCounts{Judged: n[complied] + n[refused], Unjudged: n[unjudged], ServedByOther: n[byOther], Failed: n[failed], Unanswered: n[unanswered]}
	s.Prompts = s.Judged + s.Unjudged + s.ServedByOther + s.Failed + s.Unanswered
	return s
}

// figures computes the rates, the difference and the test.
func (n *counts) figures(paired bool, b stats.Bootstrap) Figures {
	f := Figures{
		Base: n.rate(base), Candidate: n.rate(candidate),
		OnlyBaseRefused: n.only[base], OnlyCandidateRefused: n.only[candidate],
	}
	if n.clustered() {
		n.clusterRates(&f)
	}
	if d, ok := n.difference(paired, b); ok {
		p, test := n.test(paired)
		f.Difference, f.P, f.Test = &d, &p, test
	}
	return f
}

// difference estimates the candidate's rate minus the base's, at the confidence of
// the bootstrap. It reports false where either rate is undefined.
func (n *counts) difference(paired bool, b stats.Bootstrap) (stats.Estimate, bool) {
	switch clustered := n.clustered(); {
	case paired && clustered:
		return b.ClusteredDifference(n.changes())
	case clustered:
		return n.unpairedClusters(b.Confidence)
	case paired:
		return stats.Tango(n.only[base], n.only[candidate], n.n[base], b.Confidence)
	}
	return stats.Newcombe(n.refused[candidate], n.n[candidate], n.refused[base], n.n[base], b.Confidence)
}

// test tests whether the rates differ. Both must be defined.
func (n *counts) test(paired bool) (float64, Test) {
	switch clustered := n.clustered(); {
	case paired && clustered:
		return stats.McNemarClustered(n.changes()), McNemarClustered
	case paired:
		return stats.McNemar(n.only[base], n.only[candidate]), McNemar
	case clustered:
		return n.fisherClustered(), FisherClustered
	}
	return stats.FisherExact(n.refused[base], n.n[base], n.refused[candidate], n.n[candidate]), Fisher
}

func (n *counts) rate(side int) Rate {
	return Rate{N: n.n[side], Refused: n.refused[side], Rate: stats.RateOf(n.refused[side], n.n[side])}
}

// kappa returns Cohen's kappa of a paired comparison.
func (n *counts) kappa() stats.Kappa {
	both := n.refused[base] - n.only[base]
	neither := n.n[base] - n.refused[base] - n.only[candidate]
	return stats.KappaOf([][]int{{both, n.only[base]}, {n.only[candidate], neither}})
}

// categories computes the figures by category, with p-values corrected for the
// number of categories. A paired comparison includes only categories with a
// judged pair.
func categories(by map[orbench.Category]*counts, paired bool, b stats.Bootstrap) []CategoryFigures {
	out := []CategoryFigures{}
	var p []float64
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if paired && by[name].n[base] == 0 {
			continue
		}
		f := CategoryFigures{Category: name, Figures: by[name].figures(paired, b)}
		if f.P != nil {
			p = append(p, *f.P)
		}
		out = append(out, f)
	}
	adjusted := stats.Holm(p)
	for i := range out {
		if out[i].P != nil {
			out[i].PHolm = &adjusted[0]
			adjusted = adjusted[1:]
		}
	}
	return out
}

// flips lists the prompts that flipped: first those for the worse (safe ones
// newly refused, then toxic ones newly answered), then those for the better, safe ones
// first; otherwise in the order of the walk.
func (c *Comparison) flips() []Flip {
	var worse, better [2][]Flip
	for i := range c.entries {
		e := &c.entries[i]
		before, after := e.outcomes[base], e.outcomes[candidate]
		if !before.judged() || !after.judged() || before == after {
			continue
		}
		f := Flip{Prompt: e.prompt, BaseClass: e.classes[base], CandidateClass: e.classes[candidate], datasets: e.datasets}
		label := slices.IndexFunc(metrics, func(m metric) bool { return m.label == e.prompt.Label })
		if f.NowRefused() == (e.prompt.Label == orbench.Safe) {
			worse[label] = append(worse[label], f)
		} else {
			better[label] = append(better[label], f)
		}
	}
	return append([]Flip{}, slices.Concat(worse[0], worse[1], better[0], better[1])...)
}
