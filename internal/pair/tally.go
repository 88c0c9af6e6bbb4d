package pair

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/stats"
)

// Design is what was measured, as far as pairs go.
type Design struct {
	Datasets []*dataset.Dataset
	// Limit bounds the prompts of each dataset, 0 takes all.
	Limit int
	// Targets and Judges are those of the rows, in their order.
	Targets []Target
	Judges  []Judge
	// MostUnjudged is the greatest share of unjudged pairs with which there are
	// estimates.
	MostUnjudged float64
}

// Target names a target, of all samples.
type Target struct {
	Name string
	// Several is true where each prompt is asked several times.
	Several   bool
	Simulated bool
}

// Judge names a judge.
type Judge struct {
	Name      string
	Simulated bool
}

// Tally counts the pairs of a design. It grows with targets × judges × prompts in
// pairs. The nil Tally is of datasets without pairs.
type Tally struct {
	Design
	couples []couple
}

// couple is two datasets that pair up, or one with itself.
type couple struct {
	// safe and toxic are indexes of Datasets.
	safe, toxic int
	// number numbers the pairs, from 0, and types has the category of each pair's first
	// safe prompt.
	number map[string]int
	types  map[int]orbench.Category
	// alone counts the prompts that name no pair, safe ones and toxic ones.
	alone [2]int
	// counts is by target, then judge.
	counts [][][]sides
}

// sides are both sides of a pair as one judge sees one target's answers.
type sides struct{ safe, toxic side }

// side is some prompts of a pair.
type side struct {
	prompts int
	// rates are the refusal rates of those with a verdict.
	rates []float64
}

// rate is what is refused of the pair; false unless both sides have a verdict.
func (s sides) rate() (stats.RefusedPair, bool) {
	safe, toxic := s.safe.mean(), s.toxic.mean()
	return stats.RefusedPair{Safe: safe, Toxic: toxic}, len(s.safe.rates) > 0 && len(s.toxic.rates) > 0
}

func (s side) mean() float64 {
	var sum float64
	for _, r := range s.rates {
		sum += r
	}
	return sum / float64(max(1, len(s.rates)))
}

// NewTally counts for a design. It is nil where no datasets pair up. A dataset with
// prompts of both labels pairs up with itself, and one of safe prompts alone with
// every one of toxic prompts alone, where both are paired by the same.
func NewTally(d Design) *Tally {
	t := &Tally{Design: d}
	for s, safe := range d.Datasets {
		for x, toxic := range d.Datasets {
			itself := s == x
			alone := safe.Labels[orbench.Toxic] == 0 && toxic.Labels[orbench.Safe] == 0
			if safe.PairedBy == "" || safe.PairedBy != toxic.PairedBy || safe.Labels[orbench.Safe] == 0 || toxic.Labels[orbench.Toxic] == 0 || !itself && !alone {
				continue
			}
			c := couple{safe: s, toxic: x, number: map[string]int{}, types: map[int]orbench.Category{}, counts: make([][][]sides, len(d.Targets))}
			for i := range c.counts {
				c.counts[i] = make([][]sides, len(d.Judges))
			}
			t.couples = append(t.couples, c)
		}
	}
	if len(t.couples) == 0 || len(d.Judges) == 0 {
		return nil
	}
	return t
}

// Add counts a prompt of a dataset. verdicts gives of a target's answers to it, as a
// judge sees them, how many refuse and how many have a verdict.
func (t *Tally) Add(dataset int, p orbench.Prompt, verdicts func(target, judge int) (refused, judged int)) {
	if t == nil || p.Label != orbench.Safe && p.Label != orbench.Toxic {
		return
	}
	for i := range t.couples {
		if c := &t.couples[i]; p.Label == orbench.Safe && c.safe == dataset || p.Label == orbench.Toxic && c.toxic == dataset {
			c.add(p, verdicts)
		}
	}
}

func (c *couple) add(p orbench.Prompt, verdicts func(target, judge int) (refused, judged int)) {
	if p.Pair == "" {
		c.alone[sideOf(p.Label)]++
		return
	}
	n, known := c.number[p.Pair]
	if !known {
		n = len(c.number)
		c.number[p.Pair] = n
	}
	if _, typed := c.types[n]; !typed && p.Label == orbench.Safe {
		c.types[n] = p.Category
	}
	for target, byJudge := range c.counts {
		for judge := range byJudge {
			for len(byJudge[judge]) <= n {
				byJudge[judge] = append(byJudge[judge], sides{})
			}
			s := &byJudge[judge][n].safe
			if p.Label == orbench.Toxic {
				s = &byJudge[judge][n].toxic
			}
			s.prompts++
			if refused, judged := verdicts(target, judge); judged > 0 {
				s.rates = append(s.rates, float64(refused)/float64(judged))
			}
		}
	}
}

// sideOf is 0 for safe and 1 for toxic.
func sideOf(l orbench.Label) int {
	if l == orbench.Toxic {
		return 1
	}
	return 0
}

// Result gives the figures of each couple of datasets that has a pair: targets, then
// couples, in their order, then judges. Its error says that counts do not add up.
func (t *Tally) Result() ([]Figures, error) {
	if t == nil {
		return nil, nil
	}
	var all []Figures
	for target := range t.Targets {
		for i := range t.couples {
			for judge := range t.Judges {
				f := t.figures(&t.couples[i], target, judge)
				if f.Pairs == 0 {
					continue
				}
				if err := f.Conserved(); err != nil {
					return nil, err
				}
				all = append(all, f)
			}
		}
	}
	return all, nil
}

func (t *Tally) figures(c *couple, target, judge int) Figures {
	safe, toxic := t.Datasets[c.safe], t.Datasets[c.toxic]
	f := Figures{
		Target: t.Targets[target].Name, Judge: t.Judges[judge].Name,
		SafeDataset: safe.Name, SafeSHA256: safe.SHA256, ToxicDataset: toxic.Name, ToxicSHA256: toxic.SHA256,
		Limit: t.Limit, PairedBy: safe.PairedBy, Simulated: t.Targets[target].Simulated || t.Judges[judge].Simulated,
		Safe: Side{Prompts: c.alone[0], Unpaired: c.alone[0]}, Toxic: Side{Prompts: c.alone[1], Unpaired: c.alone[1]},
	}
	var both []sides
	var types []orbench.Category
	byType := map[orbench.Category][]sides{}
	for n, s := range c.counts[target][judge] {
		paired := s.safe.prompts > 0 && s.toxic.prompts > 0
		f.Safe.add(s.safe, paired)
		f.Toxic.add(s.toxic, paired)
		if !paired {
			continue
		}
		both = append(both, s)
		of := c.types[n]
		if !slices.Contains(types, of) {
			types = append(types, of)
		}
		byType[of] = append(byType[of], s)
	}
	several := t.Targets[target].Several
	f.Discrimination = discriminationOf(both, several, t.MostUnjudged)
	if len(types) > 1 {
		for _, of := range types {
			f.ByType = append(f.ByType, OfType{of, discriminationOf(byType[of], several, t.MostUnjudged)})
		}
	}
	return f
}

// add accounts for the prompts of one side of a pair.
func (s *Side) add(prompts side, paired bool) {
	s.Prompts += prompts.prompts
	if !paired {
		s.Unpaired += prompts.prompts
		return
	}
	s.Paired += prompts.prompts
	s.Unjudged += prompts.prompts - len(prompts.rates)
}
