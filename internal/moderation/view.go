package moderation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// View is the report of the study.
func (r *Run) View(ctx context.Context, m store.Reader) (table.View, error) {
	return r.Derive(ctx, m, nil)
}

// Document is the report for people. A brief screen shows the labels, the votes and a prompt on
// which the moderators disagree.
func (r *Result) Document() table.Document {
	d := table.Document{Title: "Moderation", Simulated: r.Simulated}
	d.Sections(r.labels(), r.voting())
	for _, c := range r.Changes {
		d.AddTo(table.OnBrief, table.Line(c.line(r.Prompts)+"."))
	}
	d.AddTo(table.OnBrief, table.Gap)
	if i := slices.IndexFunc(r.Policies, func(p PolicyResult) bool { return p.Example != nil }); i >= 0 {
		var votes []string
		e := r.Policies[i].Example
		for k, v := range e.Votes[i] {
			votes = append(votes, r.Moderators[k]+" "+string(v.Label))
		}
		d.AddTo(table.OnBrief, table.Line("They differ, under "+r.Policies[i].Policy+":"), table.Quote("  ", e.Prompt.Text()),
			table.Note{Mark: "  → ", Text: string(e.Decisions[i].Label) + ": " + strings.Join(votes, ", ")}, table.Gap)
	}
	if r.LeftOut > 0 {
		d.Add(table.Warning(table.Count(r.LeftOut) + " more are in no figure, because a vote is missing: its call was not made, or failed."))
	}
	d.Details(table.RowsOf(r.Policies, PolicyResult.categories)...)
	d.Details(table.RowsOf(r.Changes, func(c Change) table.Section { return c.section(r.Prompts) })...)
	if r.Clusters > 0 {
		d.Add(table.Line(fmt.Sprintf("Intervals are clustered by %s (%s clusters), because prompts of one cluster are not independent.", r.ClusteredBy, table.Count(r.Clusters))))
	}
	if changed := slices.Max(append(table.RowsOf(r.Changes, func(c Change) int { return c.Changed }), 0)); changed > 0 {
		d.AddTo(table.OnBrief, table.Line("Next: people read the prompts whose label changes. The option out of orbench moderate writes them to a file without a call: "+table.Labels(changed)+"."))
	}
	return d
}

// Data is the result in its documented form.
func (r *Result) Data() any { return r }

// row is a line of CSV.
type row struct {
	Scope, Policy, ToPolicy string
	Label, ToLabel          orbench.Label
	Category                orbench.Category
	N, Of                   int
	Rate                    stats.Rate
	RateCI95Clustered       *[2]float64
	Kappa                   *float64
	KappaCI95               *[2]float64
	KappaCI95Clustered      *[2]float64
	Simulated               bool
}

// Rows has a row for each label of the dataset and of each policy (scope "label"), for
// each category of toxic prompts (scope "category"), for each change from one policy to
// another (scope "changed"), and for each cell of its table (scope "transition"). Shares
// are from 0 to 1.
func (r *Result) Rows() any {
	var rows []row
	add := func(x row) {
		x.Of, x.Simulated = r.Prompts, r.Simulated
		rows = append(rows, x)
	}
	for _, p := range append([]PolicyResult{{Policy: Own, Labels: r.Own}}, r.Policies...) {
		for _, c := range slices.Concat(p.Labels, p.Categories) {
			scope := "label"
			if c.Category != "" {
				scope = "category"
			}
			add(row{Scope: scope, Policy: p.Policy, Label: c.Label, Category: c.Category, N: c.N, Rate: c.Rate, RateCI95Clustered: c.CI95Clustered})
		}
	}
	for _, c := range r.Changes {
		add(row{
			Scope: "changed", Policy: c.From, ToPolicy: c.To, N: c.Changed, Rate: c.Rate, RateCI95Clustered: c.CI95Clustered,
			Kappa: c.Value, KappaCI95: c.KappaCI95, KappaCI95Clustered: c.KappaCI95Clustered,
		})
		for i, line := range c.Table {
			for j, n := range line {
				add(row{Scope: "transition", Policy: c.From, ToPolicy: c.To, Label: orbench.Labels[i], ToLabel: orbench.Labels[j], N: n})
			}
		}
	}
	return rows
}

// basis describes the data behind the figures.
func (r *Result) basis() string {
	of := r.Dataset + "@" + table.ShortHash(r.SHA256)
	if r.Limit > 0 {
		of += fmt.Sprintf(", the first %d", r.Limit)
	}
	note := strings.Replace(r.Note(), "label assumed", "without labels of its own", 1) // nothing here assumes one
	return fmt.Sprintf("%s prompts of %s, voted on by %s; rule: %s", table.Count(r.Prompts), of+note, strings.Join(r.Moderators, ", "), r.Rule)
}

// labels is the table of labels by policy. A label that nobody gives has no rows.
func (r *Result) labels() table.Section {
	s := table.Section{Title: r.basis(), Header: []string{"policy", "label", "prompts", "share", "95% interval", "in the dataset"}, Left: 2}
	for _, p := range r.Policies {
		for i, c := range p.Labels {
			own, given := table.None, false
			if len(r.Own) > 0 {
				own, given = table.Count(r.Own[i].N), r.Own[i].N > 0
			}
			if given || slices.ContainsFunc(r.Policies, func(p PolicyResult) bool { return p.Labels[i].N > 0 }) {
				s.Add(p.Policy, c.Label, c.N, c.Rate, own)
			}
		}
	}
	return s
}

// voting is the table of the moderators' votes.
func (r *Result) voting() table.Section {
	s := table.Section{Title: "Votes by policy", Header: []string{"policy", "votes", "abstentions", "all agree on", "Fleiss' κ"}, Left: 1}
	for _, p := range r.Policies {
		s.Add(p.Policy, p.Votes, p.Abstentions, r.Prompts-p.Split, table.Kappa(p.Agreement.Fleiss))
	}
	return s
}

// categories is the table of toxic prompts by category.
func (p PolicyResult) categories() table.Section {
	s := table.Section{Title: "Toxic prompts by category, under " + p.Policy, Header: []string{"category", "prompts"}, Left: 1}
	for _, c := range p.Categories {
		s.Add(c.Category, c.N)
	}
	return s
}

// line describes the change in one line.
func (c Change) line(prompts int) string {
	return fmt.Sprintf("%s to %s: %s of %s prompts change their label, %s (%s); %s to toxic, %s to safe, %s to neither; Cohen's κ %s (%s)", c.From, c.To,
		table.Count(c.Changed), table.Count(prompts), table.Rate(c.Rate), table.Interval(c.Interval()),
		table.Count(c.ToToxic), table.Count(c.ToSafe), table.Count(c.Changed-c.ToToxic-c.ToSafe), table.Kappa(c.Value), table.KappaInterval(c.Kappa))
}

// section is the table of transitions.
func (c Change) section(prompts int) table.Section {
	s := table.Section{
		Title:  "Labels that change: " + c.line(prompts),
		Note:   fmt.Sprintf("Rows are labels under %s, columns those under %s.", c.From, c.To),
		Header: table.Cells("label", table.RowsOf(orbench.Labels, func(l orbench.Label) string { return string(l) })), Left: 1,
	}
	for i, line := range c.Table {
		s.Add(orbench.Labels[i], table.RowsOf(line, table.Count))
	}
	return s
}
