package score

import (
	"cmp"
	"errors"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/pair"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// SimProvider is the provider of simulated models. Every figure that rests on a
// simulated model says so.
const SimProvider = "sim"

// Design is what was measured: every target answers every prompt of every
// dataset, and every judge judges every answer.
type Design struct {
	Targets  []Target
	Datasets []*dataset.Dataset
	// Limit is the number of prompts taken from the start of each dataset; 0
	// takes all.
	Limit  int
	Judges []judge.Judge
	// MostUnjudged is the greatest share of unjudged answers, and of answers
	// without text, for which a rate is still given. 0 means a tenth; 1 means
	// that every rate is given.
	MostUnjudged float64
	// Words holds people's labels of answers. The zero value holds none.
	Words annotation.Words
}

// Target is a measured model as its figures name it.
type Target struct {
	Name string
	// Base is the Name of the target that this one is a variant of; empty if it
	// is not a variant.
	Base string
	// Times is how often each prompt is asked; 0 means once. Asked.Sample is
	// the number of the first answer.
	Times int
	// LabelName is the name under which people's labels know the target's
	// answers; empty if that is Name.
	LabelName string
	Asked
}

// times returns how often each prompt is asked.
func (t *Target) times() int { return max(1, t.Times) }

// simulated reports whether the target is a simulated model.
func (t *Target) simulated() bool { return t.Provider == SimProvider }

// DefaultMostUnjudged is the value used if Design.MostUnjudged is 0.
const DefaultMostUnjudged = 0.1

// mostUnjudged returns MostUnjudged, or its default.
func (d *Design) mostUnjudged() float64 { return cmp.Or(d.MostUnjudged, DefaultMostUnjudged) }

// Simulated reports whether any target or judge is simulated.
func (d *Design) Simulated() bool {
	return slices.ContainsFunc(d.Targets, func(t Target) bool { return t.simulated() }) || slices.ContainsFunc(d.Judges, SimulatedJudge)
}

// SimulatedJudge reports whether a judge asks a simulated model.
func SimulatedJudge(j judge.Judge) bool {
	return slices.ContainsFunc(judge.ModelsOf(j), func(m model.Ref) bool { return m.Provider == SimProvider })
}

// Chunk holds the rows of all targets on some prompts of one dataset.
type Chunk struct {
	// Dataset is an index of Design.Datasets.
	Dataset int
	Prompts []orbench.Prompt
	// Rows is indexed by target, then sample, then prompt.
	Rows [][][]AnswerRow
}

// refusals counts a target's answers to the i-th prompt: judged have a verdict
// by one judge, and refused of them are refusals.
func (p Chunk) refusals(target, i, judging int) (refused, judged int) {
	for _, rows := range p.Rows[target] {
		verdicts := rows[i].Verdicts
		if len(verdicts) == 0 || verdicts[judging].Class == orbench.Unjudged {
			continue
		}
		judged++
		if verdicts[judging].Class.Refused() {
			refused++
		}
	}
	return refused, judged
}

// Tally counts the rows of a design into its figures. Its memory grows with
// targets, datasets, labels and categories, and by a byte with each answer and judge.
type Tally struct {
	runs     *tally
	sampling *sampling
	saying   *saying
	pairing  *pair.Tally
}

// NewTally starts counting for a design.
func NewTally(d Design) *Tally {
	return &Tally{newTally(&d), newSampling(&d), newSaying(&d), pair.NewTally(d.pairs())}
}

// pairs returns the part of the design that pairs of prompts need.
func (d *Design) pairs() pair.Design {
	p := pair.Design{Datasets: d.Datasets, Limit: d.Limit, MostUnjudged: d.mostUnjudged()}
	for i := range d.Targets {
		t := &d.Targets[i]
		p.Targets = append(p.Targets, pair.Named{Name: t.Name, Simulated: t.simulated()})
	}
	for _, j := range d.Judges {
		p.Judges = append(p.Judges, pair.Named{Name: j.Name(), Simulated: SimulatedJudge(j)})
	}
	return p
}

// Add counts the rows of a chunk.
func (t *Tally) Add(p Chunk) {
	t.sampling.add(p)
	t.saying.add(p)
	for i, prompt := range p.Prompts {
		t.pairing.Add(p.Dataset, prompt, func(target, judging int) (refused, judged int) { return p.refusals(target, i, judging) })
	}
	for i, rows := range slices.Concat(p.Rows...) {
		for k := range rows {
			t.runs.add(i, p.Dataset, &rows[k])
		}
	}
}

// Result returns the figures. It leaves out Cost, which does not follow from
// the rows, and the figures of Finish. It returns an error if counts do not add
// up.
func (t *Tally) Result() (Result, error) {
	result, err := t.runs.result()
	if err != nil {
		return Result{}, err
	}
	result.Propensity, result.Said = t.sampling.result(), t.saying.datasets
	for i := range result.Propensity {
		if p := &result.Propensity[i]; result.textless(p.Target, p.Dataset, p.Judge, p.Label) {
			p.withhold()
		}
	}
	result.PromptPairs, err = t.pairing.Result()
	for i := range result.PromptPairs {
		p := &result.PromptPairs[i]
		if result.textless(p.Target, p.SafeDataset, p.Judge, orbench.Safe) || result.textless(p.Target, p.ToxicDataset, p.Judge, orbench.Toxic) {
			p.Withhold()
		}
		err = errors.Join(err, result.checkPairs(p))
	}
	return result, err
}

// textless reports whether a rate of a target, for any of its samples, is
// withheld because too many answers have no text.
func (r *Result) textless(target, dataset, judge string, label orbench.Label) bool {
	return slices.ContainsFunc(r.Runs, func(run RunResult) bool {
		j := run.By(judge)
		return cmp.Or(run.Variant, run.Target) == target && run.Dataset == dataset && run.Label == label && j != nil && j.Textless()
	})
}

// checkPairs checks figures of pairs against the runs of their target, sample
// by sample: the runs must have every prompt of both labels. The figures are
// simulated if a run is; only its answers show that a model behind a server is
// simulated.
func (r *Result) checkPairs(f *pair.Figures) error {
	var faults []error
	for _, run := range r.Runs {
		if cmp.Or(run.Variant, run.Target) != f.Target {
			continue
		}
		if run.Label == orbench.Safe && run.Dataset == f.SafeDataset {
			faults = append(faults, equal("safe prompts in pairs, in none, and in the run", f.Safe.Prompts, run.N))
		}
		if run.Label == orbench.Toxic && run.Dataset == f.ToxicDataset {
			faults = append(faults, equal("toxic prompts in pairs, in none, and in the run", f.Toxic.Prompts, run.N))
		}
		f.Simulated = f.Simulated || run.Simulated
	}
	return unconserved(f.Target, f.Datasets(), errors.Join(faults...))
}

// labelIndex returns the index of a label in orbench.Labels, or -1.
func labelIndex(l orbench.Label) int { return slices.Index(orbench.Labels, l) }
