package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// Assumption is what is assumed of a judge's errors on two sides.
type Assumption string

// The assumptions. Two models have errors that are predicted for each of them from
// other models, and are independent: their squares are added to that of the
// interval (Zou and Donner 2008, Statistics in Medicine 27:1693-1702). A judge errs
// on the checkpoints of one model with the same recall and the same
// specificity. The difference of its verdicts is then Youden's J times the true
// one (Copeland and others 1977, American Journal of Epidemiology 105:488-495):
// it is too small, and never has the wrong sign.
const (
	TwoModels Assumption = "two_models"
	OneModel  Assumption = "one_model"
)

// JudgeError is how far a judge's error may move a metric's difference.
type JudgeError struct {
	Assumes Assumption `json:"assumes"`
	// Below and Above are how far below and above the difference by verdicts the
	// true one may lie between two models, in shares, by the judge's error alone.
	Below float64 `json:"below,omitempty"`
	Above float64 `json:"above,omitempty"`
	// LeastYouden is the least J that was measured; see score.LeastYouden. It is
	// set for one model.
	LeastYouden float64 `json:"least_youden,omitempty"`
	// Difference is the interval of Figures.Difference, widened by the judge's
	// error.
	Difference stats.Interval `json:"difference"`
	// rateBelow and rateAbove are Below and Above of the candidate's rate.
	rateBelow, rateAbove float64
}

// judgeErrorOf returns what is known of the error of both sides' judge in the
// difference of a metric on answers in a language; nil if nothing is, or if it
// does not matter: a guard's flags are what it does, and two judges are compared
// for their verdicts.
func (c *Comparison) judgeErrorOf(m Metric, language string, oneModel bool) *JudgeError {
	name := c.judges[base]
	known, ok := score.KnownError(name, m.Label, language)
	if m.Difference == nil || name != c.judges[candidate] || name == judge.Flag || !ok {
		return nil
	}
	below, above := known.Moves(m.Base.Refused, m.Base.N)
	e := JudgeError{Assumes: TwoModels}
	e.rateBelow, e.rateAbove = known.Moves(m.Candidate.Refused, m.Candidate.N)
	if e.Below, e.Above = math.Hypot(e.rateBelow, above), math.Hypot(e.rateAbove, below); oneModel {
		e.Assumes, e.Below, e.Above = OneModel, 0, 0
		if e.LeastYouden, ok = score.LeastYouden(name, language); !ok {
			return nil
		}
	}
	e.Difference = e.widen(*m.Difference, false)
	return &e
}

// extremes returns the figure as it would be if the judge erred as far as it
// may, downward and upward.
func (e *JudgeError) extremes(figure stats.Estimate, ofRate bool) [2]stats.Estimate {
	below, above := e.Below, e.Above
	switch {
	case ofRate:
		below, above = e.rateBelow, e.rateAbove
	case e.Assumes == OneModel:
		return [2]stats.Estimate{figure, {Value: figure.Value / e.LeastYouden, Lo: figure.Lo / e.LeastYouden, Hi: figure.Hi / e.LeastYouden}}
	}
	down := math.Hypot(figure.Value-figure.Lo, below) - (figure.Value - figure.Lo)
	up := math.Hypot(figure.Hi-figure.Value, above) - (figure.Hi - figure.Value)
	return [2]stats.Estimate{
		{Value: figure.Value - below, Lo: figure.Lo - down, Hi: figure.Hi - down},
		{Value: figure.Value + above, Lo: figure.Lo + up, Hi: figure.Hi + up},
	}
}

// widen returns the interval of a figure with the judge's error.
func (e *JudgeError) widen(figure stats.Estimate, ofRate bool) stats.Interval {
	least := -1.0
	if ofRate {
		least = 0
	}
	ends := e.extremes(figure, ofRate)
	return stats.Interval{Lo: math.Max(least, math.Min(ends[0].Lo, ends[1].Lo)), Hi: math.Min(1, math.Max(ends[0].Hi, ends[1].Hi))}
}

// withError changes a decision by verdicts that the judge's error could undo.
// An alarm then passes as not shown, a requirement is undecided.
func (g Gate) withError(e *JudgeError, out *GateResult) {
	if e == nil || g.byVerdicts || out.Figure == nil {
		return
	}
	widened := e.widen(*out.Figure, g.ofRate)
	out.WithJudgeError = &widened
	shown := table.Interval(&[2]float64{widened.Lo, widened.Hi})
	if !g.ofRate {
		shown = table.DifferenceInterval(&stats.Estimate{Lo: widened.Lo, Hi: widened.Hi}, table.Hyphen)
	}
	out.Reason += "; with the judge's error it is " + shown
	if out.Status == Undecided || !g.Requirement() && out.Status == Passed {
		return
	}
	for _, figure := range e.extremes(*out.Figure, g.ofRate) {
		if g.isShown(figure) == g.isShown(*out.Figure) {
			continue
		}
		out.Status, out.NotShown = Undecided, true
		if !g.Requirement() {
			out.Status = Passed
		}
		out.Reason += ", which could undo that"
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

// judgeNote says what is assumed of the judge's error, and what is not known.
func (c Result) judgeNote() string {
	if c.Base.Judge != c.Candidate.Judge || c.Base.Judge == judge.Flag {
		return ""
	}
	name := c.Base.Judge
	var off []string
	for _, m := range c.Metrics {
		switch e := m.JudgeError; {
		case m.Difference == nil:
		case e == nil:
			return fmt.Sprintf("The error of %s is not known, so figures and gates rest on its verdicts alone.", name)
		case e.Assumes == OneModel:
			return fmt.Sprintf("With the judge's error: both sides are one model, so %s is assumed to make the same error on both. It then shows at least %.0f%% of a true difference (the smallest share measured).",
				name, 100*e.LeastYouden)
		default:
			off = append(off, fmt.Sprintf("%.1f points below to %.1f points above the one shown on %s prompts", 100*e.Below, 100*e.Above, m.Label))
		}
	}
	if len(off) == 0 {
		return ""
	}
	return fmt.Sprintf("With the judge's error (%[2]s), the true difference between two models may lie from %[1]s.", strings.Join(off, ", "), name)
}

// shown formats the difference with the judge's error; empty if it is not known.
func (e *JudgeError) shown() string {
	if e == nil {
		return ""
	}
	return table.DifferenceInterval(&stats.Estimate{Lo: e.Difference.Lo, Hi: e.Difference.Hi}, table.Hyphen)
}
