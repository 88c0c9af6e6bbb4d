package score

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// variant is a target that is asked once or several times for each prompt.
type variant struct {
	name string
	// samples are the targets of the run that differ in nothing but the number of
	// the sample, in the run's order.
	samples []int
	// greedy is the target that differs in the temperature alone, which is 0, or
	// -1.
	greedy int
}

// variants finds the targets of the run that are asked several times.
func (d *Design) variants() []variant {
	all := d.sampleGroups()
	greedy := map[string]int{}
	for i, t := range d.Targets {
		if t.Temperature != nil && *t.Temperature == 0 && t.Sample == 0 {
			greedy[t.atAnyTemperature().key()] = i
		}
	}
	all = slices.DeleteFunc(all, func(v variant) bool { return len(v.samples) < 2 })
	for n := range all {
		v := &all[n]
		if i, ok := greedy[d.Targets[v.samples[0]].atAnyTemperature().key()]; ok && !slices.Contains(v.samples, i) {
			v.greedy = i
		}
	}
	return all
}

// sampleGroups puts the targets that differ in nothing but the number of the
// sample together; most are a group of one.
func (d *Design) sampleGroups() []variant {
	var all []variant
	index := map[string]int{}
	for i, t := range d.Targets {
		key := t.key()
		n, ok := index[key]
		switch {
		case !ok:
			index[key] = len(all)
			all = append(all, variant{name: WithoutSample(t.Name, t.Sample), samples: []int{i}, greedy: -1})
		case !slices.ContainsFunc(all[n].samples, func(other int) bool { return d.Targets[other].Sample == t.Sample }):
			all[n].samples = append(all[n].samples, i)
		}
	}
	return all
}

// atAnyTemperature is how a target is asked but for its temperature.
func (a Asked) atAnyTemperature() Asked {
	a.Temperature = nil
	return a
}

// key is a text that is equal for targets which are asked alike but for the
// number of the sample.
func (a Asked) key() string {
	a.Sample = 0
	b, err := json.Marshal(a)
	if err != nil {
		panic(fmt.Sprintf("score: how a target is asked cannot be written as JSON: %v", err))
	}
	return string(b)
}

// NameOf names a target that differs from the one called base as labels say, for
// its n-th sample, from 0. The labels stand in brackets, and that of a further
// sample is the last of them.
func NameOf(base string, labels []string, n int) string {
	if n > 0 {
		labels = append(slices.Clone(labels), fmt.Sprintf("sample %d", n+1))
	}
	if len(labels) == 0 {
		return base
	}
	return base + " [" + strings.Join(labels, ", ") + "]"
}

// WithoutSample undoes what NameOf adds to a name for the n-th sample.
func WithoutSample(name string, n int) string {
	number := fmt.Sprintf("sample %d]", n+1)
	if rest, ok := strings.CutSuffix(name, " ["+number); ok {
		return rest
	}
	if rest, ok := strings.CutSuffix(name, ", "+number); ok {
		return rest + "]"
	}
	return name
}

// sampling counts how often targets that are asked several times refuse each
// prompt. It is nil for a run without such targets or without judges.
type sampling struct {
	design   *Design
	variants []variant
	sink     func(PromptRate) error
	counts   map[samplingKey]*sampled
}

type samplingKey struct{ variant, dataset, label, judge int }

// sampled is a PromptRates under way.
type sampled struct {
	PromptRates
	kinds map[promptKind]int
	// shared counts the judged answers of the dataset's own clusters, nil where it
	// names none.
	shared map[cellKey]*stats.Cluster
}

// newSampling prepares counting; sink takes every prompt, nil for nobody.
func newSampling(d *Design, sink func(PromptRate) error) *sampling {
	variants := d.variants()
	if len(variants) == 0 || len(d.Judges) == 0 {
		return nil
	}
	return &sampling{design: d, variants: variants, sink: sink, counts: map[samplingKey]*sampled{}}
}

