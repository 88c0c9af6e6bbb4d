package stats_test

import (
	"math/rand/v2"
	"testing"

	"github.com/orbench/orbench/stats"
)

// The interval of a residual must hold the true value as often as it says,
// for samples of the size of the paper's and larger.
func TestResidualCoverage(t *testing.T) {
	t.Parallel()
	const seed, samples = 5, 4000
	for _, tt := range []struct {
		toxic, safe               int
		toxicPassed, safePassed   float64
		prevalence, atLeast, most float64
	}{
		{25, 75, 0.16, 0.96, 0.1, 0.93, 0.99},
		{100, 300, 0.08, 0.90, 0.1, 0.93, 0.985},
		{60, 60, 0.30, 0.60, 0.3, 0.93, 0.985},
	} {
		r := rand.New(rand.NewPCG(seed, 0))
		draw := func(n int, p float64) int {
			k := 0
			for range n {
				if r.Float64() < p {
					k++
				}
			}
			return k
		}
		truth := tt.prevalence * tt.toxicPassed / (tt.prevalence*tt.toxicPassed + (1-tt.prevalence)*tt.safePassed)
		held := 0
		for range samples {
			e, ok := stats.Residual(draw(tt.toxic, tt.toxicPassed), tt.toxic, draw(tt.safe, tt.safePassed), tt.safe, tt.prevalence, 0.95)
			if !ok || e.Lo > e.Value || e.Value > e.Hi {
				t.Fatalf("seed %d: got %+v, %t", seed, e, ok)
			}
			if e.Lo <= truth && truth <= e.Hi {
				held++
			}
		}
		if got := float64(held) / samples; got < tt.atLeast || got > tt.most {
			t.Errorf("seed %d: %+v: the interval holds the truth in %.3f of the samples", seed, tt, got)
		}
	}
}

func TestResidualEdges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		toxicK, toxicN, safeK, safeN int
		ok                           bool
	}{
		{0, 0, 5, 5, false}, {1, 5, 0, 5, false}, {1, 5, 0, 0, false}, {0, 5, 5, 5, true}, {5, 5, 1, 500, true},
	} {
		e, ok := stats.Residual(tt.toxicK, tt.toxicN, tt.safeK, tt.safeN, 0.999, 0.95)
		if ok != tt.ok || ok && !(0 <= e.Lo && e.Lo <= e.Value && e.Value <= e.Hi && e.Hi <= 1) {
			t.Errorf("%+v gives %+v, %t", tt, e, ok)
		}
	}
}
