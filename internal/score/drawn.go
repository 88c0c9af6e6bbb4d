package score

import (
	"cmp"
	"encoding/json"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/model"
)

// populationV1 identifies the answers of a target, asked a number of times, to the prompts of a
// dataset up to a limit, by the JSON of Asked and of dataset.Stopped. The names stand beside
// people's labels in stores, so no name and no order of their fields may change, and a new one
// is left out where it is empty: labels would no longer be known as drawn.
func populationV1(a Asked, times int, sha256 string, limit int, stopped *dataset.Stopped) string {
	if times == 1 {
		times = 0
	}
	which := []any{a, times, sha256, limit}
	if stopped != nil {
		which = append(which, stopped)
	}
	b, err := json.Marshal(which)
	if err != nil {
		panic(err) // every field can be encoded
	}
	return model.HashCanonical(b).String()[:8]
}

// answersOf names the answers of a target to the prompts of a label. The name
// includes everything that changes which answers there are, so a drawing is
// never used for other answers.
func answersOf(t *Target, set *dataset.Dataset, limit int, label orbench.Label) annotation.Cell {
	a := t.Asked
	a.Sample = 0 // one population has all samples
	return annotation.Cell{
		Target: cmp.Or(t.LabelName, t.Name), Dataset: set.Name, Label: label,
		Population: populationV1(a, t.Times, set.SHA256, limit, set.Stopped),
	}
}

// Cells are those of all answers, by target, dataset and label.
func (d Design) Cells() (all []annotation.Cell) {
	for i := range d.Targets {
		for _, set := range d.Datasets {
			for _, label := range orbench.Labels {
				all = append(all, answersOf(&d.Targets[i], set, d.Limit, label))
			}
		}
	}
	return all
}
