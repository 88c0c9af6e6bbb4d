package compare

import (
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// judgeErrorOf returns what is known of the error of both sides' judge in the
// difference of a metric on answers in a language; nil if nothing is, or if it
// does not matter: a guard's flags are what it does, and two judges are compared
// for their verdicts.
func (c *Comparison) judgeErrorOf(m Metric, language string, assumes versus.Assumption) *versus.JudgeError {
	if m.Difference == nil || c.judges[base] != c.judges[candidate] {
		return nil
	}
	return score.ErrorBetween(c.judges[base], m.Label, language, assumes, [2]int{m.Base.Refused, m.Base.N}, [2]int{m.Candidate.Refused, m.Candidate.N}, *m.Difference)
}

// know gives the rates of a side by a judge the basis and the range that a run has them with. The
// rate of all answers to the prompts says how far the judge is off.
func (m *Metric) know(side int, name string, runs []score.RunResult) {
	known, ok := score.KnownError(name, m.Label, measured(runs, false))
	of := figure.Figure{Basis: figure.Basis{Checked: figure.Never}}
	if ok {
		of.Checked = figure.Elsewhere
	}
	if len(runs) == 1 { // several have no dataset and no labels in common
		if k := slices.IndexFunc(runs[0].Judges, func(j score.JudgeResult) bool { return j.Judge == name }); k >= 0 {
			of = runs[0].Rate(&runs[0].Judges[k])
		}
	}
	of.ClusteredBy = ""
	whole, unjudged := [2]*Rate{&m.Base, &m.Candidate}[side], [2]SideCounts{m.BaseCounts, m.CandidateCounts}[side].Unjudged
	// Of all answers of the run, the interval is the run's, which may have been asked until it
	// was so narrow.
	if of.Sampling != nil && of.N == whole.N && whole.CI95Clustered == nil {
		whole.CI95 = &[2]float64{of.Sampling.Lo, of.Sampling.Hi}
	}
	set := func(rate *Rate, unjudged int) {
		rate.Basis, rate.of = of.Basis, of.Keys
		if e := rate.Estimate(); e != nil && (ok || name == judge.Flag) {
			rate.Range = known.Range(whole.Refused, whole.N, unjudged, *e)
		}
	}
	set(whole, unjudged)
	if e := whole.Estimate(); ok && e != nil && score.Rare(whole.N, unjudged, *e) {
		whole.Range = nil
	}
	for i := range m.ByCategory {
		set([2]*Rate{&m.ByCategory[i].Base, &m.ByCategory[i].Candidate}[side], 0)
	}
}

// withError leaves undecided what the judge's error could undo.
func (g Gate) withError(e *versus.JudgeError, out *GateResult) {
	if e == nil || g.byVerdicts || out.Figure == nil {
		return
	}
	widened := e.Widen(*out.Figure, g.ofRate)
	out.WithJudgeError = &widened
	if out.Status == Undecided || !g.Requirement() && out.Status == Passed {
		return
	}
	for _, figure := range e.Extremes(*out.Figure, g.ofRate) {
		if g.isShown(figure) == g.isShown(*out.Figure) {
			continue
		}
		shown := table.Interval(&[2]float64{widened.Lo, widened.Hi})
		if !g.ofRate {
			shown = table.DifferenceInterval(&stats.Estimate{Lo: widened.Lo, Hi: widened.Hi}, table.Hyphen)
		}
		out.Status = Undecided
		out.Reason += "; the judge's error could undo that (" + shown + ")"
		return
	}
}

// isShown reports whether a figure shows what the gate says.
func (g Gate) isShown(figure stats.Estimate) bool {
	limit, _ := g.limit.Float64()
	switch holds := g.allows(compareShares(figure.Value, limit)); {
	case !holds || !g.significant:
		return holds
	case g.Requirement() || g.ofRate:
		return g.holdsThroughout(figure)
	}
	return figure.Lo > 0 || figure.Hi < 0
}

// JudgeError says what is assumed of the judge's error, and what is not known.
func (c Result) JudgeError() string {
	if c.Base.Judge != c.Candidate.Judge || c.Base.Judge == judge.Flag {
		return ""
	}
	name := c.Base.Judge
	for _, m := range c.Metrics {
		switch e := m.JudgeError; {
		case m.Difference == nil:
		case e == nil:
			return fmt.Sprintf("The error of %s is not known, so figures and gates rest on its verdicts alone.", name)
		case e.Assumes != versus.TwoModels:
			same := fmt.Sprintf("With the judge's error: both sides are one model, so %s is assumed to make the same error on both. It then shows at least %.0f%% of a true difference (the smallest share measured).", name, 100*e.LeastYouden)
			if e.Assumes == versus.OneModel {
				same += fmt.Sprintf(" Another manner of answering may add up to %.0f points on safe and %.0f on toxic prompts.", 100*versus.Manner(orbench.Safe), 100*versus.Manner(orbench.Toxic))
			}
			return same
		default:
			return fmt.Sprintf("The range allows for another error of %s on each of two models.", name)
		}
	}
	return ""
}

// withError formats the difference with the judge's error; empty if it is not known.
func (m Metric) withError() string {
	if m.JudgeError == nil {
		return ""
	}
	e := m.JudgeError.Difference
	return table.DifferenceInterval(&stats.Estimate{Lo: e.Lo, Hi: e.Hi}, table.Hyphen)
}
