package table_test

import (
	"math"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

func TestCount(t *testing.T) {
	t.Parallel()
	tests := map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 80359: "80,359", 1234567: "1,234,567", -1234: "-1,234"}
	for n, want := range tests {
		if got := table.Count(n); got != want {
			t.Errorf("table.Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSigned(t *testing.T) {
	t.Parallel()
	tests := []struct {
		points float64
		sign   table.Sign
		want   string
	}{
		{2.14, table.Hyphen, "+2.1"},
		{-2.14, table.Hyphen, "-2.1"},
		{0.04, table.Hyphen, "0.0"},
		{-0.04, table.Minus, "0.0"},
		{-2.14, table.Minus, "−2.1"},
		{2.14, table.Minus, "+2.1"},
	}
	for _, tt := range tests {
		if got := table.Signed(tt.points, tt.sign); got != tt.want {
			t.Errorf("Signed(%v) = %q, want %q", tt.points, got, tt.want)
		}
	}
	d := stats.Estimate{Value: 0.021, Lo: -0.004, Hi: 0.046}
	if got := table.DifferenceInterval(&d, table.Hyphen); got != "-0.4 to +4.6" {
		t.Errorf("the interval is %q", got)
	}
}

// What rounds to zero has no sign, whatever shows it.
func TestZeroHasNoSign(t *testing.T) {
	t.Parallel()
	below := math.Copysign(1e-12, -1)
	of := &stats.Estimate{Value: below, Lo: -0.004, Hi: math.Copysign(0, -1)}
	for got, want := range map[string]string{
		table.Percent(below): "0.0%", table.PerCent(-0.04): "0.0", table.Interval(&[2]float64{below, 0.1}): "0.0–10.0",
		table.EstimateInterval(of): "-0.4–0.0", table.Fraction(-0.004): "0.00", table.KappaInterval(stats.Kappa{KappaCI95: &[2]float64{below, 0.8}}): "0.00–0.80",
		strings.Join(table.Fractions(of), " "): "0.00 0.00 to 0.00", table.Difference(of, table.Hyphen): "0.0", table.Percent(-0.051): "-5.1%", table.Whole(-0.4): "0",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A kappa below 0 has a minus, unlike the dash that follows.
func TestKappaInterval(t *testing.T) {
	t.Parallel()
	if got := table.KappaInterval(stats.Kappa{KappaCI95: &[2]float64{-0.07, 0.8}}); got != "−0.07–0.80" {
		t.Errorf("the interval is %q", got)
	}
}

// What is undefined is a dash for people.
func TestUndefined(t *testing.T) {
	t.Parallel()
	for name, got := range map[string]string{
		"rate": table.Rate(stats.Rate{}), "interval": table.Interval(nil), "estimate": table.Estimate(nil),
		"its interval": table.EstimateInterval(nil), "p": table.PValue(nil), "kappa": table.Kappa(nil),
		"difference": table.Difference(nil, table.Minus),
	} {
		if got != table.None {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestFailedCost(t *testing.T) {
	usd := 1.5
	for _, c := range []struct {
		failed, cutOff int
		usd            *float64
		want           string
	}{
		{0, 0, nil, ""},
		{1, 0, nil, ", and an unknown sum for 1 failed attempt"},
		{1, 0, &usd, ", and up to $1.5000 for 1 failed attempt"},
		{1200, 0, &usd, ", and up to $1.5000 for 1,200 failed attempts"},
		{0, 11, &usd, ", and up to $1.5000 for at most 11 calls that a kill cut off"},
		{2, 1, nil, ", and an unknown sum for 2 failed attempts and at most 1 call that a kill cut off"},
	} {
		if got := table.FailedCost(c.failed, c.cutOff, c.usd); got != c.want {
			t.Errorf("FailedCost(%d, %d) = %q, want %q", c.failed, c.cutOff, got, c.want)
		}
	}
}
