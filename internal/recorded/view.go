package recorded

import (
	"context"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// View returns what a report of the study shows.
func (r *Judged) View(ctx context.Context, m store.Reader) (table.View, error) {
	return r.Derive(ctx, m, nil)
}

// Document returns what people read. On a brief screen it is one line for each
// judge, how judges differ from people and from each other, and one
// such answer.
func (r Result) Document() table.Document {
	d := table.Document{Title: "Judges", Simulated: r.Simulated}
	d.AddTo(table.OnBrief, r.card())
	for _, j := range r.Judges {
		if j.Unjudged > 0 {
			d.AddTo(table.OnBrief, table.Warning(table.Name(j.Judge, j.Simulated)+" left "+table.Count(j.Unjudged)+" answers unjudged, which are in none of its rates. The first: "+j.UnjudgedFor+"."))
		}
	}
	for _, line := range report.ReadWarnings(r.Score()) {
		d.AddTo(table.OnBrief, table.Warning(line))
	}
	if r.Forgotten > 0 {
		d.AddTo(table.OnBrief, table.Warning(table.Counted(r.Forgotten, "forgotten answer is", "forgotten answers are")+" in no figure."))
	}
	if r.Repeated > 0 {
		d.Add(table.Warning(table.Counted(r.Repeated, "row repeats", "rows repeat") + " an answer of another row, such as when two people labeled it. Each row counts, so the intervals are too narrow."))
	}
	for _, j := range r.Judges {
		if m := j.Measures; m != nil && m.KappaCI95 != nil && m.KappaCI95[1] < 0 {
			d.Add(table.Warning(j.Judge + " says surely less often than by chance what people say (kappa " + table.Measure(m.Kappa.Value) + "). Are the values that mean a refusal the other way round?"))
		}
	}
	report.AddDisagreements(&d, table.Words{}, slices.Concat(r.people, r.Agreement))
	d.Details(sections(r)...)
	switch {
	case r.differing > 0:
		d.AddTo(table.OnBrief, table.Line("Next, without a call: the same command can write the disagreements to a file (disagreements), for people to read: "+table.Labels(r.differing)+"."))
	case r.GoldRefusal == nil && r.Answers > 0:
		d.AddTo(table.OnBrief, table.Line("Next: measure the judges against people, by a column of their labels ("+table.Labels(annotation.EnoughLabels(r.Answers))+")."))
	}
	return d
}

// card returns what each judge says of the answers, what people say of them,
// and how often a judge is right. A range is that of a new model, where the
// judge's error is known.
func (r Result) card() table.Section {
	s := table.Section{
		Title: table.Counted(r.Answers, "answer", "answers") + " in " + r.Responses + "@" + table.ShortHash(r.SHA256), Left: 1,
		Header: []string{"judge", "refused", "unable", "off topic", "share", "range", "right", "95% interval", "kappa"}, Spare: []string{"kappa"}, WrapNames: true,
	}
	known, counted := 0, false
	for _, j := range r.Judges {
		var ends *[2]float64
		if e, ok := score.KnownError(j.Judge, "", r.Language); ok && j.CI95 != nil {
			_, carried := e.Predict(j.Refused, j.N, *j.Rate.Estimate())
			ends = &[2]float64{carried.Lo, carried.Hi}
			known++
		}
		if unjudged := float64(j.Unjudged) / float64(j.N+j.Unjudged); ends != nil && unjudged > 0 {
			ends = &[2]float64{ends[0] * (1 - unjudged), ends[1]*(1-unjudged) + unjudged}
			counted = true
		}
		right := []string{table.None, table.None, table.None}
		if m := j.Measures; m != nil {
			right = table.Cells(accuracy(m), table.Measure(m.Kappa.Value))
		}
		s.Add(table.Name(j.Judge, j.Simulated), table.Count(j.Refused)+" of "+table.Count(j.N), j.ByClass[orbench.Unable], j.ByClass[orbench.OffTopic], table.Rate(j.Rate), table.Interval(ends), right)
	}
	s.Note = report.RangeNote(known, len(r.Judges)-known, counted)
	var uncounted int
	for _, j := range r.Judges {
		uncounted += j.ByClass[orbench.Unable] + j.ByClass[orbench.OffTopic]
	}
	if uncounted > 0 {
		s.Note += " Unable and off topic are not refused."
	}
	if r.GoldRefusal == nil {
		s.Drop(func([]string, int) bool { return true }, "right", "95% interval", "kappa")
	} else {
		refused := r.goldRefusals()
		rate := stats.RateOf(refused, r.Answers)
		s.Add(people, table.Count(refused)+" of "+table.Count(r.Answers), table.None, table.None, rate, table.None, table.None, table.None)
	}
	dropUncounted(&s)
	if slices.ContainsFunc(r.Judges, func(j Judge) bool { return j.Drawn }) {
		s.Note += " " + drawnNote
	}
	return s
}

// dropUncounted leaves out the columns of classes that are not refused where no
// answer has them.
func dropUncounted(s *table.Section) {
	s.Drop(func(row []string, at int) bool { return row[at] == "0" || row[at] == table.None }, "unable", "off topic")
}

// Data returns the result in its documented form.
func (r Result) Data() any { return r }

// line is a line of CSV.
type line struct {
	Responses, SHA256, Judge string
	N, Unjudged, Refused     int
	Rate                     stats.Rate `csv:",ci95"`
	*measures
	Class     map[orbench.Class]int
	Simulated bool
	*intervals
}

// measures holds the columns that compare a judge with people; intervals holds
// those that were added later.
type measures struct {
	Accuracy                     stats.Rate
	Precision, Recall, F1, Kappa *float64
	stats.Confusion
}

type intervals struct{ PrecisionCI95, RecallCI95, F1CI95, KappaCI95 *[2]float64 }

// Rows returns a row for each judge. Shares are from 0 to 1; the measures are
// empty if nobody labeled.
func (r Result) Rows() any {
	var rows []line
	for _, j := range r.Judges {
		row := line{
			Responses: r.Responses, SHA256: r.SHA256, Judge: j.Judge,
			N: j.N, Unjudged: j.Unjudged, Refused: j.Refused, Rate: j.Rate, Class: j.ByClass, Simulated: j.Simulated,
		}
		if m := j.Measures; m != nil {
			row.measures = &measures{accuracy(m), m.Precision, m.Recall, m.F1, m.Kappa.Value, m.Confusion}
			row.intervals = &intervals{m.PrecisionCI95, m.RecallCI95, m.F1CI95, m.KappaCI95}
		}
		rows = append(rows, row)
	}
	return rows
}

func accuracy(m *Measures) stats.Rate {
	return stats.Rate{Share: m.Accuracy, CI95: m.AccuracyCI95}
}

// drawnNote says what figures of a drawn sheet are.
const drawnNote = "The judges' shares are for all answers from which these were drawn: each answer is weighted by one over its chance."

// goldNote says which labels mean a refusal. If all labels are of one class,
// accuracy is the share of that class that the judge recognized.
func goldNote(r Result) string {
	const oneClass = " so accuracy is the share of them that the judge recognized; precision, F1 and kappa are undefined."
	refusals := r.goldRefusals()
	note := "A refusal is positive: people's " + strings.Join(r.GoldRefusal, ", ") + "."
	if slices.ContainsFunc(r.Judges, func(j Judge) bool { return j.Drawn }) {
		note += " " + drawnNote
	}
	switch {
	case len(r.GoldRefusal) == 0 || refusals == 0:
		return "People call none of the answers a refusal," + oneClass
	case refusals == r.Answers:
		return note + " People call all of the answers refusals," + oneClass
	}
	return note
}

// goldRefusals counts the answers that people call refusals.
func (r Result) goldRefusals() (n int) {
	for v, of := range r.GoldValues {
		if annotation.Means(r.GoldRefusal, v) {
			n += of
		}
	}
	return n
}

// sections returns the tables of a recorded result.
func sections(r Result) []table.Section {
	file := r.Responses + "@" + table.ShortHash(r.SHA256)
	all := []table.Section{figures("What the judges say of "+table.Count(r.Answers)+" answers in "+file, refusalHeader)}
	gold := figures("Against people's labels in "+file, measuresHeader)
	gold.Note = goldNote(r)
	for _, j := range r.Judges {
		name := table.Name(j.Judge, j.Simulated)
		all[0].Add(name, refusalCells(&j.Figures))
		if j.Measures != nil {
			gold.Add(name, measuresCells(&j.Figures))
		}
	}
	dropUncounted(&all[0])
	if len(gold.Rows) > 0 {
		all = append(all, gold)
	}
	if len(r.Agreement) > 0 {
		all = append(all, agreementSection(r))
	}
	return all
}

// The columns of figures and their cells.
var (
	refusalHeader  = []string{"n", "unjudged", "refused", "unable", "off topic", "rate", "95% interval"}
	measuresHeader = []string{"n", "accuracy", "95% interval", "precision", "95%", "recall", "95%", "F1", "95%", "kappa", "95%", "TP", "FP", "FN", "TN"}
)

// figures is a table of figures of judges.
func figures(title string, header []string) table.Section {
	return table.Section{Title: title, Left: 1, Header: append([]string{"judge"}, header...)}
}

func refusalCells(f *Figures) []string {
	return table.Cells(f.N, f.Unjudged, f.Refused, f.ByClass[orbench.Unable], f.ByClass[orbench.OffTopic], f.Rate)
}

func measuresCells(f *Figures) []string {
	m, c := f.Measures, f.Confusion
	return table.Cells(f.N, accuracy(m), table.Measure(m.Precision), table.MeasureInterval(m.PrecisionCI95), table.Measure(m.Recall),
		table.MeasureInterval(m.RecallCI95), table.Measure(m.F1), table.MeasureInterval(m.F1CI95), table.Kappa(m.Kappa.Value),
		table.KappaInterval(m.Kappa), c.TP, c.FP, c.FN, c.TN)
}

func agreementSection(r Result) table.Section {
	s := table.Section{
		Title: "Where judges disagree, among the answers that both judged", Left: 2,
		Header: append([]string{"judge A", "judge B"}, report.AgreementHeader...),
	}
	for _, a := range r.Agreement {
		s.Add(a.A, a.B, report.AgreementCells(a))
	}
	s.Note = "Fleiss' kappa of all judges is undefined: no answer was judged by all of them, or all verdicts are the same."
	if r.FleissKappa != nil {
		s.Note = "Fleiss' kappa of all judges is " + table.Measure(r.FleissKappa) + " (95%: " + table.MeasureInterval(r.FleissKappaCI95) + "), on " + table.Count(r.FleissN) + " answers that all of them judged."
	}
	return s
}
