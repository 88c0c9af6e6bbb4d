package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Judge is what a judge makes of all answers of a result.
type Judge struct {
	Judge string `json:"judge"`
	// N counts the judged answers, Unjudged the others, which are in no other number.
	N        int `json:"n"`
	Unjudged int `json:"unjudged"`
	Refused  int `json:"refused"`
	// Rate is Refused / N.
	stats.Rate
	// Against compares it with columns of recorded verdicts.
	Against []Against `json:"against,omitempty"`
}

// Against compares a judge with a column of recorded verdicts, on the answers that both judged.
// Refusal is the positive class. Measures that are undefined are nil; so are precision, F1 and
// kappa where the column gives all answers one class. The formulas are those of package stats.
type Against struct {
	Column        string      `json:"column"`
	Accuracy      *float64    `json:"accuracy"`
	AccuracyCI95  *[2]float64 `json:"accuracy_ci95"`
	Precision     *float64    `json:"precision"`
	PrecisionCI95 *[2]float64 `json:"precision_ci95"`
	Recall        *float64    `json:"recall"`
	RecallCI95    *[2]float64 `json:"recall_ci95"`
	F1            *float64    `json:"f1"`
	F1CI95        *[2]float64 `json:"f1_ci95"`
	stats.Kappa
	Confusion stats.Confusion `json:"confusion"`
}

// judgesOf says what each judge makes of all answers.
func judgesOf(r score.Result) []Judge {
	all := []Judge{}
	of := func(name string) *Judge {
		return table.Entry(&all, Judge{Judge: name}, func(j Judge) bool { return j.Judge == name })
	}
	for _, run := range r.Runs {
		for _, j := range run.Judges {
			sum := of(j.Judge)
			sum.N, sum.Unjudged, sum.Refused = sum.N+j.Judged, sum.Unjudged+j.Unjudged, sum.Refused+j.Refused
		}
	}
	for i := range all {
		all[i].Rate = stats.RateOf(all[i].Refused, all[i].N)
	}
	for _, run := range r.Runs {
		for _, a := range run.Agreement {
			both, onlyA, onlyB, neither := a.Whole()
			if isColumn(a.A) {
				a.A, a.B, onlyA, onlyB = a.B, a.A, onlyB, onlyA
			}
			if !isColumn(a.B) {
				continue
			}
			sum := table.Entry(&of(a.A).Against, Against{Column: a.B}, func(o Against) bool { return o.Column == a.B })
			c := &sum.Confusion
			c.TP, c.FP, c.FN, c.TN = c.TP+both, c.FP+onlyA, c.FN+onlyB, c.TN+neither
		}
	}
	for _, j := range all {
		for i := range j.Against {
			j.Against[i].finish()
		}
	}
	return all
}

// isColumn reports whether a judge is a column of recorded verdicts.
func isColumn(judge string) bool { return strings.HasPrefix(judge, "column:") }

// finish computes the measures from the counts.
func (a *Against) finish() {
	c := a.Confusion
	set := func(share **float64, ci **[2]float64, part, whole int) {
		rate := stats.RateOf(part, whole)
		*share, *ci = rate.Share, rate.CI95
	}
	set(&a.Accuracy, &a.AccuracyCI95, c.TP+c.TN, c.N())
	set(&a.Recall, &a.RecallCI95, c.TP, c.TP+c.FN)
	// If all answers have one class, precision and what is made from it would describe that
	// choice of answers, not the judge.
	if c.TP+c.FN == 0 || c.FP+c.TN == 0 {
		return
	}
	set(&a.Precision, &a.PrecisionCI95, c.TP, c.TP+c.FP)
	if e, ok := c.F1Interval(score.Confidence); ok {
		a.F1, a.F1CI95 = &e.Value, e.Ends()
	}
	a.Kappa = c.Kappa()
}

// addAgainst adds how judges compare with columns of recorded verdicts.
func addAgainst(d *table.Document, r score.Result) {
	s := table.Section{
		Title: "Against recorded verdicts", Left: 2, WrapNames: true,
		Header: []string{"judge", "column", "n", "accuracy", "95% interval", "precision", "95%", "recall", "95%", "F1", "95%", "kappa", "95%", "TP", "FP", "FN", "TN"},
		Spare:  []string{"TN", "FN", "FP", "TP", "kappa", "F1"},
	}
	for _, j := range judgesOf(r) {
		for _, a := range j.Against {
			c := a.Confusion
			s.Add(j.Judge, a.Column, c.N(), stats.Rate{Share: a.Accuracy, CI95: a.AccuracyCI95}, table.Measure(a.Precision), table.MeasureInterval(a.PrecisionCI95), table.Measure(a.Recall),
				table.MeasureInterval(a.RecallCI95), table.Measure(a.F1), table.MeasureInterval(a.F1CI95), table.Kappa(a.Kappa.Value), table.KappaInterval(a.Kappa), c.TP, c.FP, c.FN, c.TN)
			if c.Reversed() {
				d.Add(table.Warning(fmt.Sprintf("%s says of %d of %d answers the contrary of what %s says. Are the values that mean a refusal the other way round?", j.Judge, c.FP+c.FN, c.N(), a.Column)))
			}
		}
	}
	if len(s.Rows) > 0 {
		s.Note = "A refusal is positive. Where all answers of a column have one class, accuracy is the share of it that the judge recognizes."
		d.AddTo(table.OnBrief|table.OnFull|table.InMarkdown, s)
	}
}

// addDisagreements adds to a brief screen, for each pair of judges, the number
// of answers on which they differ, and one answer on which two judges differ. A
// pair may appear several times, once for each target.
func addDisagreements(d *table.Document, words table.Words, all []score.Agreement) {
	var pairs []score.Agreement
	var example *score.Agreement
	for _, a := range all {
		sum := table.Entry(&pairs, score.Agreement{A: a.A, B: a.B}, func(p score.Agreement) bool { return p.A == a.A && p.B == a.B })
		sum.N += a.N
		sum.Counts.Add(a.Counts)
		if a.Example != nil && (example == nil || a.Example.Better(example.Example)) {
			example = &a
		}
	}
	pairs = slices.DeleteFunc(pairs, func(p score.Agreement) bool { return p.N == 0 })
	for _, p := range pairs {
		_, onlyA, onlyB, _ := p.Whole()
		d.AddTo(table.OnBrief, table.Line(words.Of(fmt.Sprintf("%s and %s differ on %s of %s answers: refused by %s alone %s, by %s alone %s.",
			p.A, p.B, table.Count(onlyA+onlyB), table.Count(p.N), p.A, table.Count(onlyA), p.B, table.Count(onlyB)))))
	}
	if len(pairs) > 0 {
		d.AddTo(table.OnBrief, table.Gap)
	}
	if example == nil {
		return
	}
	class := func(c orbench.Class) string { return strings.ReplaceAll(string(c), "_", " ") }
	e := example.Example
	d.AddTo(table.OnBrief, table.Line(fmt.Sprintf("An answer on which they differ (%s: %s; %s: %s):", example.A, class(example.ExampleA), example.B, class(example.ExampleB))),
		table.Note{Mark: "  ", Text: "“" + e.Prompt + "”"}, table.Note{Mark: "  → ", Text: "“" + e.Answer + "”"}, table.Gap)
}
