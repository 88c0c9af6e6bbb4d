package dataset

import "fmt"

// Reading is what every figure has to say about how its prompts came out of their
// file. The zero value is the usual way, which needs no words.
type Reading struct {
	// LabelAssumed is true where nobody says what the prompts are: a file without a
	// column of labels whose label nobody gave. All count as safe.
	LabelAssumed bool `json:"label_assumed,omitempty"`
	// Sample says that the prompts are a random draw, nil for all.
	Sample *Sample `json:"sample,omitempty"`
}

// Note is the reading in a few words behind the dataset's name, such as ", label
// assumed"; empty for the usual way.
func (r Reading) Note() string {
	var note string
	if s := r.Sample; s != nil {
		note = fmt.Sprintf(", %d of %d drawn (seed %d)", s.Size, s.Of, s.Seed)
	}
	if r.LabelAssumed {
		note += ", label assumed"
	}
	return note
}
