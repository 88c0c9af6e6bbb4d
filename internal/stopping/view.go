package stopping

import (
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/table"
)

// End is where asking the prompts of a label of a dataset ended.
type End struct {
	dataset.Stopped
	Dataset string
	Label   orbench.Label
	// Asked prompts were asked, of Of, which is 0 where they are all.
	Asked, Of int
}

// Note says in a few sentences where asking ended, and which intervals hold although it
// ended for what they said; empty for no ends.
func Note(ends []End) string {
	var parts []string
	stopped := false
	for _, e := range ends {
		part := "all " + table.Count(e.Asked) + " " + string(e.Label) + " prompts of " + e.Dataset
		if e.Of > 0 {
			stopped = true
			part = table.Count(e.Asked) + " of " + table.Count(e.Of) + part[len("all "+table.Count(e.Asked)):]
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	note := "Asked in random order until the interval of every rate by " + ends[0].Judge + " had a half-width of " + Rule{HalfWidth: ends[0].HalfWidth}.String() + " or less: " + strings.Join(parts, "; ") + "."
	if stopped {
		note += " The intervals of rates where not all were asked are those of confidence sequences, for the rate over all prompts of the label; they hold however often one looks. " +
			"Those by category, of differences and of all else are for a number of prompts that is fixed before, and count no stopping."
	}
	return note
}
