package compare

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// power is the chance of finding the smallest difference that a sample is said
// to detect.
const power = 0.8

// mostDetectable limits requirements whose interval contains the limit. Such a
// requirement is still decided if the smallest difference that the sample could
// have found is at most mostDetectable times the limit.
const mostDetectable = 3

// decide applies a gate to the counts of its metric.
func (r *Result) decide(g Gate, of *tally, b stats.Bootstrap, out *GateResult) {
	n, what := of.all, string(of.label)
	if g.category != "" {
		what += " " + string(g.category)
		if n = of.by[g.category]; n == nil {
			out.Reason = fmt.Sprintf("there is no %s prompt of the category %q; there are %s", of.label, g.category, of.categories())
			return
		}
	}
	b.Confidence = 1 - alpha
	figure, ok := n.difference(r.Paired, b)
	if !ok {
		out.Reason = fmt.Sprintf("no %s prompt has a verdict on both sides", what)
		return
	}
	// Rates are ratios of counts. A difference of exactly 2 points is not above
	// 2pp, even if it is in floating-point numbers.
	points := n.points(candidate)
	if g.ofRate {
		figure = n.estimate(candidate, b.Confidence)
	} else {
		points.Sub(points, n.points(base))
	}
	if share, side := n.lackingShare(r.Paired); share > mostExcluded {
		out.Reason = fmt.Sprintf("%.1f%% of the %s %s prompts lack a verdict; at most %.1f%% may", 100*share, side, what, 100*mostExcluded)
		return
	}
	detectable := stats.Detectable(figure, b.Confidence, power)
	out.Figure, out.Detectable = &figure, &detectable
	if g.Requirement() || g.ofRate {
		r.decideByInterval(g, points, out)
	} else {
		r.decideByTest(g, points, n, out)
	}
}

// decideByTest decides an alarm on a difference that needs a significant test.
func (r *Result) decideByTest(g Gate, points *big.Rat, n *counts, out *GateResult) {
	p, _ := n.test(r.Paired)
	out.Reason = fmt.Sprintf("the difference is %+.1f points (p = %.2g)", 100*out.Figure.Value, p)
	clusters := len(n.clusters[base])
	switch {
	case !g.holds(points):
		out.Status = Passed
	case !g.significant:
		out.Status = Tripped
	case p < alpha:
		out.Status = Tripped
		out.Reason += ", which is significant"
	case r.Paired && n.clustered() && math.Ldexp(1, -clusters) >= alpha:
		// The least p-value that stats.McNemarClustered can return.
		out.Status = Undecided
		out.Reason += fmt.Sprintf(", which is beyond the limit, but no difference can be significant at %[2]g with only %[1]d clusters of prompts", clusters, alpha)
	default:
		out.Status = Passed
		out.Reason += fmt.Sprintf(", which is beyond the limit but not significant at %g", alpha)
	}
}

// decideByInterval decides a gate by the whole interval of its figure. If it
// need not be significant, the figure alone decides.
func (r *Result) decideByInterval(g Gate, points *big.Rat, out *GateResult) {
	e := *out.Figure
	level := strconv.FormatFloat(100*(1-alpha), 'g', 6, 64)
	if g.ofRate {
		out.Reason = fmt.Sprintf("the candidate's rate is %s (%s%%: %s)", table.Percent(e.Value), level, table.Interval(e.Ends()))
	} else {
		out.Reason = fmt.Sprintf("the difference is %+.1f points (%s%%: %s)", 100*e.Value, level, table.DifferenceInterval(&e, table.Hyphen))
	}
	if limit, _ := g.limit.Float64(); g.Requirement() && !g.ofRate && 100*e.Lo < limit && limit < 100*e.Hi && 100**out.Detectable > mostDetectable*math.Abs(limit) && limit != 0 {
		out.Status = Undecided
		out.Reason += ", but too few prompts were compared for so small a limit"
		return
	}
	holds := g.holds(points)
	sure := holds && g.holdsThroughout(e)
	out.Status = Passed
	if g.Requirement() != (sure || holds && !g.significant) {
		out.Status = Tripped
	}
	bound := "lower"
	if strings.HasPrefix(g.op, "<") {
		bound = "upper"
	}
	switch {
	case g.Requirement() && !holds:
		out.Reason += ", which is beyond the limit"
	case !holds:
	case !g.significant && g.Requirement():
		out.Reason += ", which is within the limit"
	case !g.significant:
		out.Reason += ", which is beyond the limit"
	case g.Requirement() && sure:
		out.Reason += fmt.Sprintf(", and its %s bound is within the limit", bound)
	case g.Requirement():
		out.Reason += fmt.Sprintf(", and its %s bound is beyond the limit", bound)
	case sure:
		out.Reason += ", all of which is beyond the limit"
	default:
		out.Reason += fmt.Sprintf(", which is beyond the limit, but its %s bound is not", bound)
	}
}

// tally holds the counts from which a metric's figures are computed.
type tally struct {
	label orbench.Label
	all   *counts
	by    map[orbench.Category]*counts
}

// of returns the counts of a category. It makes them if needed.
func (t *tally) of(category orbench.Category) *counts {
	if t.by[category] == nil {
		t.by[category] = newCounts()
	}
	return t.by[category]
}

// categories lists the categories of the prompts.
func (t *tally) categories() string {
	var names []string
	for _, c := range slices.Sorted(maps.Keys(t.by)) {
		if c != "" {
			names = append(names, untrusted.Shorten(untrusted.Terminal(string(c)), maxCategory))
		}
	}
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > 20:
		return strings.Join(names[:20], ", ") + " and more"
	}
	return strings.Join(names, ", ")
}

// points returns a side's rate in percentage points, exactly. The side must
// have a verdict.
func (n *counts) points(side int) *big.Rat {
	return big.NewRat(100*int64(n.refused[side]), int64(n.n[side]))
}

// estimate returns the estimate of a side's rate. The side must have a verdict.
func (n *counts) estimate(side int, confidence float64) stats.Estimate {
	if n.clustered() {
		e, _ := stats.WilsonClustered(n.clusters[side].list(), confidence)
		return e
	}
	lo, hi := stats.Wilson(n.refused[side], n.n[side], confidence)
	return stats.Estimate{Value: float64(n.refused[side]) / float64(n.n[side]), Lo: lo, Hi: hi}
}

// lackingShare returns the share of prompts that lack a verdict, and names
// whose prompts they are: the shared ones, or those of the worse side.
func (n *counts) lackingShare(paired bool) (float64, string) {
	if paired {
		return share(n.excluded, n.excluded+n.n[base]), "shared"
	}
	b, c := share(n.lacking[base], n.lacking[base]+n.n[base]), share(n.lacking[candidate], n.lacking[candidate]+n.n[candidate])
	if b > c {
		return b, "base's"
	}
	return c, "candidate's"
}

func share(k, n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(k) / float64(n)
}
