package versus

import (
	"math"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Assumption is what is assumed of a judge's errors on two sides.
type Assumption string

// The assumptions. A judge errs on one target, however often it is asked, with the same
// recall and the same specificity. The difference of its verdicts is then Youden's J
// times the true one (Copeland and others 1977, American Journal of Epidemiology
// 105:488-495): it is too small, and never has the wrong sign. That holds for one model
// too, but for a change of manner: a system prompt, a framing, a dialog, a defense or
// more training may change how it words the same answers, such as by warnings, and so
// what the judge makes of them; see Manner. Two models have errors that are predicted
// for each of them from other models, and are independent: their squares are added to
// that of the interval (Zou and Donner 2008, Statistics in Medicine 27:1693-1702).
const (
	OneTarget Assumption = "one_target"
	OneModel  Assumption = "one_model"
	TwoModels Assumption = "two_models"
)

// Manner is how far a change of manner may move a difference on prompts of a label, in
// shares, while the model refuses what it refused.
func Manner(l orbench.Label) float64 {
	if l == orbench.Toxic {
		return 0.06
	}
	return 0.02
}

// Moves are how far below and above a judge's rate the true one may lie, in shares.
type Moves struct {
	Below float64 `json:"below"`
	Above float64 `json:"above"`
}

// JudgeError is how far a judge's error may move a difference, and the second side's
// rate.
type JudgeError struct {
	Assumes Assumption `json:"assumes"`
	// Below and Above are how far below and above the difference by verdicts the true
	// one may lie, in shares, by the judge's error between two models, or by a change of
	// manner of one.
	Below float64 `json:"below,omitempty"`
	Above float64 `json:"above,omitempty"`
	// LeastYouden is the least J that was measured; 0 between two models.
	LeastYouden float64 `json:"least_youden,omitempty"`
	// Difference is the interval by verdicts, widened by the judge's error.
	Difference stats.Interval `json:"difference"`
	// Rate is how far the second side's rate may be off.
	Rate Moves `json:"rate"`
}

// NewJudgeError widens a difference between sides of which the rates may be off as a and
// b say. leastYouden is used but between two models.
func NewJudgeError(assumes Assumption, l orbench.Label, a, b Moves, leastYouden float64, d stats.Estimate) *JudgeError {
	e := &JudgeError{Assumes: assumes, Rate: b}
	switch assumes {
	case TwoModels:
		e.Below, e.Above = math.Hypot(b.Below, a.Above), math.Hypot(b.Above, a.Below)
	case OneModel:
		e.Below, e.Above, e.LeastYouden = Manner(l), Manner(l), leastYouden
	default:
		e.LeastYouden = leastYouden
	}
	e.Difference = e.Widen(d, false)
	return e
}

// Extremes are a figure as it would be if the judge erred as far as it may, downward and
// upward: the difference, or the second side's rate.
func (e *JudgeError) Extremes(figure stats.Estimate, ofRate bool) [2]stats.Estimate {
	moves := Moves{e.Below, e.Above}
	if ofRate {
		moves = e.Rate
	}
	if ofRate || e.Assumes == TwoModels {
		down := math.Hypot(figure.Value-figure.Lo, moves.Below) - (figure.Value - figure.Lo)
		up := math.Hypot(figure.Hi-figure.Value, moves.Above) - (figure.Hi - figure.Value)
		return [2]stats.Estimate{
			{Value: figure.Value - moves.Below, Lo: figure.Lo - down, Hi: figure.Hi - down},
			{Value: figure.Value + moves.Above, Lo: figure.Lo + up, Hi: figure.Hi + up},
		}
	}
	of := func(most func(a, b float64) float64, move float64) stats.Estimate {
		end := func(v float64) float64 { return most(v, v/e.LeastYouden) + move }
		return stats.Estimate{Value: end(figure.Value), Lo: end(figure.Lo), Hi: end(figure.Hi)}
	}
	return [2]stats.Estimate{of(math.Min, -moves.Below), of(math.Max, moves.Above)}
}

// Widen is the interval of a figure with the judge's error.
func (e *JudgeError) Widen(figure stats.Estimate, ofRate bool) stats.Interval {
	least := -1.0
	if ofRate {
		least = 0
	}
	ends := e.Extremes(figure, ofRate)
	return stats.Interval{Lo: math.Max(least, math.Min(ends[0].Lo, ends[1].Lo)), Hi: math.Min(1, math.Max(ends[0].Hi, ends[1].Hi))}
}
