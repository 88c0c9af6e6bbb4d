package score

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// variant is a target that is asked several times for each prompt.
type variant struct {
	*Target
	// index is the target's index. greedy is the index of the target that
	// differs only in having temperature 0, or -1.
	index, greedy int
}

// variants returns the targets that are asked several times.
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

// SampleName names a target's n-th sample, from 0. The first sample has the
// target's own name. A further one has a label in brackets; for a variant of base,
// the label comes last in the brackets that the variant's name already has.
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
// prompt.
type sampling struct {
	design   *Design
	variants []variant
	sink     func(PromptPropensity) error
	counts   countsBy[propensityTally]
}

// newSampling prepares counting. sink receives every prompt; it may be nil.
func newSampling(d *Design, sink func(PromptPropensity) error) *sampling {
	return &sampling{design: d, variants: d.variants(), sink: sink, counts: countsBy[propensityTally]{}}
}

// add counts the rows of a chunk.
func (s *sampling) add(chunk Chunk) error {
	for key, i := range s.design.countKeys(len(s.variants), chunk) {
		if err := s.count(key, chunk, i); err != nil {
			return err
		}
	}
	return nil
}

// count counts the i-th prompt of a chunk.
func (s *sampling) count(key countKey, chunk Chunk, i int) error {
	v, p := s.variants[key.of], chunk.Prompts[i]
	one := PromptPropensity{
		Target: v.Name, Dataset: s.design.Datasets[chunk.Dataset].Name, Prompt: p.ID, Category: p.Category, Label: p.Label,
		Judge: s.design.Judges[key.judge].Name(), Samples: v.times(),
	}
	of := s.counts.of(key, func() *propensityTally { return s.newTally(key) })
	for _, rows := range chunk.Rows[v.index] {
		row := &rows[i]
		of.Simulated = of.Simulated || row.Simulated
		if len(row.Verdicts) == 0 {
			continue
		}
		verdict := row.Verdicts[key.judge]
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
		if verdicts := chunk.Rows[v.greedy][0][i].Verdicts; len(verdicts) > 0 {
			one.Greedy = verdicts[key.judge].Class
		}
	}
	of.add(one, p.Cluster)
	if s.sink == nil {
		return nil
	}
	return s.sink(one)
}

func (s *sampling) newTally(key countKey) *propensityTally {
	v := s.variants[key.of]
	t := &propensityTally{
		Propensity: Propensity{
			Target: v.Name, Scope: s.design.scope(key), Samples: v.times(), Simulated: v.simulated() || SimulatedJudge(s.design.Judges[key.judge]),
		},
		kinds: map[promptKind]int{}, shared: map[clusterPart]stats.Cluster{}, clustered: s.design.Datasets[key.dataset].ClusteredBy != "",
	}
	for i := range v.times() {
		t.Targets = append(t.Targets, SampleName(v.Name, v.Base, i))
	}
	return t
}

// result returns the figures.
func (s *sampling) result() []Propensity {
	var all []Propensity
	for key, t := range s.counts.inOrder() {
		greedy := ""
		if at := s.variants[key.of].greedy; at >= 0 {
			greedy = s.design.Targets[at].Name
		}
		all = append(all, t.result(greedy, s.design.mostUnjudged()))
	}
	return all
}
