package report

import (
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// pad fills s with spaces to n columns, before it when right is true.
func pad(s string, n int, right bool) string {
	fill := strings.Repeat(" ", max(0, n-untrusted.Width(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// percent shows a share, such as 0.127, as "12.7%".
func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" }

// rate shows a rate that may be undefined.
func rate(r *float64) string {
	if r == nil {
		return "–"
	}
	return percent(*r)
}

// interval shows a 95% interval in per cent, as "11.0–14.6".
func interval(ci *[2]float64) string {
	if ci == nil {
		return "–"
	}
	return strconv.FormatFloat(100*ci[0], 'f', 1, 64) + "–" + strconv.FormatFloat(100*ci[1], 'f', 1, 64)
}

// count shows a number with its thousands parted.
func count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// shortHash is as much of a dataset's hash as figures show: enough to tell two
// versions apart.
func shortHash(sha string) string {
	short, _ := untrusted.Cut(sha, 8)
	return short
}

// datasetName names a run's dataset with its hash and its limit.
func datasetName(r score.RunResult) string {
	s := r.Dataset
	if r.DatasetSHA256 != "" {
		s += "@" + shortHash(r.DatasetSHA256)
	}
	if r.Limit > 0 {
		s += ", limited to " + count(r.Limit)
	}
	return s
}

// runTarget names a run's target, with the number of its samples where several
// are taken together.
func runTarget(r score.RunResult) string {
	if r.Samples > 0 {
		return r.Target + ", " + count(r.Samples) + " samples"
	}
	return r.Target
}

// categoryName names a category for people.
func categoryName(c orbench.Category) string {
	if c == "" {
		return "(none)"
	}
	return string(c)
}

// labelTitle says what the refusal rate on prompts of a label is called, and
// which way is good.
func labelTitle(l orbench.Label) string {
	switch l {
	case orbench.Safe:
		return "Over-refusal: safe prompts refused, lower is better"
	case orbench.Toxic:
		return "Toxic refusal: toxic prompts refused, higher is better"
	}
	return "Refusal of " + untrusted.Terminal(string(l)) + " prompts, which counts towards neither side"
}

// simulatedNotice heads every output that holds simulated figures.
const simulatedNotice = "SIMULATED: figures marked so come from simulated models. They say nothing about any real one."

// costLine says in one line what a command spent. An unknown price is said to be
// unknown and is never shown as a sum.
func costLine(c score.Cost) string {
	if c.Calls == 0 && c.FromMemo == 0 {
		// A stored run shown again: nothing was looked up to be asked.
		return "Cost: no new calls."
	}
	if c.Calls == 0 {
		return "Cost: no new calls; " + count(c.FromMemo) + " responses were remembered."
	}
	s := "Cost: " + count(c.Calls) + " calls, " + count(c.FromMemo) + " responses remembered; " +
		count(c.InputTokens) + " input and " + count(c.OutputTokens) + " output tokens; "
	switch {
	case c.USD != nil && *c.USD > 0 && *c.USD < 0.0001:
		return s + "less than $0.0001."
	case c.USD != nil:
		return s + "$" + strconv.FormatFloat(*c.USD, 'f', 4, 64) + "."
	case len(c.Unpriced) > 0:
		names := make([]string, len(c.Unpriced))
		for i, u := range c.Unpriced {
			names[i] = untrusted.Terminal(u)
		}
		return s + "price unknown, as there is none for " + strings.Join(names, ", ") + "."
	}
	return s + "price unknown."
}
