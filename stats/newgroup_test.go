package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench/stats"
)

// TestPredictGroups draws groups, predicts one more from them, and asks how often the
// prediction holds that one.
func TestPredictGroups(t *testing.T) {
	t.Parallel()
	const runs, seed = 400, 1
	for _, c := range []struct {
		groups, cases       int
		mean, slope, spread float64
	}{{6, 60, 2, 0, 0.7}, {12, 60, 2.5, 0.5, 0.7}, {30, 25, 1.5, 0, 1}, {12, 200, 4, 0, 0.5}} {
		random := rand.New(rand.NewPCG(seed, 0))
		share := func(at float64) float64 {
			return 1 / (1 + math.Exp(-(c.mean + c.slope*at + c.spread*random.NormFloat64())))
		}
		held := 0
		for range runs {
			groups := make([]stats.Trials, c.groups)
			for i := range groups {
				at := 0.0
				if c.slope != 0 {
					at = random.NormFloat64()
				}
				groups[i] = stats.Trials{Successes: int(distuv.Binomial{N: float64(c.cases), P: share(at), Src: random}.Rand()), N: c.cases, At: at}
			}
			g, ok := stats.PredictGroups(groups)
			if !ok {
				t.Fatal("no prediction")
			}
			at := 0.3 * c.slope
			if e, truth := g.New(at).Estimate(0.95), share(at); e.Lo <= truth && truth <= e.Hi {
				held++
			}
		}
		t.Logf("seed %d: %+v: held in %.3f of %d", seed, c, float64(held)/runs, runs)
		if coverage := float64(held) / runs; coverage < 0.92 {
			t.Errorf("%+v: held in %.3f of the runs", c, coverage)
		}
	}
}

func TestPredictGroupsEnds(t *testing.T) {
	t.Parallel()
	if _, ok := stats.PredictGroups(make([]stats.Trials, 9)); ok {
		t.Error("groups without cases predict something")
	}
	groups := []stats.Trials{{9, 10, 0}, {18, 20, 0}, {27, 30, 0}, {9, 10, 0}, {8, 10, 0}}
	began := time.Now()
	g, ok := stats.PredictGroups(groups)
	e := g.New(0).Estimate(0.95)
	if !ok || !(e.Lo < 0.85 && e.Lo > 0.5 && e.Value > 0.85 && e.Value < 0.95 && e.Hi > 0.95) {
		t.Errorf("nine of ten in five groups predict %+v, in %v", e, time.Since(began))
	}
	// What lies beyond the groups is predicted as at the last of them.
	if far := g.New(100).Estimate(0.95); far != e {
		t.Errorf("far off %+v, at the groups %+v", far, e)
	}
}

// TestCarrier works ends out by hand: with groups that are all alike and large, the
// judge is nearly known, and the range is that of the judge's rate.
func TestCarrier(t *testing.T) {
	t.Parallel()
	alike := func(successes int) *stats.NewGroup {
		var groups []stats.Trials
		for range 40 {
			groups = append(groups, stats.Trials{Successes: successes, N: 10000})
		}
		g, _ := stats.PredictGroups(groups)
		return g.New(0)
	}
	recall, specificity := alike(9000), alike(9800)
	for _, c := range []struct{ value, lo, hi, wantLo, wantHi, tolerance float64 }{
		{0.4, 0.35, 0.45, (0.35 - 0.02) / 0.88, (0.45 - 0.02) / 0.88, 0.05},
		{0.01, 0.008, 0.013, 0, 0.01, 0.01},
		{0.95, 0.93, 0.96, 0.95, 1, 0.05},
		{0, 0, 0.001, 0, 0.001, 0.01},
	} {
		i := stats.NewCarrier(recall, specificity).Rate(stats.Estimate{Value: c.value, Lo: c.lo, Hi: c.hi}, 0.95)
		if math.Abs(i.Lo-c.wantLo) > c.tolerance || math.Abs(i.Hi-c.wantHi) > c.tolerance || i.Lo > c.value || i.Hi < c.value {
			t.Errorf("%+v is carried to %+v", c, i)
		}
	}
}
