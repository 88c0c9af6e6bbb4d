package stats_test

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

// TestPredictSum holds prediction intervals to SciPy 1.12 (stats.t.ppf).
func TestPredictSum(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		size            int
		mean, deviation float64
		n               int
		sum, lo, hi     float64
	}{
		{40, 80.5, 31.25, 1000, 80500, 70307.84032778352, 90692.15967221648},
		{2, 10, 1, 3, 30, -4.79737477211421, 64.79737477211421},
		{200, 300, 0, 50, 15000, 15000, 15000},
		{5, 10, 2, 0, 0, 0, 0},
	} {
		e, ok := stats.PredictSum(tt.size, tt.mean, tt.deviation, tt.n, 0.95)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }
		if !ok || !near(e.Value, tt.sum) || !near(e.Lo, tt.lo) || !near(e.Hi, tt.hi) {
			t.Errorf("%+v: got %+v, %v", tt, e, ok)
		}
	}
	if _, ok := stats.PredictSum(1, 10, 0, 5, 0.95); ok {
		t.Error("of one value: an interval")
	}
}
