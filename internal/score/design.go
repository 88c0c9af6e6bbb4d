package score

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/judge"
)

// SimProvider is the provider of simulated models. Every figure that rests on
// one says so.
const SimProvider = "sim"

// Design is what was measured: every target answers every prompt of every
// dataset, and every judge judges every answer.
type Design struct {
	Targets  []Target
	Datasets []*dataset.Dataset
	// Limit bounds the prompts of each dataset, from its start; 0 takes all.
	Limit  int
	Judges []judge.Judge
	// MostUnjudged is the greatest share of unjudged answers with which a rate is
	// given; 0 means a tenth, 1 that every rate is.
	MostUnjudged float64
	// Words are what people say of answers, the zero value where nobody does.
	Words annotation.Words
}

// Target is a model under measurement as its figures name it.
type Target struct {
	Name string
	// Base is the Name of the target of which this one is a variant, empty for
	// one that is none.
	Base string
	// Samples is how often each prompt is asked; 0 is once. Asked.Sample is the
	// number of the first answer.
	Samples int
	Asked
}

// simulated reports whether the target is a simulated model.
func (t *Target) simulated() bool { return t.Provider == SimProvider }

// mostUnjudged is MostUnjudged with its default.
func (d *Design) mostUnjudged() float64 {
	const usual = 0.1
	if d.MostUnjudged == 0 {
		return usual
	}
	return d.MostUnjudged
}

// Size is the number of a dataset's prompts, after Limit.
func (d *Design) Size(set *dataset.Dataset) int {
	if d.Limit > 0 {
		return min(d.Limit, set.Count)
	}
	return set.Count
}

// Simulated reports whether any target or judge is simulated.
func (d *Design) Simulated() bool {
	for i := range d.Targets {
		if d.Targets[i].simulated() {
			return true
		}
	}
	for _, j := range d.Judges {
		if simulatedJudge(j) {
			return true
		}
	}
	return false
}

func simulatedJudge(j judge.Judge) bool {
	asking, ok := j.(judge.ModelJudge)
	if !ok {
		return false
	}
	for _, m := range asking.Models() {
		if m.Provider == SimProvider {
			return true
		}
	}
	return false
}

// Piece is the rows of all targets on some prompts of one dataset.
type Piece struct {
	// Dataset is an index of Design.Datasets.
	Dataset int
	Prompts []orbench.Prompt
	// Rows are by target, then sample, then prompt.
	Rows [][][]Row
}

// Tally counts the rows of a design into its figures. It grows with targets,
// datasets, labels and categories, and not with prompts.
type Tally struct {
	runs     *tally
	sampling *sampling
	changing *changing
}

// NewTally counts for a design. promptRate takes what targets that are asked
// several times do with each prompt; nil for nobody.
func NewTally(d Design, promptRate func(PromptRate) error) *Tally {
	return &Tally{newTally(&d), newSampling(&d, promptRate), newChanging(&d)}
}

// Add counts the rows of a piece. Its error is that of whom the rates of prompts
// are for.
func (t *Tally) Add(p Piece) error {
	if err := t.sampling.add(p); err != nil {
		return err
	}
	t.changing.add(p)
	for i, rows := range slices.Concat(p.Rows...) {
		for k := range rows {
			t.runs.add(i, p.Dataset, &rows[k])
		}
	}
	return nil
}

// Result gives the figures, without Cost, which is no property of the rows, and
// without those of Finish. Its error says that counts do not add up.
func (t *Tally) Result() (Result, error) {
	result, err := t.runs.result()
	if err != nil {
		return Result{}, err
	}
	result.PromptRates, result.Changes = t.sampling.result(), t.changing.result()
	return result, nil
}

// labelIndex gives the index of a label in orbench.Labels, or -1.
func labelIndex(l orbench.Label) int {
	for i, known := range orbench.Labels {
		if l == known {
			return i
		}
	}
	return -1
}