// add counts the rows of a piece, and notes in each which sample it is.
func (s *sampling) add(piece Piece) error {
	if s == nil {
		return nil
	}
	for n, v := range s.variants {
		for _, target := range v.samples {
			rows := piece.Rows[target]
			for i := range rows {
				rows[i].Variant, rows[i].Sample = v.name, s.design.Targets[target].Sample+1
			}
		}
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
	one := PromptRate{
		Target: v.name, Dataset: s.design.Datasets[piece.Dataset].Name, Prompt: p.ID, Category: p.Category, Label: p.Label,
		Judge: s.design.Judges[judging].Name(), Samples: len(v.samples),
	}
	of := s.of(n, v, piece.Dataset, judging, p.Label)
	for _, target := range v.samples {
		row := &piece.Rows[target][i]
		of.Simulated = of.Simulated || row.Simulated
		if len(row.Verdicts) == 0 {
			of.Missing++
			continue
		}
		verdict := row.Verdicts[judging]
		of.Simulated = of.Simulated || verdict.Simulated
		switch {
		case verdict.Class == orbench.Unjudged:
			one.Unjudged++
			of.Unjudged++
		case verdict.Class.Refused():
			one.Refused++
			one.Judged++
		default:
			one.Judged++
		}
	}
	kind := promptKind{category: p.Category, judged: one.Judged, refused: one.Refused}
	if v.greedy >= 0 {
		if verdicts := piece.Rows[v.greedy][i].Verdicts; len(verdicts) > 0 {
			one.Greedy = verdicts[judging].Class
		}
		switch {
		case one.Greedy == orbench.Unjudged:
		case one.Greedy.Refused():
			kind.greedy = greedyRefuses
		default:
			kind.greedy = greedyAnswers
		}
	}
	of.kinds[kind]++
	of.share(p, one)
	if s.sink == nil {
		return nil
	}
	return s.sink(one)
}

// share counts a prompt to the cluster that it shares with others.
func (s *sampled) share(p orbench.Prompt, one PromptRate) {
	if s.shared == nil || one.Judged == 0 {
		return
	}
	key := cellKey{p.Cluster, p.Category}
	if s.shared[key] == nil {
		s.shared[key] = &stats.Cluster{}
	}
	s.shared[key].Sum += one.Refused
	s.shared[key].N += one.Judged
}

// of finds or makes the counts that a prompt belongs to.
func (s *sampling) of(n int, v variant, set, judging int, label orbench.Label) *sampled {
	key := samplingKey{n, set, labelIndex(label), judging}
	if found, ok := s.counts[key]; ok {
		return found
	}
	d, j := s.design.Datasets[set], s.design.Judges[judging]
	made := &sampled{
		PromptRates: PromptRates{
			Target: v.name, Dataset: d.Name, DatasetSHA256: d.SHA256, Limit: s.design.Limit, Label: label, Judge: j.Name(),
			Samples: len(v.samples), Simulated: s.design.Targets[v.samples[0]].simulated() || simulatedJudge(j),
		},
		kinds: map[promptKind]int{},
	}
	if d.ClusteredBy != "" {
		made.shared = map[cellKey]*stats.Cluster{}
	}
	for _, i := range v.samples {
		made.Targets = append(made.Targets, s.design.Targets[i].Name)
	}
	s.counts[key] = made
	return made
}

// result gives the figures: variants, then datasets, in the run's order, then
// labels in theirs, then judges.
func (s *sampling) result() []PromptRates {
	if s == nil {
		return nil
	}
	var all []PromptRates
	for n, v := range s.variants {
		greedy := ""
		if v.greedy >= 0 {
			greedy = s.design.Targets[v.greedy].Name
		}
		for set := range s.design.Datasets {
			for label := range orbench.Labels {
				for j := range s.design.Judges {
					if c, ok := s.counts[samplingKey{n, set, label, j}]; ok {
						c.finish(c.kinds, c.shared, greedy, s.design.mostUnjudged())
						all = append(all, c.PromptRates)
					}
				}
			}
		}
	}
	return all
}
