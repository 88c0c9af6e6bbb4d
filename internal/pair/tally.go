package pair

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/stats"
)

// Design is the part of a measurement that pairs need.
type Design struct {
	Datasets []*dataset.Dataset
	// Limit is the number of prompts taken from each dataset; 0 takes all.
	Limit int
	// Targets and Judges are those of the rows, in their order.
	Targets, Judges []Named
	// MostUnjudged is the greatest share of unjudged pairs for which there are
	// estimates.
	MostUnjudged float64
}

// Named names a target, including all samples, or a judge.
type Named struct {
	Name      string
	Simulated bool
}

// Tally counts the pairs of a design. Its memory grows with targets × judges ×
// prompts in pairs.
type Tally struct {
	Design
	couples []couple
}

// couple is two datasets that form pairs, or one that forms pairs with itself.
type couple struct {
	// safe and toxic are indexes of Datasets.
	safe, toxic int
	// number numbers the pairs, from 0. types holds the category of each pair's
	// first safe prompt.
	number map[string]int
	types  map[int]orbench.Category
	// alone counts the safe and the toxic prompts that name no pair.
	alone [2]int
	// counts is indexed by target, then judge.
	counts [][][]sides
}

// sides holds both sides of a pair, the safe one first, as one judge sees one
// target's answers.
type sides [2]side

// side is the prompts on one side of a pair.
type side struct {
	prompts int
	// rates holds the refusal rates of the prompts with a verdict.
	rates []float64
}

// rate returns the refusal rates of the pair; false unless both sides have a
// verdict.
func (s sides) rate() (stats.RefusedPair, bool) {
	return stats.RefusedPair{Safe: s[0].mean(), Toxic: s[1].mean()}, len(s[0].rates) > 0 && len(s[1].rates) > 0
}

func (s side) mean() float64 {
	var sum float64
	for _, r := range s.rates {
		sum += r
	}
	return sum / float64(max(1, len(s.rates)))
}

// NewTally starts counting for a design. A dataset with prompts of both labels
// forms pairs with itself. A dataset with only safe prompts forms pairs with every dataset with only toxic
// prompts that is paired by the same thing.
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
	return t
}

// Add counts a prompt of a dataset. For a target's answers to it, verdicts
// returns how many refuse and how many have a verdict, as a judge sees them.
func (t *Tally) Add(dataset int, p orbench.Prompt, verdicts func(target, judge int) (refused, judged int)) {
	if p.Label != orbench.Safe && p.Label != orbench.Toxic {
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
			s := &byJudge[judge][n][sideOf(p.Label)]
			s.prompts++
			if refused, judged := verdicts(target, judge); judged > 0 {
				s.rates = append(s.rates, float64(refused)/float64(judged))
			}
		}
	}
}

// sideOf returns 0 for safe and 1 for toxic.
func sideOf(l orbench.Label) int {
	if l == orbench.Toxic {
		return 1
	}
	return 0
}

// Result returns the figures of each couple of datasets that has a pair:
// targets, then couples, in their order, then judges. It returns an error if
// counts do not add up.
func (t *Tally) Result() ([]Figures, error) {
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
		paired := s[0].prompts > 0 && s[1].prompts > 0
		f.Safe.add(s[0], paired)
		f.Toxic.add(s[1], paired)
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
	f.Discrimination = discriminationOf(both, t.MostUnjudged)
	if len(types) > 1 {
		for _, of := range types {
			f.ByType = append(f.ByType, OfType{of, discriminationOf(byType[of], t.MostUnjudged)})
		}
	}
	return f
}

// add counts the prompts of one side of a pair.
func (s *Side) add(prompts side, paired bool) {
	s.Prompts += prompts.prompts
	if !paired {
		s.Unpaired += prompts.prompts
		return
	}
	s.Paired += prompts.prompts
	s.Unjudged += prompts.prompts - len(prompts.rates)
}
