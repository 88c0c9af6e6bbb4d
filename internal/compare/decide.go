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

// leastClusters is how many clusters of one size an alarm needs to be decided by
// their test: with fewer it is not significant even if all prompts flip.
const leastClusters = 7

// decide applies a gate to the counts of its metric.
func (r *Result) decide(g Gate, of *tally, out *GateResult) {
	n, what := of.all, string(of.label)
	if g.category != "" {
		what += " " + string(g.category)
		if n = of.by[g.category]; n == nil {
			out.Reason = fmt.Sprintf("there is no %s prompt of the category %q; there are %s", of.label, g.category, of.categories())
			return
		}
	}
	difference, ok := n.difference(r.Paired, 1-alpha)
	if !ok {
		out.Reason = fmt.Sprintf("no %s prompt has a verdict on both sides", what)
		return
	}
	// Rates are ratios of counts. A difference of exactly 2 points is not above
	// 2pp, even if it is in floating-point numbers.
	figure, points := difference.Estimate, n.points(candidate)
	if g.ofRate {
		figure = n.estimate(candidate, 1-alpha)
	} else {
		points.Sub(points, n.points(base))
	}
	if share, side := n.lackingShare(r.Paired); share > mostExcluded {
		out.Reason = fmt.Sprintf("%.1f%% of the %s %s prompts lack a verdict; at most %.1f%% may", 100*share, side, what, 100*mostExcluded)
		return
	}
	detectable := stats.Detectable(figure, 1-alpha, power)
	out.Figure, out.Detectable = &figure, &detectable
	if g.Requirement() || g.ofRate {
		r.decideByInterval(g, points, out)
	} else {
		r.decideByTest(g, points, difference.P, n, out)
	}
}

// decideByTest decides an alarm on a difference that needs a significant test.
func (r *Result) decideByTest(g Gate, points *big.Rat, p float64, n *counts, out *GateResult) {
	out.Reason = fmt.Sprintf("the difference is %+.1f points (p = %.2g)", 100*out.Figure.Value, p)
	switch {
	case !g.holds(points):
		out.Status = Passed
	case !g.significant:
		out.Status = Tripped
	case p < alpha:
		out.Status = Tripped
		out.Reason += ", which is significant"
	case r.Paired && n.clustered() && n.pairs.Clusters() < leastClusters:
		out.Status = Undecided
		out.Reason += fmt.Sprintf(", which is beyond the limit but not significant with only %s", table.Counted(n.pairs.Clusters(), "cluster of prompts", "clusters of prompts"))
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

// points returns a side's rate in percentage points, exactly for single answers.
// The side must have a verdict.
func (n *counts) points(side int) *big.Rat {
	p := new(big.Rat).SetFloat64(100 * n.refused[side])
	return p.Quo(p, big.NewRat(int64(n.sizes[side]), 1))
}

// estimate returns the estimate of a side's rate. The side must have a verdict.
func (n *counts) estimate(side int, confidence float64) stats.Estimate {
	value := n.refused[side] / float64(n.sizes[side])
	if n.apart() {
		lo, hi := stats.Wilson(int(n.refused[side]), n.sizes[side], confidence)
		return stats.Estimate{Value: value, Lo: lo, Hi: hi}
	}
	of := stats.WilsonClustered
	if !n.clustered() {
		of = stats.MeanRate
	}
	e, _ := of(n.clusters[side].list(), confidence)
	return stats.Estimate{Value: value, Lo: min(value, e.Lo), Hi: max(value, e.Hi)}
}

// lackingShare returns the share of prompts that lack a verdict, and names
// whose prompts they are: the shared ones, or those of the worse side.
func (n *counts) lackingShare(paired bool) (float64, string) {
	if paired {
		return share(n.excluded, n.excluded+n.sizes[base]), "shared"
	}
	b, c := share(n.lacking[base], n.lacking[base]+n.sizes[base]), share(n.lacking[candidate], n.lacking[candidate]+n.sizes[candidate])
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
