package score

import (
	"cmp"
	"encoding/json"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/model"
)

// askedV1 and stoppedV1 are version 1 of what the name of drawn answers is made of. The
// names stand beside people's labels in stores, so no field, no JSON name and no order here
// may change: labels would no longer be known as drawn. What is added to Asked and changes
// answers needs a version 2, for the targets that have it. Language is always empty now:
// earlier releases also asked prompts in translation.
type askedV1 struct {
	Provider    string   `json:"provider"`
	Endpoint    string   `json:"endpoint,omitempty"`
	Model       string   `json:"model"`
	Revision    string   `json:"revision,omitempty"`
	System      string   `json:"system,omitempty"`
	Temperature *float64 `json:"temperature"`
	MaxTokens   int      `json:"max_tokens"`
	Seed        *int64   `json:"seed,omitempty"`
	Framing     string   `json:"framing,omitempty"`
	Turns       string   `json:"turns,omitempty"`
	Language    string   `json:"language,omitempty"`
	Defense     string   `json:"defense,omitempty"`
	Guard       string   `json:"guard,omitempty"`
}

type stoppedV1 struct {
	HalfWidth float64 `json:"half_width"`
	Interval  string  `json:"interval,omitempty"`
	Judge     string  `json:"judge"`
	Seed      uint64  `json:"seed"`
	Asked     int     `json:"asked"`
	Of        int     `json:"of"`
}

// populationV1 identifies the answers of a target, asked a number of times, to the prompts
// of a dataset up to a limit.
func populationV1(a askedV1, times int, sha256 string, limit int, stopped *dataset.Stopped) string {
	if times == 1 {
		times = 0
	}
	which := []any{a, times, sha256, limit}
	if stopped != nil {
		which = append(which, stoppedV1(*stopped))
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
	a := askedV1{
		Provider: t.Provider, Endpoint: t.Endpoint, Model: t.Model, Revision: t.Revision, System: t.System,
		Temperature: t.Temperature, MaxTokens: t.MaxTokens, Seed: t.Seed,
		Framing: t.Framing, Turns: t.Turns, Defense: t.Defense, Guard: t.Guard,
	}
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
