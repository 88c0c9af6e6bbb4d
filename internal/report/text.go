package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
)

// clean makes hostile text fit for one line of a terminal or a plot: white space
// becomes spaces, and control and formatting characters (escape sequences,
// changes of writing direction, zero-width marks) and broken UTF-8 are dropped.
func clean(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		}
		return r
	}, s)
}

// cells is how many columns of a terminal a cleaned text takes.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// pad fills s with spaces to n columns, before it when right is true.
func pad(s string, n int, right bool) string {
	fill := strings.Repeat(" ", max(0, n-cells(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// shorten cuts the middle out of a text of more than n columns, n at least 1. The two ends of
// a model's name tell most: the provider and the size or date.
func shorten(s string, n int) string {
	if cells(s) <= n {
		return s
	}
	runes := []rune(s)
	i, j := 0, len(runes)
	head, tail := 0, 0
	for {
		// The shorter end grows by a character, until the next one has no room.
		next := runes[i]
		if head > tail {
			next = runes[j-1]
		}
		w := runeCells(next)
		if head+tail+w+1 > n {
			return string(runes[:i]) + "…" + string(runes[j:])
		}
		if head > tail {
			j, tail = j-1, tail+w
		} else {
			i, head = i+1, head+w
		}
	}
}

// cut ends a text after at most n bytes, at a rune's edge. The result shares no
// memory with s, so that keeping it does not keep s.
func cut(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	return strings.Clone(s[:edge(s, n)]), true
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
	short, _ := cut(sha, 8)
	return short
}

// datasetName names a run's dataset with its hash and its limit.
func datasetName(r evaluate.RunResult) string {
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
func runTarget(r evaluate.RunResult) string {
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
	return "Refusal of " + clean(string(l)) + " prompts, which counts towards neither side"
}

// simulatedNotice heads every output that holds simulated figures.
const simulatedNotice = "SIMULATED: figures marked so come from simulated models. They say nothing about any real one."

// costLine says in one line what a command spent. An unknown price is said to be
// unknown and is never shown as a sum.
func costLine(c evaluate.Cost) string {
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
			names[i] = clean(u)
		}
		return s + "price unknown, as there is none for " + strings.Join(names, ", ") + "."
	}
	return s + "price unknown."
}
