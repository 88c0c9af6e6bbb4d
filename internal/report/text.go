package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// View shows a result.
type View struct {
	score.Result
	// Table is the name of the only table that is shown; empty for a report.
	Table string
	// OfJudges is true for a reader who asks about the judges: the rates of each come first, and
	// the answers on which they differ.
	OfJudges bool
	// Beside is true if the judges stand side by side in the cells of the first table.
	Beside bool
}

// tables are the tables of a report: those that have the name that was asked for, or all.
func (v View) tables() []laidOut {
	all := append([]laidOut{matrix(v.Result, false, v.Beside)}, tablesOf(v.Result)...)
	return slices.DeleteFunc(all, func(t laidOut) bool { return len(t.Rows) == 0 || v.Table != "" && t.name != v.Table })
}

// Check says which tables the result has if it lacks the one that was asked for.
func (v View) Check() error {
	if v.Table == "" || len(v.tables()) > 0 {
		return nil
	}
	var has table.Names
	for _, t := range (View{Result: v.Result}).tables() {
		has.Add(t.name)
	}
	return &orbench.InputError{Setting: "table", Problem: "there are no figures for the table " + v.Table, Hint: "there are " + strings.Join(has, ", ")}
}

// Document returns what people read. It has one line for each label, target,
// dataset and judge with its counts, rate and 95% interval; then the refusals
// by category, where the judges disagree, warnings and the cost. On a brief
// screen one line per target replaces the tables.
func (v View) Document() table.Document {
	r := v.Result
	d := table.Document{Title: "orbench report", Simulated: r.Simulated}
	sections, warnings := table.RowsOf(v.tables(), func(t laidOut) table.Section { return t.Section }), warningsOf(r)
	if v.Table != "" {
		d.Sections(sections...)
		for _, w := range warnings {
			d.Add(table.Warning(w.Text))
		}
		return d
	}
	var first []table.Section
	if len(sections) > 0 && len(r.Runs) > 0 {
		first, sections = sections[:1], sections[1:]
	}
	d.Paper = first
	for _, w := range warnings {
		if w.Code == contradicted {
			d.Add(table.Warning(w.Text))
		}
	}
	d.AddTo(table.OnBrief|table.OnFull, table.Line(agesOf(r, time.Local)))
	d.AddTo(table.InMarkdown, table.Line(agesOf(r, time.UTC)))
	for _, line := range judgeErrorLines(r) {
		d.AddTo(table.OnFull|table.InMarkdown, table.Paragraph(line))
		d.AddTo(table.OnFull, table.Gap)
	}
	if s := provenance.Section(r.SettingsThatDiffer); len(s.Rows) > 0 {
		d.Sections(s)
	}
	nothing := !slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return run.Answered+run.Blocked > 0 })
	switch {
	case nothing && len(r.Runs) > 0:
		// Empty tables would only hide why there are no figures.
		d.AddTo(table.OnBrief, table.Warning(accountLine(r)))
		for _, s := range sections {
			d.AddTo(table.OnFull|table.InMarkdown, s)
		}
	case len(r.Runs) > 0:
		firstScreen(&d, v)
		for _, s := range first {
			d.AddTo(table.OnFull|table.InMarkdown, s)
		}
		fallthrough
	default:
		d.Details(sections...)
	}
	d.AddTo(table.OnBrief, table.Line(unableLine(r)))
	d.AddTo(table.OnFull|table.InMarkdown, table.Line(accountLine(r)))
	d.AddTo(table.OnFull, table.Line(versionLine(r)))
	d.Add(table.Line(intervalNote(r)))
	for _, w := range warnings {
		if w.Code != contradicted && !(nothing && w.Code == noRate) {
			d.Add(table.Warning(w.Text))
		}
	}
	spent := r.Provenance.Spent()
	d.AddTo(table.OnFull, table.Line(costLine(r, false)), table.Line(spent))
	if r.Cost.Calls+r.Cost.FromMemo > 0 || spent == "" {
		d.AddTo(table.OnBrief, table.Line(costLine(r, true)))
	}
	// If one command asked and paid for everything, the cost is printed once.
	if !nothing && !r.Provenance.OfReplies(r.Cost.Calls) {
		d.AddTo(table.OnBrief, table.Line(spent))
	}
	d.AddTo(table.InMarkdown, table.Raw(untrusted.Markdown(cmp.Or(spent, costLine(r, false)))+"\n"))
	for _, s := range r.Provenance.Sections() {
		d.AddTo(table.InMarkdown, table.Gap, s)
	}
	return d
}

// costLine says in one line what a command spent. An unknown price is reported as unknown,
// never as a sum. In brief it leaves out tokens; if every call failed, it then says what the
// calls may have cost, or nothing.
func costLine(r score.Result, brief bool) string {
	c := r.Cost
	failed, tokens := table.FailedCost(c.FailedAttempts, 0, c.FailedUSD), ""
	switch {
	case c.Calls == 0 && c.FromMemo == 0:
		// A stored run is shown again; no call was needed.
		return "Cost: no new calls."
	case c.Calls == 0:
		return "Cost: no new calls; " + table.Count(c.FromMemo) + " were already answered."
	case !brief:
		tokens = table.Count(c.InputTokens) + " input and " + table.Count(c.OutputTokens) + " output tokens; "
	case c.FromMemo+c.InputTokens+c.OutputTokens > 0:
	case failed == "":
		return ""
	default:
		return "Cost:" + strings.TrimPrefix(failed, ", and") + "."
	}
	return "Cost: " + table.Counted(c.Calls, "call", "calls") + ", " + table.Count(c.FromMemo) + " already answered; " + tokens + table.Price(c.USD, c.Unpriced) + failed + "."
}

// agesOf says when the answers were made, in the time of a place; empty without answers.
func agesOf(r score.Result, in *time.Location) string {
	n := 0
	for _, run := range r.Runs {
		n += run.Answered + run.Blocked
	}
	if n == 0 {
		return ""
	}
	return r.Provenance.Ages(table.Counted(n, "answer", "answers"), in)
}
