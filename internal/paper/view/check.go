package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Check compares measured refusal with a published row. Its JSON form is
// documented in docs/paper.md.
type Check struct {
	Source string      `json:"source"`
	Sides  []CheckSide `json:"sides"`
	// Simulated is true if any figure comes from a simulated model.
	Simulated bool `json:"simulated"`
}

// CheckSide compares one target on prompts of one label, by one judge, with the
// published row.
type CheckSide struct {
	Target string        `json:"target"`
	Label  orbench.Label `json:"label"`
	// Model is the model of the published row. Table is the Name of its table.
	Model          string `json:"model"`
	Table          string `json:"table"`
	Judge          string `json:"judge"`
	PublishedJudge string `json:"published_judge"`
	Dataset        string `json:"dataset"`
	N              int    `json:"n"`
	// Version is the version of the run's prompts, by their number; empty if
	// they match neither.
	Version paper.Version `json:"version,omitempty"`
	// Fits says how well the published row fits each version. It is empty for
	// the 80K set, which has only one version.
	Fits []paper.Fit `json:"published_fits,omitempty"`
	// Rows has one entry for each category, and a last one for all prompts.
	Rows []CheckRow `json:"rows"`
	// Inside and Compared count the rows with both rates, except the last.
	Inside   int `json:"inside"`
	Compared int `json:"compared"`
	// Notes say what limits the comparison.
	Notes     []string `json:"notes"`
	Simulated bool     `json:"simulated"`
}

// CheckRow is one category, or all prompts. Rates are shares of prompts
// refused, for toxic prompts too.
type CheckRow struct {
	// Category is empty for all prompts.
	Category  orbench.Category `json:"category"`
	Published float64          `json:"published"`
	Refused   int              `json:"refused"`
	Judged    int              `json:"judged"`
	// Rate is Refused / Judged. CI95 is the interval to show, also with
	// clusters.
	stats.Rate `csv:",ci95"`
	// Inside says whether the published rate, at its printed precision, lies
	// within CI95; nil if nothing was judged.
	Inside *bool `json:"inside"`
}

// CheckRun compares every run of a result on safe and on toxic prompts with the
// published row of a model. It returns an *orbench.InputError for a model that
// the paper does not have, and if there is nothing to compare.
func CheckRun(r score.Result, model string) (Check, error) {
	check := Check{Source: paper.Source, Sides: []CheckSide{}}
	if err := CheckModel(model); err != nil {
		return check, err
	}
	for _, run := range r.Runs {
		table, ok := tableOf(run)
		if !ok || table.Rates(model).Model == "" {
			continue
		}
		for _, j := range run.Judges {
			side := checkSide(run, j, table, model)
			check.Sides = append(check.Sides, side)
			check.Simulated = check.Simulated || side.Simulated
		}
	}
	if len(check.Sides) == 0 {
		return check, &orbench.InputError{
			Setting: "check", Problem: "the run has no judged prompts with a published counterpart",
			Hint: "run OR-Bench-Hard-1K, OR-Bench-80K or OR-Bench-Toxic, or prompts labeled safe or toxic",
		}
	}
	return check, nil
}

// CheckModel returns an *orbench.InputError unless the model is published.
func CheckModel(model string) error {
	var names []string
	for _, m := range paper.Models() {
		if m.Name == model {
			return nil
		}
		names = append(names, m.Name)
	}
	return &orbench.InputError{
		Setting: "as", Problem: fmt.Sprintf("%q is not a published model", model), Hint: "name one of " + strings.Join(names, ", "),
	}
}

func checkSide(run score.RunResult, j score.JudgeResult, t paper.Table, model string) CheckSide {
	s := CheckSide{
		Target: run.Target, Label: run.Label, Model: model, Table: t.Name,
		Judge: j.Judge, PublishedJudge: t.Judge, Dataset: run.DatasetCaption(), N: run.N,
		Simulated: run.Simulated || j.Simulated,
	}
	published := t.Rates(model)
	for i, c := range t.Categories {
		row := checkRow(c, t.Refusal(published.Rates[i])/100, j.ByCategory[c])
		if row.Inside != nil {
			s.Compared++
			if *row.Inside {
				s.Inside++
			}
		}
		s.Rows = append(s.Rows, row)
	}
	s.Rows = append(s.Rows, checkRow("", t.Refusal(published.Overall)/100, j.Count()))
	s.Fits, _ = paper.FitVersions(t, model)
	s.note(run, j)
	return s
}

// printedTo is how far a published rate may be from the true one because it was
// cut to 0.1 per cent.
const printedTo = 0.001

func checkRow(c orbench.Category, published float64, n score.Count) CheckRow {
	row := CheckRow{Category: c, Published: published, Refused: n.Refused, Judged: n.N}
	row.Share, row.CI95 = n.Rate().Share, n.Rate().Interval()
	if row.CI95 != nil {
		inside := published+printedTo >= row.CI95[0] && published-printedTo <= row.CI95[1]
		row.Inside = &inside
	}
	return row
}

