package contrast

import (
	"context"
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
)

// View is the report of the study.
func (r *Run) View(ctx context.Context, m store.Reader) (table.View, error) {
	return r.Derive(ctx, m, nil)
}

// Document is the report for people.
func (r *Result) Document() table.Document {
	d := table.Document{Title: "Contrast set", Simulated: r.Simulated}
	limited := ""
	if r.Limit > 0 {
		limited = fmt.Sprintf(", the first %d", r.Limit)
	}
	d.Basis(fmt.Sprintf("%s prompts of %s@%s%s, wordings of each value: %d; written by %s, labeled by %s under the policy %s; rule: %s.",
		table.Count(r.Sources), r.Dataset, table.ShortHash(r.SHA256), limited+r.Note(), r.Each, r.Generator, strings.Join(r.Moderators, ", "), r.Policy, r.Rule))
	d.Sections(r.sections()...)
	return d
}

// Data is the counts in their documented form.
func (r *Result) Data() any { return r }

// row is a line of CSV.
type row struct {
	Value
	VotedToxicCI95Clustered *[2]float64
	Simulated               bool
}

// Rows has a row for each value on an axis.
func (r *Result) Rows() any {
	var rows []row
	for _, v := range r.Values {
		rows = append(rows, row{v, v.VotedToxic.CI95Clustered, r.Simulated})
	}
	return rows
}

// sections are the tables: the outcomes of the wordings, and their labels.
func (r *Result) sections() []table.Section {
	made := table.Section{
		Title:  "What was written, and what was kept",
		Header: []string{"axis", "value", "prompts", "no list", "failed", "written", "too many", "rule broken", "duplicate", "unvoted", "kept"}, Left: 2,
	}
	labels := table.Section{
		Title: "Moderators' labels of the wordings that were kept",
		Note:  "The difference in the shares voted toxic shows what the axis does to the moderators.",
		Header: []string{
			"axis", "value", "kept", "safe", "toxic", "controversial", "undecided", "voted toxic", "95% interval", "as meant", "its interval",
		},
		Left: 2,
	}
	for _, v := range r.Values {
		made.Add(v.Axis, v.Value, v.Sources, v.Unreadable, v.Failed, v.Items, v.Surplus, v.BrokenRule, v.Duplicates, v.Unvoted, v.Kept)
		meant := []string{table.None, table.None}
		if v.AsMeant != nil {
			meant = table.Cells(*v.AsMeant)
			labels.Note = "As meant: voted safe or toxic as requested, or for a borderline wording, not the same by all. On other axes the moderators decide, and the difference in the shares voted toxic shows what the axis does to them."
		}
		labels.Add(v.Axis, v.Value, v.Kept, v.Labels[orbench.Safe], v.Labels[orbench.Toxic], v.Labels[orbench.Controversial], v.Labels[orbench.Undecided], v.VotedToxic, meant)
	}
	nothing := func(row []string, at int) bool { return row[at] == "0" || row[at] == "–" }
	made.Drop(nothing, "no list", "failed", "too many", "unvoted")
	labels.Drop(nothing, "controversial", "undecided", "as meant", "its interval")
	return []table.Section{made, labels}
}
