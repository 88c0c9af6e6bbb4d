package dataset

import (
	"fmt"
	"iter"
	"math"

	"github.com/orbench/orbench"
)

// itemsOf streams what the rows of an opened file are, and closes it. err says why it is not
// open.
func itemsOf(in *input, err error) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		var item orbench.Prompt
		if err != nil {
			yield(item, err)
			return
		}
		defer in.Close()
		for r, err := range in.All {
			if err == nil {
				item, err = in.item(r)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// Reading is what every figure must state about how its prompts were read. The zero value
// is the usual way and needs no note.
type Reading struct {
	// LabelAssumed is true if no label is known: the file has no label column and the
	// user gave no label. All prompts count as safe.
	LabelAssumed bool `json:"label_assumed,omitempty"`
	// Unlabeled is true if the labels of the prompts, if there are any, were passed over.
	Unlabeled bool `json:"unlabeled,omitempty"`
	// PassedOver is the column of labels that was not read; empty for none.
	PassedOver string `json:"passed_over,omitempty"`
	// Sample says that the prompts are a random sample, nil for all.
	Sample *Sample `json:"sample,omitempty"`
	// Stopped says that asking ended by itself before all prompts were asked, nil if all
	// were.
	Stopped *Stopped `json:"until,omitempty"`
	// Forgotten counts the recorded answers that were taken out of the store.
	Forgotten int `json:"forgotten,omitempty"`
}

// Note is the reading in a few words after the dataset's name, such as ", label assumed".
// It is empty for the usual way.
func (r Reading) Note() (note string) {
	if s := r.Sample; s != nil {
		note = fmt.Sprintf(", %d of %d drawn (seed %d)", s.Size, s.Of, s.Seed)
	}
	if s := r.Stopped; s != nil {
		note += fmt.Sprintf(", %d of %d asked until %gpp (seed %d)", s.Asked, s.Of, math.Round(1e4*s.HalfWidth)/100, s.Seed)
	}
	if r.Forgotten > 0 {
		note += fmt.Sprintf(", without %d forgotten", r.Forgotten)
	}
	if r.LabelAssumed {
		note += ", label assumed"
	}
	return note
}
