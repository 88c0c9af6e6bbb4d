package score

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/dataset"
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

// MostUnjudged is the greatest share of unjudged answers, and of answers without text, for
// which a rate is still given.
const MostUnjudged = 0.1

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

// Result returns the figures. It leaves out Cost, which does not follow from
// the rows, and the figures of Finish. It returns an error if counts do not add
// up.
func (t *Tally) Result() (Result, error) {
	result, err := t.result()
	if err != nil {
		return Result{}, err
	}
	result.Said = t.saying.datasets
	pairs, err := t.saying.pairs(func(target, judge string, set *dataset.Dataset, label orbench.Label) (prompts int, textless bool) {
		for i := range result.Runs {
			run := &result.Runs[i]
			if j := run.By(judge); run.Target == target && run.Dataset == set.Name && run.DatasetSHA256 == set.SHA256 && run.Label == label {
				return run.N / max(1, run.Samples), j != nil && j.Textless()
			}
		}
		return 0, false
	})
	result.Figures = append(result.Figures, pairs...)
	return result, err
}
