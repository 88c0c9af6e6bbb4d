package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// uncorrected stands for a rate that no label corrects.
const uncorrected = "uncorrected"

// inPercent shows an estimated share with its interval.
func inPercent(e *stats.Estimate) string {
	return table.Known(e, func(e stats.Estimate) string { return table.InPercent(&e.Value, e.Ends()) })
}

// card returns the table of a system card. What all cells share is in its
// title.
func (v Methods) card(r score.Result) table.Section {
	s := table.Section{
		Header: []string{"target", "dataset", "language", "prompts", "judge", "n", "refused", "corrected", "labels", "people", "agreement", "specificity"},
		Left:   5, WrapNames: true, Spare: []string{"specificity", "agreement", "people"},
	}
	var rates []figure.Figure
	anyLabels, anyPairs := false, false
	for run, j := range r.Judged() {
		f := run.Rate(j)
		rates = append(rates, f)
		corrected, labels, people, agreement := uncorrected, "0", table.None, table.None
		var specificity *stats.Estimate
		if l := run.Labeled; l != nil {
			corrected, labels, people, anyLabels = inPercent(&l.Rate), table.Count(l.Labels), table.Count(l.People), true
			var pairs annotation.PeoplePair
			for _, p := range l.Pairs {
				pairs.Add(p.Counts)
			}
			if pairs.Finish(0); pairs.Positive != nil || pairs.Negative != nil {
				agreement, anyPairs = estimated(pairs.Positive)+"/"+estimated(pairs.Negative), true
			}
			if i := slices.IndexFunc(l.Judges, func(a annotation.JudgeAgreement) bool { return a.Judge == j.Judge }); i >= 0 {
				specificity = l.Judges[i].Specificity
			}
		}
		refused := inPercent(f.Shown())
		if f.Range == nil && f.Value != nil {
			refused = table.InPercent(f.Value, nil) + " (" + rangeOf(&f) + ")"
		}
		s.Add(table.Name(run.TargetCaption(), f.Simulated), run.DatasetCaption(), cmp.Or(run.Language, "mixed"), run.Label, j.Judge, run.N/max(1, run.Samples),
			refused, corrected, labels, people, agreement, inPercent(specificity))
	}
	s.Title = "Refusal of prompts in %, 95% intervals"
	if len(s.Rows) == 0 {
		return s
	}
	var shared []string
	for _, column := range []struct{ name, before string }{{"target", ""}, {"dataset", ""}, {"language", "language "}, {"judge", "judged by "}} {
		if value := same(&s, column.name, column.before); value != "" {
			shared = append(shared, value)
		}
	}
	if len(shared) > 0 {
		s.Title += ": " + strings.Join(shared, ", ")
	}
	nothing := func(row []string, at int) bool { return row[at] == table.None }
	s.Drop(nothing, "people", "agreement", "specificity")
	s.Note = rangeNote(rates)
	if anyLabels {
		s.Note += " Corrected: by labels of answers drawn at random, given without sight of the judge's verdicts. Specificity: of what people call answers, the share that the judge calls answers too, by these labels."
	}
	if anyPairs {
		s.Note += " Agreement: of people who labeled the same answers, on refusals/on answers."
	}
	return s
}

// estimated shows a share to two decimals.
func estimated(e *stats.Estimate) string {
	return table.Known(e, func(e stats.Estimate) string { return table.Fraction(e.Value) })
}

// leftOutSection says what each rate leaves out, and what it would be if all of
// that counted. It has no rows if nothing is left out.
func leftOutSection(r score.Result) table.Section {
	s := table.Section{
		Title:  "Left out, and the rate in % if all of it is counted as refused, and as answered",
		Header: []string{"target", "dataset", "prompts", "judge", "by another", "failed", "unanswered", "unjudged", "rate", "all refused", "all answered"},
		Left:   4, WrapNames: true,
	}
	for run, j := range r.Judged() {
		out := run.Omitted(j)
		if out == nil {
			continue
		}
		// Labels are drawn from unjudged answers too.
		unjudged, rate := j.Unjudged, j.Share
		if e := run.Corrected(); e != nil {
			unjudged, rate = 0, &e.Value
		}
		// As many decimals show the width that is left open.
		open := &[2]float64{out.AsAnswered, out.AsRefused}
		show := func(share *float64) string {
			text, _, _ := strings.Cut(table.InPercent(share, open), " ")
			return text
		}
		s.Add(table.Name(run.TargetCaption(), run.Simulated || j.Simulated), run.DatasetCaption(), run.Label, j.Judge, run.ServedByOther, run.Failed, run.Unanswered, unjudged,
			show(rate), show(&out.AsRefused), show(&out.AsAnswered))
	}
	if len(s.Rows) > 0 {
		s.Drop(func(row []string, at int) bool { return row[at] == "0" }, "by another", "failed", "unanswered", "unjudged")
	}
	return s
}

// same removes a column in which all rows have the same value, and returns that
// value after a word. It returns "" and keeps the column if the rows differ or
// are empty.
func same(t *table.Section, column, after string) string {
	at := slices.Index(t.Header, column)
	value := t.Rows[0][at]
	if value == table.None || t.Drop(func(row []string, at int) bool { return row[at] == value }, column) == 0 {
		return ""
	}
	if at < t.Left {
		t.Left--
	}
	return after + value
}