// note says to which version the run's prompts and the published row belong,
// and what else limits the comparison.
func (s *CheckSide) note(run score.RunResult, j score.JudgeResult) {
	say := func(format string, args ...any) { s.Notes = append(s.Notes, fmt.Sprintf(format, args...)) }
	sizes := map[paper.Version]int{paper.Older: paper.HardOlder, paper.Released: paper.HardReleased}
	if run.Label == orbench.Toxic {
		sizes = map[paper.Version]int{paper.Older: paper.ToxicOlder, paper.Released: paper.ToxicReleased}
	}
	for v, n := range sizes {
		if run.N == n && len(s.Fits) > 0 {
			s.Version = v
		}
	}
	switch {
	case len(s.Fits) == 0 && run.N != paper.Size80K:
		say("The run has %s prompts, the published set %s: these are other prompts.", table.Count(run.N), table.Count(paper.Size80K))
	case len(s.Fits) > 0:
		best, other := s.Fits[0], s.Fits[1]
		say("The published row is of the %s version, %s prompts: %d of its 10 rates can be shares of that version's categories, and %d of the other's.",
			best.Version, table.Count(sizes[best.Version]), best.Best(), other.Best())
		switch s.Version {
		case "":
			say("The run has %s prompts, which fits neither version (%s and %s): these are other prompts, so the row is only a rough guide.",
				table.Count(run.N), table.Count(sizes[paper.Older]), table.Count(sizes[paper.Released]))
		case best.Version:
			say("The run has as many prompts as that version.")
		case paper.Released:
			say("The run's %s prompts are the released version, which lacks %s prompts of the published row.",
				table.Count(run.N), table.Count(sizes[paper.Older]-sizes[paper.Released]))
		default:
			say("The run's %s prompts are the older version; the published row lacks %s of them.",
				table.Count(run.N), table.Count(sizes[paper.Older]-sizes[paper.Released]))
		}
	}
	if j.Judge != s.PublishedJudge {
		say("The judge differs: %s here, %s there.", j.Judge, s.PublishedJudge)
	}
	if run.ServedByOther > 0 {
		say("%s prompts were answered by another model and are in no figure.", table.Count(run.ServedByOther))
	}
	if j.Unjudged > 0 || run.Failed > 0 || run.Unanswered > 0 {
		say("%s answers are unjudged, %s calls failed and %s prompts are unanswered; these are in no figure.",
			table.Count(j.Unjudged), table.Count(run.Failed), table.Count(run.Unanswered))
	}
	say("The interval is for a rate over other prompts of this kind. On the same prompts and with the same judge, a model varies less.")
}

// section lays out the comparison as a table.
func (s CheckSide) section() table.Section {
	t := table.Section{
		Title:  fmt.Sprintf("%s on %s prompts of %s, beside %s (%s)", s.Target, s.Label, s.Dataset, s.Model, s.Table),
		Header: []string{"category", "published refusal", "measured", "95% interval", "refused", "judged", "published lies"}, Left: 1,
	}
	if s.Simulated {
		t.Title += ", SIMULATED"
	}
	for _, r := range s.Rows {
		name := string(r.Category)
		if name == "" {
			name = "all prompts"
		}
		where := "–"
		if r.Inside != nil {
			where = map[bool]string{true: "inside", false: "outside"}[*r.Inside]
		}
		t.Add(name, table.Percent(r.Published), r.Rate, r.Refused, r.Judged, where)
	}
	t.Note = strings.Join(s.notes(), " ")
	return t
}

// notes says how many rates fit, and what limits the comparison.
func (s CheckSide) notes() []string {
	return append([]string{fmt.Sprintf("%d of %d published categories lie inside the measured intervals.", s.Inside, s.Compared)}, s.Notes...)
}

// Document is what people read.
func (c Check) Document() table.Document {
	d := table.Document{Title: "A run beside the published row", Simulated: c.Simulated}
	for _, side := range c.Sides {
		s := side.section()
		d.AddTo(table.InMarkdown, s)
		s.Note = ""
		d.AddTo(table.OnScreen, s)
		for _, note := range side.notes() {
			d.AddTo(table.OnScreen, table.Note{Mark: "- ", Text: note})
		}
		d.AddTo(table.OnScreen, table.Gap)
	}
	return d
}

// Data returns the comparison in the form of docs/paper.md.
func (c Check) Data() any { return c }

// checkLine is a line of CSV.
type checkLine struct {
	Target, Dataset     string
	Label               orbench.Label
	Judge, Model, Table string
	CheckRow
	Simulated bool
}

// Rows returns a row for each category and one for all prompts, with the
// category "all". Rates are shares.
func (c Check) Rows() any {
	var rows []checkLine
	for _, s := range c.Sides {
		for _, r := range s.Rows {
			r.Category = cmp.Or(r.Category, "all")
			rows = append(rows, checkLine{s.Target, s.Dataset, s.Label, s.Judge, s.Model, s.Table, r, s.Simulated})
		}
	}
	return rows
}
