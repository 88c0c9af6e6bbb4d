package moderation

import (
	"io"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/sheet"
	"github.com/orbench/orbench/moderate"
)

// Rows gathers rows of prompts with their labels under each policy, for a file.
type Rows struct {
	run *Run
	// changed takes only rows whose label changes.
	changed bool
	rows    [][]string
}

// NewRows makes a gatherer of all rows, or of those whose label is not the same under
// all policies; of a single policy, not the dataset's own.
func NewRows(r *Run, changed bool) *Rows { return &Rows{run: r, changed: changed} }

// Add takes a row; one with a missing vote is left out.
func (s *Rows) Add(row PromptVotes) {
	if row.Missing > 0 || s.changed && !row.changes() {
		return
	}
	cells := []string{string(row.Prompt.ID), row.Prompt.Transcript(), string(row.Prompt.Category), string(row.Prompt.Label)}
	for i, d := range row.Decisions {
		var votes []string
		for _, v := range row.Votes[i] {
			votes = append(votes, string(v.Label))
		}
		cells = append(cells, string(d.Label), string(d.Category), strings.Join(votes, " "))
	}
	s.rows = append(s.rows, cells)
}

// changes reports whether the policies, or one and the dataset, differ on the label.
func (row PromptVotes) changes() bool {
	first := row.Prompt.Label
	if len(row.Decisions) > 1 {
		first = row.Decisions[0].Label
	}
	return slices.ContainsFunc(row.Decisions, func(d moderate.Decision) bool { return d.Label != first })
}

// Write writes the rows as JSON Lines or else as CSV: id, prompt, category and label
// as the dataset has them, and for each policy label:NAME, category:NAME and
// votes:NAME, the votes in the order of the moderators. The file is a dataset again,
// with the dataset's own labels, though a conversation stands in it as one text.
func (s *Rows) Write(w io.Writer, jsonLines bool) error {
	header := []string{"id", "prompt", "category", "label"}
	for _, p := range s.run.Policies {
		header = append(header, "label:"+p.Name, "category:"+p.Name, "votes:"+p.Name)
	}
	return sheet.Write(w, jsonLines, header, s.rows)
}

// Len is the number of rows.
func (s *Rows) Len() int { return len(s.rows) }
