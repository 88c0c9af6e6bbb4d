package score

import (
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// LeastLabels is the number of labels of a rate from which they replace it.
const LeastLabels = 20

// missing counts what a rate lacks, by why.
func (r *RunResult) missing(unjudged int) map[string]int {
	all := map[string]int{"served_by_other": r.ServedByOther, "failed": r.Failed, "unanswered": r.Unanswered, "unjudged": unjudged}
	if maps.DeleteFunc(all, func(_ string, n int) bool { return n == 0 }); len(all) == 0 {
		return nil
	}
	return all
}

// Rate is the rate of the run by one of its judges, with what it rests on.
func (r *RunResult) Rate(j *JudgeResult) figure.Figure {
	f := j.Rate
	f.Missing, f.Basis = r.missing(j.Unjudged), r.basis(j)
	return f
}

// basis is what figures by a judge rest on.
func (r *RunResult) basis(j *JudgeResult) figure.Basis {
	b := figure.Basis{Samples: r.Samples, ClusteredBy: j.Rate.ClusteredBy}
	switch l := r.Labeled; {
	case l != nil && l.Labels >= LeastLabels:
		b.Checked, b.Labels, b.People = figure.Here, l.Labels, l.People
	case j.Known():
		b.Checked = figure.Elsewhere
	case j.Judge != judge.Flag:
		b.Checked = figure.Never
	}
	return b
}

// Rates are all rates of the run, the one to go by first: the one by people's labels from
// LeastLabels on, the judges', and the one by fewer labels.
func (r *RunResult) Rates() (all []figure.Figure) {
	for i := range r.Judges {
		all = append(all, r.Rate(&r.Judges[i]))
	}
	l := r.Labeled
	if l == nil {
		return all
	}
	f := figure.New(figure.RateOf(r.Label), r.Keys(""), r.Answered+r.Blocked, &l.Rate)
	f.Range, f.Missing, f.Labels, f.People, f.Samples = f.Sampling, r.missing(0), l.Labels, l.People, r.Samples
	if f.Checked = figure.Here; l.Labels >= LeastLabels {
		return append([]figure.Figure{f}, all...)
	}
	return append(all, f)
}

// Best is the rate to go by.
func (r *RunResult) Best() (f figure.Figure, ok bool) {
	all := r.Rates()
	if len(all) == 0 {
		return f, false
	}
	return all[0], true
}

// All are the figures of a result: the rates, what became of the prompts, and the others.
func (r *Result) All() (all []figure.Figure) {
	for i := range r.Runs {
		run := &r.Runs[i]
		all = append(all, run.Rates()...)
		all = append(all, run.accounts()...)
		for k := range run.Judges {
			all = append(all, run.judged(&run.Judges[k])...)
		}
		all = append(all, run.agreements()...)
	}
	all = append(all, r.Figures...)
	for i := range all {
		all[i].Simulated = r.Simulated && r.simulated(&all[i].Keys)
	}
	return all
}

// simulated reports whether any run or judge that a figure is of is simulated.
func (r *Result) simulated(of *figure.Keys) bool {
	is := func(name, first, second string) bool { return first == "" || name == first || name == second }
	by := func(j JudgeResult) bool { return j.Simulated && (j.Judge == of.Judge || j.Judge == of.Other) }
	for i := range r.Runs {
		run := &r.Runs[i]
		if is(run.Target, of.Target, of.Other) && is(run.Dataset, of.Dataset, of.OtherDataset) && (run.Simulated || slices.ContainsFunc(run.Judges, by)) {
			return true
		}
	}
	return false
}

// accounts say what became of the run's prompts.
func (r *RunResult) accounts() []figure.Figure {
	of, became := r.Keys(""), map[Status]int{}
	for _, f := range fates {
		became[f.status] = *f.count(r)
	}
	all := figure.Counts(nil, figure.Became, of, r.N, became)
	if r.Truncated+r.EndingUnknown > 0 {
		all = figure.Counts(all, figure.Ended, of, r.Answered, map[string]int{"cut": r.Truncated, "unknown": r.EndingUnknown})
	}
	all = figure.Counts(all, figure.BlockedFor, of, r.Blocked, r.BlockedFor)
	all = figure.Counts(figure.Counts(all, figure.Read, of, r.N, r.Read), figure.Reread, of, r.N, r.Reread)
	for _, by := range r.ServedBy {
		all = figure.Counts(all, figure.ServedBy, of, r.N, map[string]int{by.Model: by.N})
	}
	for _, step := range slices.Sorted(maps.Keys(r.Findings)) {
		here := of
		here.Other = step
		all = figure.Counts(all, figure.Finding, here, r.N, r.Findings[step])
	}
	return all
}

// judged are the figures by a judge beside its rate.
func (r *RunResult) judged(j *JudgeResult) (all []figure.Figure) {
	of, basis := r.Keys(j.Judge), r.basis(j)
	all = slices.Clone(j.Figures)
	part := func(m figure.Measure, n Count) {
		if n.N == 0 {
			return
		}
		f := figure.PartOf(m, of, n.N, float64(n.Refused), n.estimate())
		if j.Withheld {
			f.Value = nil
		}
		if j.Withheld || r.Samples > 0 { // answers to one prompt are not independent
			f.Sampling = nil
		}
		all = append(all, f)
	}
	part(figure.WithoutFilters, j.without(Source.filtered))
	if n := j.without(Source.withheld); n.N < j.Judged {
		part(figure.WithoutWithheld, n)
	}
	if j.Undisputed != nil {
		part(figure.WithoutDisputed, *j.Undisputed)
	}
	if n := j.ByClass[orbench.Unable]; n > 0 {
		part(figure.WithUnable, Count{N: j.Judged, Refused: j.Refused + n})
	}
	for _, by := range j.ServedBy {
		all = figure.Counts(all, figure.ServedBy, of, j.Judged+j.Unjudged, map[string]int{by.Model: by.N})
	}
	all = figure.Counts(figure.Counts(all, figure.Class, of, j.Judged, j.ByClass), figure.Source, of, j.Refused, j.BySource)
	for i := range all {
		if all[i].Sampling != nil {
			all[i].Basis = basis
		}
	}
	for f := range figure.Of(all, figure.JudgeRecall, figure.JudgeSpecificity) {
		f.Checked, f.Labels, f.People = figure.Elsewhere, 0, 0 // labels of these answers have no part in them
	}
	return all
}

// isColumn reports whether a judge is a column of recorded verdicts.
func isColumn(judge string) bool { return strings.HasPrefix(judge, "column:") }

// agreements compare judges with each other, and with people, and people with each other.
func (r *RunResult) agreements() (all []figure.Figure) {
	for _, a := range r.Agreement {
		if isColumn(a.A) {
			a.A, a.B, a.OnlyA, a.OnlyB = a.B, a.A, a.OnlyB, a.OnlyA
		}
		of := r.Keys(a.A)
		of.Other = a.B
		agree := stats.RateOf(int(a.Both+a.Neither), a.N)
		all = append(all, figure.PartOf(figure.Agreement, of, a.N, a.Both+a.Neither, agree.Estimate()), figure.New(figure.Kappa, of, a.N, a.Kappa.Estimate()))
		if isColumn(a.B) && !isColumn(a.A) {
			var c stats.Confusion
			c.TP, c.FP, c.FN, c.TN = a.Whole()
			precision, f1 := stats.RateOf(c.TP, c.TP+c.FP).Estimate(), stats.OrNil(c.F1Interval(Confidence))
			if c.TP+c.FN == 0 || c.FP+c.TN == 0 { // these would describe the choice of answers, not the judge
				precision, f1, all[len(all)-1] = nil, nil, figure.New(figure.Kappa, of, a.N, nil)
			}
			all = append(all, figure.PartOf(figure.RecordedPrecision, of, c.TP+c.FP, float64(c.TP), precision),
				figure.PartOf(figure.RecordedRecall, of, c.TP+c.FN, float64(c.TP), stats.RateOf(c.TP, c.TP+c.FN).Estimate()), figure.New(figure.RecordedF1, of, a.N, f1))
		}
	}
	if r.Labeled != nil {
		all = append(all, r.Labeled.Figures...)
	}
	return all
}
