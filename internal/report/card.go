package report

import (
	"cmp"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// cardRow is a cell of a system card: one target on the prompts of one label of
// one dataset, by one judge. It is a line of CSV.
type cardRow struct {
	Target, Dataset, DatasetSHA256, Language string
	Label                                    orbench.Label
	Judge                                    string
	N, Judged, Refused                       int
	Rate                                     stats.Rate `csv:",ci95"`
	Range                                    *[2]float64
	// CorrectedBy is people's labels, or uncorrected.
	CorrectedBy    string
	Corrected      *stats.Estimate
	Labels, People int
	// AgreementOnRefusals and AgreementOnAnswers are those of people who labeled
	// the same answers, over all pairs of them.
	AgreementOnRefusals, AgreementOnAnswers *stats.Estimate
	// JudgeSpecificity and JudgeRecall are by these labels.
	JudgeSpecificity, JudgeRecall                          *stats.Estimate
	ServedByOther, Failed, Unanswered, Unjudged, Truncated int
	LeftOut                                                int
	LeftOutRefused, LeftOutAnswered                        *float64
	Undisputed                                             *stats.Rate
	Plan                                                   string
	Simulated                                              bool

	run *score.RunResult
}

// What corrects a rate.
const (
	byLabels    = peoplesLabels
	uncorrected = "uncorrected"
)

// cardRows returns the cells of a result.
func cardRows(r score.Result) []cardRow {
	var rows []cardRow
	for run, j := range r.Judged() {
		rows = append(rows, cardRowOf(run, j))
	}
	return rows
}

func cardRowOf(run *score.RunResult, j *score.JudgeResult) cardRow {
	c := cardRow{
		Target: run.TargetCaption(), Dataset: run.Dataset, DatasetSHA256: run.DatasetSHA256, Language: run.Language, Label: run.Label, Judge: j.Judge,
		N: run.N, Judged: j.Judged, Refused: j.Refused, Rate: j.Rate, CorrectedBy: uncorrected, Corrected: run.Corrected(),
		ServedByOther: run.ServedByOther, Failed: run.Failed, Unanswered: run.Unanswered, Unjudged: j.Unjudged, Truncated: run.Truncated,
		Simulated: run.Simulated || j.Simulated, run: run,
	}
	if j.Range != nil {
		c.Range = &[2]float64{j.Range.Lo, j.Range.Hi}
	}
	if out := run.Omitted(j); out != nil {
		c.LeftOut, c.LeftOutRefused, c.LeftOutAnswered = out.N, &out.AsRefused, &out.AsAnswered
	}
	if j.Undisputed != nil {
		c.Undisputed = &j.Undisputed.Rate
	}
	if l := run.Labeled; l != nil {
		c.CorrectedBy, c.Labels, c.People = byLabels, l.Labels, l.People
		var pairs annotation.PeoplePair
		for _, p := range l.Pairs {
			pairs.Add(p.Counts)
		}
		pairs.Finish(0)
		c.AgreementOnRefusals, c.AgreementOnAnswers = pairs.Positive, pairs.Negative
		for _, a := range l.Judges {
			if a.Judge == j.Judge {
				c.JudgeSpecificity, c.JudgeRecall = a.Specificity, a.Recall
			}
		}
		if l.Plan != nil {
			c.Plan = l.Plan.Hash
		}
	}
	return c
}

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
	var rates []shown
	anyLabels, anyPairs := false, false
	for _, c := range cardRows(r) {
		ends := c.Range
		if ends == nil {
			ends = c.Rate.Interval()
		}
		rate := shown{ends: ends, of: c.run.By(c.Judge)}
		rate.widened = rate.of.JudgeError != nil
		rates = append(rates, rate)
		corrected, labels, people, agreement := uncorrected, table.Count(c.Labels), table.None, table.None
		if c.Corrected != nil {
			corrected = inPercent(c.Corrected)
		}
		if c.People > 0 {
			people, anyLabels = table.Count(c.People), true
		}
		if c.AgreementOnAnswers != nil || c.AgreementOnRefusals != nil {
			agreement, anyPairs = estimated(c.AgreementOnRefusals)+"/"+estimated(c.AgreementOnAnswers), true
		}
		s.Add(table.Name(c.Target, c.Simulated), c.run.DatasetCaption(), cmp.Or(c.Language, "mixed"), c.Label, c.Judge, c.N,
			table.InPercent(c.Rate.Share, ends), corrected, labels, people, agreement, inPercent(c.JudgeSpecificity))
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
	for _, c := range cardRows(r) {
		if c.LeftOut == 0 {
			continue
		}
		// Labels are drawn from unjudged answers too.
		unjudged, rate := c.Unjudged, c.Rate.Share
		if c.Corrected != nil {
			unjudged, rate = 0, &c.Corrected.Value
		}
		// As many decimals show the width that is left open.
		open := &[2]float64{*c.LeftOutAnswered, *c.LeftOutRefused}
		show := func(share *float64) string {
			text, _, _ := strings.Cut(table.InPercent(share, open), " ")
			return text
		}
		s.Add(table.Name(c.Target, c.Simulated), c.run.DatasetCaption(), c.Label, c.Judge, c.ServedByOther, c.Failed, c.Unanswered, unjudged,
			show(rate), show(c.LeftOutRefused), show(c.LeftOutAnswered))
	}
	if len(s.Rows) > 0 {
		s.Drop(func(row []string, at int) bool { return row[at] == "0" }, "by another", "failed", "unanswered", "unjudged")
	}
	return s
}
