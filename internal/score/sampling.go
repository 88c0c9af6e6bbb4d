package score

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/propensity"
)

// variant is a target that is asked several times for each prompt.
type variant struct {
	*Target
	// index is the target's, and greedy that of the target which differs in the
	// temperature alone, which is 0, or -1.
	index, greedy int
}

// variants finds the targets that are asked several times.
func (d *Design) variants() []variant {
	var all []variant
	for i := range d.Targets {
		t := &d.Targets[i]
		if t.times() < 2 {
			continue
		}
		all = append(all, variant{t, i, slices.IndexFunc(d.Targets, func(o Target) bool {
			return o.times() < 2 && o.greedy(t.Asked)
		})})
	}
	return all
}

// SampleName names a target's n-th sample, from 0: by the target's own name, and
// for further ones with a label in brackets, the last of those that the name of a
// variant of base has.
func SampleName(target, base string, n int) string {
	switch {
	case n == 0:
		return target
	case base == "":
		return fmt.Sprintf("%s [sample %d]", target, n+1)
	}
	return fmt.Sprintf("%s, sample %d]", strings.TrimSuffix(target, "]"), n+1)
}

// sampling counts how often targets that are asked several times refuse each
// prompt. It is nil for a run without such targets or without judges.
type sampling struct {
	design   *Design
	variants []variant
	sink     func(propensity.Prompt) error
	counts   map[samplingKey]*propensity.Tally
}

type samplingKey struct{ variant, dataset, label, judge int }

// newSampling prepares counting; sink takes every prompt, nil for nobody.
func newSampling(d *Design, sink func(propensity.Prompt) error) *sampling {
	variants := d.variants()
	if len(variants) == 0 || len(d.Judges) == 0 {
		return nil
	}
	return &sampling{design: d, variants: variants, sink: sink, counts: map[samplingKey]*propensity.Tally{}}
}

// add counts the rows of a piece.
func (s *sampling) add(piece Piece) error {
	if s == nil {
		return nil
	}
	for n := range s.variants {
		for i := range piece.Prompts {
			for j := range s.design.Judges {
				if err := s.count(n, j, i, piece); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// count counts the i-th prompt of a piece, by one judge of a variant.
func (s *sampling) count(n, judging, i int, piece Piece) error {
	v, p := s.variants[n], piece.Prompts[i]
	one := propensity.Prompt{
		Target: v.Name, Dataset: s.design.Datasets[piece.Dataset].Name, Prompt: p.ID, Category: p.Category, Label: p.Label,
		Judge: s.design.Judges[judging].Name(), Samples: v.times(),
	}
	of := s.of(n, v, piece.Dataset, judging, p.Label)
	for _, rows := range piece.Rows[v.index] {
		row := &rows[i]
		of.Simulated = of.Simulated || row.Simulated
		if len(row.Verdicts) == 0 {
			continue
		}
		verdict := row.Verdicts[judging]
		of.Simulated = of.Simulated || verdict.Simulated
		switch {
		case verdict.Class == orbench.Unjudged:
			one.Unjudged++
		case verdict.Class.Refused():
			one.Refused++
			one.Judged++
		default:
			one.Judged++
		}
	}
	if v.greedy >= 0 {
		if verdicts := piece.Rows[v.greedy][0][i].Verdicts; len(verdicts) > 0 {
			one.Greedy = verdicts[judging].Class
		}
	}
	of.Add(one, p.Cluster)
	if s.sink == nil {
		return nil
	}
	return s.sink(one)
}

// of finds or makes the counts that a prompt belongs to.
func (s *sampling) of(n int, v variant, set, judging int, label orbench.Label) *propensity.Tally {
	key := samplingKey{n, set, labelIndex(label), judging}
	if found, ok := s.counts[key]; ok {
		return found
	}
	d, j := s.design.Datasets[set], s.design.Judges[judging]
	made := propensity.NewTally(propensity.Figures{
		Target: v.Name, Dataset: d.Name, DatasetSHA256: d.SHA256, Limit: s.design.Limit, Label: label, Judge: j.Name(),
		Samples: v.times(), Simulated: v.simulated() || SimulatedJudge(j),
	}, d.ClusteredBy != "")
	for i := range v.times() {
		made.Targets = append(made.Targets, SampleName(v.Name, v.Base, i))
	}
	s.counts[key] = made
	return made
}

// result gives the figures: variants, then datasets, in the run's order, then
// labels in theirs, then judges.
func (s *sampling) result() []propensity.Figures {
	if s == nil {
		return nil
	}
	var all []propensity.Figures
	for n, v := range s.variants {
		greedy := ""
		if v.greedy >= 0 {
			greedy = s.design.Targets[v.greedy].Name
		}
		for set := range s.design.Datasets {
			for label := range orbench.Labels {
				for j := range s.design.Judges {
					if c, ok := s.counts[samplingKey{n, set, label, j}]; ok {
						all = append(all, c.Result(greedy, s.design.mostUnjudged()))
					}
				}
			}
		}
	}
	return all
}
