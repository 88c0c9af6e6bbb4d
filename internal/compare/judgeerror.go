package compare

import (
	"fmt"
	"math"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// Assumption is what is assumed of a judge's errors on two sides.
type Assumption string

// The assumptions. Between two models, each side's rate may be off by as much
// as was measured for any model, so the difference may be off by the sum. A
// judge errs on the checkpoints of one model with the same recall and the same
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
	// Off is the greatest error of the difference between two models, in shares.
	Off float64 `json:"off,omitempty"`
	// LeastYouden is the least J that was measured; see score.LeastYouden. It is
	// set for one model.
	LeastYouden float64 `json:"least_youden,omitempty"`
	// Difference is the interval of Figures.Difference, widened by the judge's
	// error; nil if that is nil.
	Difference *stats.Interval `json:"difference"`
	rate       score.JudgeError
}

// judgeErrorOf returns what is known of the error of both sides' judge on answers
// in a language to prompts of a label; nil if nothing is, or if it does not matter: a guard's
// flags are what it does, and two judges are compared for their verdicts.
func (c *Comparison) judgeErrorOf(label orbench.Label, language string, oneModel bool) *JudgeError {
	name := c.judges[base]
	known, ok := score.KnownError(name, label, language)
	if name != c.judges[candidate] || name == judge.Flag || !ok {
		return nil
	}
	if !oneModel {
		return &JudgeError{Assumes: TwoModels, Off: known.High - known.Low, rate: known.JudgeError}
	}
	least, ok := score.LeastYouden(name)
	if !ok {
		return nil
	}
	return &JudgeError{Assumes: OneModel, LeastYouden: least, rate: known.JudgeError}
}

// extremes returns the figure as it would be if the judge erred as far as it
// may, downward and upward.
func (e *JudgeError) extremes(figure stats.Estimate, ofRate bool) [2]stats.Estimate {
	moved := func(by float64) stats.Estimate {
		return stats.Estimate{Value: figure.Value + by, Lo: figure.Lo + by, Hi: figure.Hi + by}
	}
	switch {
	case ofRate:
		return [2]stats.Estimate{moved(-e.rate.High), moved(-e.rate.Low)}
	case e.Assumes == TwoModels:
		return [2]stats.Estimate{moved(-e.Off), moved(e.Off)}
	}
	return [2]stats.Estimate{figure, {Value: figure.Value / e.LeastYouden, Lo: figure.Lo / e.LeastYouden, Hi: figure.Hi / e.LeastYouden}}
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

// know sets what is known of the judge's error in the metric's difference.
func (m *Metric) know(e *JudgeError) {
	if m.JudgeError = e; e != nil && m.Difference != nil {
		widened := e.widen(*m.Difference, false)
		e.Difference = &widened
	}
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
			return fmt.Sprintf("The error of %s is not known: figures and gates rest on its verdicts alone.", name)
		case e.Assumes == OneModel:
			return fmt.Sprintf("With the judge's error: both sides are one model, so %s is assumed to err on both alike. It then shows %.0f%% or more of a true difference (the least measured).",
				name, 100*e.LeastYouden)
		default:
			off = append(off, fmt.Sprintf("%.1f points on %s prompts", 100*e.Off, m.Label))
		}
	}
	if len(off) == 0 {
		return ""
	}
	return fmt.Sprintf("With the judge's error: between two models the difference by %s may be off by %s.", name, strings.Join(off, ", "))
}

// shown formats the difference with the judge's error; empty if it is not known.
func (e *JudgeError) shown() string {
	if e == nil || e.Difference == nil {
		return ""
	}
	return table.DifferenceInterval(&stats.Estimate{Lo: e.Difference.Lo, Hi: e.Difference.Hi}, table.Hyphen)
}
