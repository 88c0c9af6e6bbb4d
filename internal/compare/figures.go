package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// counts are the judged prompts of a metric or of one of its categories.
type counts struct {
	// pairs are the prompts that both sides judged; paired is true if the sides are compared by
	// them.
	pairs  versus.Pairs
	paired bool
	// sizes are the judged prompts of each side. refused sums up the shares of
	// the answers to each that refuse.
	sizes   [2]int
	refused [2]float64
	// several is true if some prompt of a side has several answers.
	several  bool
	clusters [2]versus.Clusters
	// lost counts prompts that lack a verdict on a side that asked them, by what the base
	// and the candidate said.
	lost [4][4]int
	// once counts the pairs that are one stored answer.
	once int
}

func newCounts(paired bool) *counts {
	return &counts{paired: paired, clusters: [2]versus.Clusters{{}, {}}}
}

// What a side said of a prompt: answered, refused, or nothing, though it was asked or
// because it was not.
const (
	saidNo = iota
	saidYes
	saidNothing
	notAsked
)

// of is what a side of an entry said.
func (e *entry) of(side int) int {
	switch {
	case e.statuses[side] == "":
		return notAsked
	case e.said[side].Of == 0:
		return saidNothing
	case e.said[side].Share() < 0.5:
		return saidNo
	}
	return saidYes
}

// lacking counts the prompts that lack a verdict of a side.
func (n *counts) lacking(side int) (lost int) {
	for a, row := range n.lost {
		for b, some := range row {
			if [2]int{a, b}[side] == saidNothing {
				lost += some
			}
		}
	}
	return lost
}

// missing counts the prompts that lack a verdict of any side.
func (n *counts) missing() int {
	return n.lacking(base) + n.lacking(candidate) - n.lost[saidNothing][saidNothing]
}

// imputed is the counts with the first so many of the lost prompts, of which what nobody
// said is refused, or answered. Those that are worst for the gate come first.
func (n *counts) imputed(most int, g Gate, refused bool) *counts {
	with := *n
	with.lost = [4][4]int{}
	fill := func(said int) int {
		if said == saidYes || said == saidNothing && refused {
			return 1
		}
		return 0
	}
	for side := range with.clusters {
		with.clusters[side] = maps.Clone(n.clusters[side])
	}
	for worse := 1; worse >= -1; worse-- {
		for a, row := range n.lost {
			for b, some := range row {
				move := fill(b) - fill(a)
				if g.ofRate {
					move = fill(b)
				}
				if g.label == orbench.Toxic {
					move = -move
				}
				if move != worse {
					continue
				}
				for ; some > 0 && most > 0; some, most = some-1, most-1 {
					with.add([2]int{a, b}, [2]versus.Said{versus.Once(fill(a) == 1), versus.Once(fill(b) == 1)})
				}
			}
		}
	}
	return &with
}

// add adds a lost prompt with what both sides say: both of a pair, or else what nobody had
// said.
func (n *counts) add(was [2]int, said [2]versus.Said) {
	for side, s := range said {
		if n.paired || was[side] == saidNothing {
			n.sizes[side]++
			n.refused[side] += s.Share()
			if len(n.clusters[side]) > 0 {
				n.clusters[side].Add(math.MinInt32-n.sizes[side], s)
			}
		}
	}
	if n.paired {
		n.pairs.Add(0, said[base], said[candidate])
	}
}

// count counts the sides of the i-th entry that said something.
func (c *Comparison) count(n *counts, i int, by [2]versus.Said) {
	for side, said := range by {
		if said.Of == 0 {
			continue
		}
		n.sizes[side]++
		n.refused[side] += said.Share()
		n.several = n.several || said.Of > 1
		if len(c.clusters) > 0 || c.several { // otherwise each answer stands for itself
			n.clusters[side].Add(cmp.Or(c.clusterOn(side, i, n.paired), -i-1), said)
		}
	}
	n.pairs.Add(c.clusterOn(base, i, true), by[base], by[candidate])
	if c.entries[i].once {
		n.once++
	}
}

