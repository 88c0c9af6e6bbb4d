package table

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// None stands for a figure that is undefined.
const None = "–"

// Percent shows a share, such as 0.127, as "12.7%".
func Percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + "%" }

// Rate shows a rate that may be undefined.
func Rate(r stats.Rate) string {
	if r.Share == nil {
		return None
	}
	return Percent(*r.Share)
}

// Interval shows the interval of a share in per cent, as "11.0–14.6".
func Interval(ci *[2]float64) string {
	if ci == nil {
		return None
	}
	return strconv.FormatFloat(100*ci[0], 'f', 1, 64) + "–" + strconv.FormatFloat(100*ci[1], 'f', 1, 64)
}

// Estimate shows an estimated share that may be undefined.
func Estimate(e *stats.Estimate) string {
	if e == nil {
		return None
	}
	return Percent(e.Value)
}

// EstimateInterval shows the interval of an estimated share.
func EstimateInterval(e *stats.Estimate) string { return Interval(e.Ends()) }

// Unknown stands for a rate that is not known, beside rates in per cent.
const Unknown = -1.0

// PerCent shows a rate in per cent, Unknown too, to one decimal. A half is rounded
// up as people do where its binary form lies a little below.
func PerCent(v float64) string {
	if v == Unknown {
		return None
	}
	return strconv.FormatFloat(v+1e-9, 'f', 1, 64)
}

// Money is a sum in US dollars. One that is too small to be shown is not shown as nothing.
func Money(usd float64) string {
	if usd > 0 && usd < 0.0001 {
		return "less than $0.0001"
	}
	return "$" + strconv.FormatFloat(usd, 'f', 4, 64)
}

// Price is a sum in US dollars that is nil where it is unknown, as that of models without a
// price is.
func Price(usd *float64, unpriced []string) string {
	switch {
	case usd != nil:
		return Money(*usd)
	case len(unpriced) > 0:
		return "price unknown, as there is none for " + untrusted.Terminal(strings.Join(unpriced, ", "))
	}
	return "price unknown"
}

// FailedCost says what failed attempts may have cost, to follow what answers did cost; it
// is empty where there are none. The sum is nil where a price is unknown.
func FailedCost(attempts int, usd *float64) string {
	switch {
	case attempts == 0:
		return ""
	case usd == nil:
		return ", and an unknown sum for " + Counted(attempts, "failed attempt", "failed attempts")
	}
	return ", and up to " + strings.TrimPrefix(Money(*usd), "less than ") + " for " + Counted(attempts, "failed attempt", "failed attempts")
}

// Count shows a number with its thousands parted.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted is a number with what it counts, called one where it is 1.
func Counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return Count(n) + " " + many
}

// Sign is how signed points are marked.
type Sign struct{ plus, minus string }

// The ways of marking signed points. Hyphen can be pasted into a spreadsheet and
// into a gate of orbench compare.
var (
	Hyphen    = Sign{"+", "-"}
	Minus     = Sign{"+", "−"}
	MinusOnly = Sign{"", "−"}
)

// Signed shows percentage points to one decimal with their sign; what rounds to
// zero has none.
func Signed(points float64, sign Sign) string {
	s := strconv.FormatFloat(math.Abs(points), 'f', 1, 64)
	switch {
	case s == "0.0":
		return s
	case points < 0:
		return sign.minus + s
	}
	return sign.plus + s
}

// Difference shows a difference of shares, which may be undefined, in percentage
// points.
func Difference(d *stats.Estimate, sign Sign) string {
	if d == nil {
		return None
	}
	return Signed(100*d.Value, sign)
}

// DifferenceInterval shows the interval of a difference, as "-0.4 to +4.6".
func DifferenceInterval(d *stats.Estimate, sign Sign) string {
	if d == nil {
		return None
	}
	return Signed(100*d.Lo, sign) + " to " + Signed(100*d.Hi, sign)
}

// PValue shows a p-value that may be undefined.
func PValue(p *float64) string {
	switch {
	case p == nil:
		return None
	case *p < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}

// Fraction shows a number from -1 to 1 to two decimals.
func Fraction(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'f', 2, 64), "-", "−", 1)
}

// Kappa shows a kappa to two decimals, which is undefined where all verdicts are
// alike.
func Kappa(k *float64) string {
	if k == nil {
		return None
	}
	return Fraction(*k)
}

// KappaInterval shows the interval of a kappa, that of clusters where there is one, as
// "0.81–0.90".
func KappaInterval(k stats.Kappa) string {
	ci := cmp.Or(k.KappaCI95Clustered, k.KappaCI95)
	if ci == nil {
		return None
	}
	return Kappa(&ci[0]) + "–" + Kappa(&ci[1])
}

// MeasureInterval shows the interval of a measure, as "0.880–0.937".
func MeasureInterval(ci *[2]float64) string {
	if ci == nil {
		return None
	}
	return Measure(&ci[0]) + "–" + Measure(&ci[1])
}

// Measure shows a measure from 0 to 1, which may be undefined, to three decimals.
func Measure(v *float64) string {
	if v == nil {
		return None
	}
	return strconv.FormatFloat(*v, 'f', 3, 64)
}

// Term is a part of a sum.
type Term struct {
	N    int
	What string
}

// Sum writes a sum out without its zeros but the first term.
func Sum(terms ...Term) string {
	var parts []string
	for i, t := range terms {
		if t.N > 0 || i == 0 {
			parts = append(parts, Count(t.N)+" "+t.What)
		}
	}
	return strings.Join(parts, " + ")
}
