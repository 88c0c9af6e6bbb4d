package moderation

import (
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/table"
)

// Cells are a row of a file of prompts with their labels under each policy; see Columns.
func (row PromptVotes) Cells() []string {
	cells := []string{string(row.Prompt.ID), row.Prompt.Transcript(), string(row.Prompt.Category), strconv.FormatBool(row.changes())}
	if row.Prompt.Label != "" {
		cells = slices.Insert(cells, 3, string(row.Prompt.Label))
	}
	for i, d := range row.Decisions {
		votes := table.RowsOf(row.Votes[i], func(v moderate.Vote) string { return string(v.Label) })
		cells = append(cells, string(d.Label), string(d.Category), strings.Join(votes, " "))
	}
	return cells
}

// changes reports whether the policies, or the only policy and the dataset, give
// different labels.
func (row PromptVotes) changes() bool {
	first := row.Prompt.Label
	if len(row.Decisions) > 1 || first == "" {
		first = row.Decisions[0].Label
	}
	return slices.ContainsFunc(row.Decisions, func(d moderate.Decision) bool { return d.Label != first })
}

// Columns are those of Cells: id, prompt, category and label from the dataset, changes, which is
// true if the label differs between the policies or, with a single policy, from the dataset's own,
// and label:NAME, category:NAME and votes:NAME for each policy; the votes are in the order of the
// moderators. A file of them is again a dataset, with the dataset's own labels; without any, it has
// no column label. A conversation is one text.
func (r *Run) Columns() []string {
	header := []string{"id", "prompt", "category", "label", "changes"}
	if r.Dataset.LabelAssumed {
		header = slices.Delete(header, 3, 4)
	}
	for _, p := range r.Policies {
		header = append(header, "label:"+p.Name, "category:"+p.Name, "votes:"+p.Name)
	}
	return header
}
