package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// counts are the judged prompts of a metric or of one of its categories.
type counts struct {
	// pairs are the prompts of a paired comparison.
	pairs versus.Pairs
	// sizes are the judged prompts of each side. refused sums up the shares of
	// the answers to each that refuse.
	sizes   [2]int
	refused [2]float64
	// several is true if some prompt of a side has several answers.
	several bool
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
	for side, said := range e.said {
		if said.Of == 0 {
			if e.outcomes[side] != absent {
				n.lacking[side]++
			}
			continue
		}
		n.sizes[side]++
		n.refused[side] += said.Share()
		n.several = n.several || said.Of > 1
		if len(c.clusters) > 0 || c.several { // otherwise each answer stands for itself
			n.clusters[side].add(cmp.Or(c.clusterOn(side, i, paired), -i-1), said)
		}
	}
	if paired {
		n.pairs.Add(c.clusterOn(base, i, true), e.said[base], e.said[candidate])
	}
}

// metric computes the figures of the prompts of a label, and counts them in t.
func (c *Comparison) metric(name MetricName, t *tally, paired bool) Metric {
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
	m.Figures = t.all.figures(paired)
	m.ByCategory = categories(t.by, paired)
	if paired {
		m.Kappa = t.all.pairs.Kappa()
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
func (n *counts) figures(paired bool) Figures {
	whole := func(chances float64) int { return int(math.Round(chances)) }
	f := Figures{OnlyBaseRefused: whole(n.pairs.OnlyA), OnlyCandidateRefused: whole(n.pairs.OnlyB)}
	for side, rate := range []*Rate{&f.Base, &f.Candidate} {
		rate.N, rate.Refused = n.sizes[side], whole(n.refused[side])
		rate.Rate = stats.RateOf(rate.Refused, rate.N)
	}
	if !n.apart() {
		n.clusterRates(&f)
	}
	if d, ok := n.difference(paired, score.Confidence); ok {
		f.Difference, f.P, f.Test = &d.Estimate, &d.P, d.Test
	}
	return f
}

// difference compares the candidate's rate with the base's. It reports false
// where either rate is undefined.
func (n *counts) difference(paired bool, confidence float64) (versus.Difference, bool) {
	switch {
	case paired:
		return n.pairs.Difference(confidence)
	case n.sizes[base] == 0 || n.sizes[candidate] == 0:
		return versus.Difference{}, false
	}
	e := stats.RateDifference(n.estimate(candidate, confidence), n.estimate(base, confidence))
	if !n.apart() {
		return versus.Difference{Estimate: e, P: n.fisherClustered(), Test: FisherClustered}, true
	}
	f := func(side int) int { return int(n.refused[side]) }
	return versus.Difference{Estimate: e, P: stats.FisherExact(f(base), n.sizes[base], f(candidate), n.sizes[candidate]), Test: Fisher}, true
}

// categories computes the figures by category, with p-values corrected for the
// number of categories. A paired comparison includes only categories with a
// judged pair.
func categories(by map[orbench.Category]*counts, paired bool) []CategoryFigures {
	out := []CategoryFigures{}
	var p []float64
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if paired && by[name].sizes[base] == 0 {
			continue
		}
		f := CategoryFigures{Category: name, Figures: by[name].figures(paired)}
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
		f := Flip{Prompt: e.prompt, BaseClass: e.classes[base], CandidateClass: e.classes[candidate], datasets: e.datasets, samples: e.samples}
		label := slices.IndexFunc(metrics, func(m metric) bool { return m.label == e.prompt.Label })
		if f.NowRefused() == (e.prompt.Label == orbench.Safe) {
			worse[label] = append(worse[label], f)
		} else {
			better[label] = append(better[label], f)
		}
	}
	return append([]Flip{}, slices.Concat(worse[0], worse[1], better[0], better[1])...)
}