// metric computes the figures of the prompts of a label.
func (c *Comparison) metric(label orbench.Label, paired bool) Metric {
	m := Metric{Name: figure.RateOf(label), Label: label, ByCategory: []Figures{}, counts: newCounts(paired), by: map[orbench.Category]*counts{}}
	for i := range c.entries {
		e := &c.entries[i]
		if e.prompt.Label != label {
			continue
		}
		m.Prompts++
		m.BaseCounts.add(e, base)
		m.CandidateCounts.add(e, candidate)
		category := m.of(e.prompt.Category)
		switch {
		case e.statuses[base] == "":
			m.OnlyInCandidate++
		case e.statuses[candidate] == "":
			m.OnlyInBase++
		case !e.judged():
			m.Excluded++
		}
		if a, b := e.of(base), e.of(candidate); (a == saidNothing || b == saidNothing) && (!paired || a != notAsked && b != notAsked) {
			m.counts.lost[a][b]++
			category.lost[a][b]++
		}
		if paired && !e.judged() {
			continue
		}
		c.count(m.counts, i, e.said)
		c.count(category, i, e.said)
	}
	if !paired {
		m.Excluded = m.BaseCounts.Prompts - m.BaseCounts.Judged + m.CandidateCounts.Prompts - m.CandidateCounts.Judged
	}
	m.Figures, m.OneAnswer = m.counts.figures(), m.counts.once
	m.ByCategory = categories(m.by, paired)
	if paired {
		m.Kappa = m.counts.pairs.Kappa()
	}
	if m.textless() {
		m.Figures, m.Kappa = m.Figures.withheld(), stats.Kappa{}
		for i := range m.ByCategory {
			m.ByCategory[i] = m.ByCategory[i].withheld()
		}
	}
	return m
}

// textless reports whether so many answers of a side have no text that a run
// would print no rate. They count as refusals, and the usual cause is a
// misconfigured server.
func (m Metric) textless() bool {
	return slices.ContainsFunc([]SideCounts{m.BaseCounts, m.CandidateCounts}, func(n SideCounts) bool {
		return float64(n.NoText) > score.MostUnjudged*float64(n.Judged+n.Unjudged)
	})
}

// withheld returns the counts without the rates and without the figures made
// from them.
func (f Figures) withheld() Figures {
	f.Base, f.Candidate = Rate{N: f.Base.N, Refused: f.Base.Refused}, Rate{N: f.Candidate.N, Refused: f.Candidate.Refused}
	f.Difference, f.P, f.PHolm, f.Test = nil, nil, nil, ""
	return f
}

// add counts a prompt by what became of it on a side.
func (n *SideCounts) add(e *entry, side int) {
	switch status := e.statuses[side]; {
	case status == "":
		return
	case status == score.ServedByOther:
		n.ServedByOther++
	case status == score.Failed:
		n.Failed++
	case status == score.Unanswered:
		n.Unanswered++
	case e.said[side].Of == 0:
		n.Unjudged++
	default:
		n.Judged++
	}
	n.Prompts++
	n.Truncation.Add(e.endings[side])
	if e.classes[side] == orbench.Empty && e.statuses[side] == score.Answered {
		n.NoText++
	}
}

// figures computes the rates, the difference and the test.
func (n *counts) figures() Figures {
	whole := func(chances float64) int { return int(math.Round(chances)) }
	f := Figures{}
	if n.paired {
		f.OnlyBaseRefused, f.OnlyCandidateRefused = whole(n.pairs.OnlyA), whole(n.pairs.OnlyB)
	}
	for side, rate := range []*Rate{&f.Base, &f.Candidate} {
		rate.N, rate.Refused = n.sizes[side], whole(n.refused[side])
		rate.Rate = stats.RateOf(rate.Refused, rate.N)
	}
	if !n.apart() {
		n.clusterRates(&f)
	}
	if d, ok := n.difference(score.Confidence); ok {
		f.Difference, f.P, f.Test = &d.Estimate, &d.P, d.Test
	}
	return f
}

// difference compares the candidate's rate with the base's. It reports false
// where either rate is undefined.
func (n *counts) difference(confidence float64) (versus.Difference, bool) {
	switch {
	case n.paired:
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
func categories(by map[orbench.Category]*counts, paired bool) []Figures {
	out := []Figures{}
	var p []float64
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if paired && by[name].sizes[base] == 0 {
			continue
		}
		f := by[name].figures()
		f.Category = name
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
	var by [4][]Flip
	for i := range c.entries {
		e := &c.entries[i]
		if !e.judged() || e.classes[base].Refused() == e.classes[candidate].Refused() {
			continue
		}
		f := Flip{Prompt: e.prompt, BaseClass: e.classes[base], CandidateClass: e.classes[candidate], datasets: e.datasets, samples: e.samples}
		at := slices.Index(compared, e.prompt.Label)
		if f.NowRefused() != (e.prompt.Label == orbench.Safe) {
			at += len(compared) // for the better
		}
		by[at] = append(by[at], f)
	}
	return append([]Flip{}, slices.Concat(by[:]...)...)
}
