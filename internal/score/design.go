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
