package evaluate

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
func (r *Run) variants() []variant {
	all := r.sampleGroups()
	greedy := map[string]int{}
	for i, t := range r.Targets {
		if t.Params.Temperature != nil && *t.Params.Temperature == 0 && t.Sample == 0 {
			greedy[keyOf(t.atAnyTemperature())] = i
		}
	}
	all = slices.DeleteFunc(all, func(v variant) bool { return len(v.samples) < 2 })
	for n := range all {
		v := &all[n]
		if i, ok := greedy[keyOf(r.Targets[v.samples[0]].atAnyTemperature())]; ok && !slices.Contains(v.samples, i) {
			v.greedy = i
		}
	}
	return all
}

// sampleGroups puts the targets that differ in nothing but the number of the
// sample together; most are a group of one.
func (r *Run) sampleGroups() []variant {
	var all []variant
	index := map[string]int{}
	for i, t := range r.Targets {
		key := keyOf(t)
		n, ok := index[key]
		switch {
		case !ok:
			index[key] = len(all)
			all = append(all, variant{name: withoutSample(t), samples: []int{i}, greedy: -1})
		case !slices.ContainsFunc(all[n].samples, func(other int) bool { return r.Targets[other].Sample == t.Sample }):
			all[n].samples = append(all[n].samples, i)
		}
	}
	return all
}

// atAnyTemperature is the target without its temperature.
func (t Target) atAnyTemperature() Target {
	t.Params.Temperature = nil
	return t
}

// keyOf is the target as a text that is equal for targets which are alike but for
// their names and the number of the sample. A defence is in it by its name.
func keyOf(t Target) string {
	t.Name, t.Base, t.Sample = "", "", 0
	b, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("evaluate: a target cannot be written as JSON: %v", err))
	}
	return string(b)
}

// withoutSample is the target's name without the number of its sample, which
// stands last among the changes in brackets.
func withoutSample(t Target) string {
	number := fmt.Sprintf("sample %d]", t.Sample+1)
	if name, ok := strings.CutSuffix(t.Name, " ["+number); ok {
		return name
	}
	if name, ok := strings.CutSuffix(t.Name, ", "+number); ok {
		return name + "]"
	}
	return t.Name
}

// sampling counts how often targets that are asked several times refuse each
// prompt. The chunks of a run come piece by piece, each piece for all targets in
// turn, so the verdicts on one piece are all that is kept. It is nil for a run
// without such targets or without judges.
type sampling struct {
	run      *Run
	variants []variant
	sink     func(PromptPropensity) error
	// place has what each target of the run is a sample of; Samples that are none
	// have no name.
	place []place
	// piece has what is needed of the rows of the piece under way, by target;
	// needed says of which targets.
	piece  [][]sampledRow
	needed []bool
	counts map[samplingKey]*sampled
}

// place is the name of a variant and the number of a sample of it, from 1.
type place struct {
	variant string
	sample  int
}

// sampledRow is what counts of a row.
type sampledRow struct {
	verdicts  []JudgeVerdict
	simulated bool
}

type samplingKey struct{ variant, dataset, label, judge int }

// sampled is a Propensity under way.
type sampled struct {
	Propensity
	kinds map[promptKind]int
	// shared counts the judged answers of the dataset's own clusters, nil where it
	// names none.
	shared map[cellKey]*stats.Cluster
}

// newSampling prepares counting; sink takes every prompt, nil for nobody.
func newSampling(r *Run, sink func(PromptPropensity) error) *sampling {
	variants := r.variants()
	if len(variants) == 0 || len(r.Judges) == 0 {
		return nil
	}
	s := &sampling{
		run: r, variants: variants, sink: sink, place: make([]place, len(r.Targets)),
		piece: make([][]sampledRow, len(r.Targets)), needed: make([]bool, len(r.Targets)),
		counts: map[samplingKey]*sampled{},
	}
	for _, v := range variants {
		for _, i := range v.samples {
			s.needed[i] = true
			s.place[i] = place{v.name, r.Targets[i].Sample + 1}
		}
		if v.greedy >= 0 {
			s.needed[v.greedy] = true
		}
	}
	return s
}

// add takes the rows of a chunk, and counts a piece when it is complete. It notes
// in each row which sample it is.
func (s *sampling) add(c chunk, rows []Row) error {
	if s == nil {
		return nil
	}
	if s.needed[c.index] {
		kept := make([]sampledRow, len(rows))
		for i := range rows {
			kept[i] = sampledRow{rows[i].Verdicts, rows[i].Simulated}
			rows[i].Variant, rows[i].Sample = s.place[c.index].variant, s.place[c.index].sample
		}
		s.piece[c.index] = kept
	}
	if c.index < len(s.run.Targets)-1 {
		return nil
	}
	for n, v := range s.variants {
		for i, p := range c.prompts {
			for j := range s.run.Judges {
				if err := s.count(n, v, c.dataset, j, i, p); err != nil {
					return err
				}
			}
		}
	}
	clear(s.piece)
	return nil
}

// count counts one prompt of a variant, the i-th of the piece, by one judge.
func (s *sampling) count(n int, v variant, set, judging, i int, p orbench.Prompt) error {
	one := PromptPropensity{
		Target: v.name, Dataset: s.run.Datasets[set].Name, Prompt: p.ID, Category: p.Category, Label: p.Label,
		Judge: s.run.Judges[judging].Name(), Samples: len(v.samples),
	}
	of := s.of(n, v, set, judging, p.Label)
	for _, target := range v.samples {
		row := s.piece[target][i]
		of.Simulated = of.Simulated || row.simulated
		if len(row.verdicts) == 0 {
			of.Missing++
			continue
		}
		verdict := row.verdicts[judging]
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
		if row := s.piece[v.greedy][i]; len(row.verdicts) > 0 {
			one.Greedy = row.verdicts[judging].Class
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
func (s *sampled) share(p orbench.Prompt, one PromptPropensity) {
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
	key := samplingKey{n, set, labelled(label), judging}
	if found, ok := s.counts[key]; ok {
		return found
	}
	d, j := s.run.Datasets[set], s.run.Judges[judging]
	made := &sampled{
		Propensity: Propensity{
			Target: v.name, Dataset: d.Name, DatasetSHA256: d.SHA256, Limit: s.run.Limit, Label: label, Judge: j.Name(),
			Samples: len(v.samples), Simulated: s.run.Targets[v.samples[0]].Simulated() || simulatedJudge(j),
		},
		kinds: map[promptKind]int{},
	}
	if d.ClusteredBy != "" {
		made.shared = map[cellKey]*stats.Cluster{}
	}
	for _, i := range v.samples {
		made.Targets = append(made.Targets, s.run.Targets[i].Name)
	}
	s.counts[key] = made
	return made
}

// result gives the figures: variants, then datasets, in the run's order, then
// labels in theirs, then judges.
func (s *sampling) result() []Propensity {
	if s == nil {
		return nil
	}
	var all []Propensity
	for n, v := range s.variants {
		greedy := ""
		if v.greedy >= 0 {
			greedy = s.run.Targets[v.greedy].Name
		}
		for set := range s.run.Datasets {
			for label := range orbench.Labels {
				for j := range s.run.Judges {
					if c, ok := s.counts[samplingKey{n, set, label, j}]; ok {
						c.finish(c.kinds, c.shared, greedy, s.run.mostUnjudged())
						all = append(all, c.Propensity)
					}
				}
			}
		}
	}
	return all
}
