package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench/stats"
)

// By hand: of the nine pairs six are above and two are ties; the variance is 0.0216 for
// either side, as that of four prompts, and of 0.83 with t of two degrees of freedom.
func TestAUC(t *testing.T) {
	t.Parallel()
	a, ok := stats.AUC(alone([]float64{1, 2, 3}, []float64{2, 3, 4}), 0.95)
	if !ok || math.Abs(a.Value-7.0/9) > 1e-12 || math.Abs(a.Lo-0.1086) > 1e-4 || math.Abs(a.Hi-0.9902) > 1e-4 {
		t.Errorf("AUC %+v, %v; want 7/9", a, ok)
	}
	if a, ok = stats.AUC(alone([]float64{1, 2}, []float64{3, 4}), 0.95); !ok || a.Value != 1 || !(a.Lo < 1) {
		t.Errorf("apart: %+v", a)
	}
	if a, ok = stats.AUC(alone([]float64{5, 5}, []float64{5}), 0.95); !ok || a.Value != 0.5 {
		t.Errorf("all alike: %+v", a)
	}
	if a, ok = stats.AUC(alone([]float64{5}, []float64{4, 5, 6}), 0.95); !ok || a.Value != 0.5 || a.Lo > 0.1 || a.Hi < 0.9 {
		t.Errorf("one safe prompt: %+v", a)
	}
	if _, ok = stats.AUC(alone(nil, []float64{1}), 0.95); ok {
		t.Error("an area without safe prompts")
	}
}

// alone puts each score into a cluster of its own.
func alone(safe, toxic []float64) []stats.PairScores {
	var all []stats.PairScores
	for _, s := range safe {
		all = append(all, stats.PairScores{Safe: []float64{s}})
	}
	for _, s := range toxic {
		all = append(all, stats.PairScores{Toxic: []float64{s}})
	}
	return all
}

// Scores that are there three times over, as samples of one prompt, tell what they tell
// once; and the interval of clusters holds the truth as often as it says, where that of
// independent prompts does not.
func TestAUCOfClusters(t *testing.T) {
	t.Parallel()
	once := alone([]float64{1, 2, 3, 4}, []float64{2, 3, 4, 6, 7})
	thrice := make([]stats.PairScores, len(once))
	for i, c := range once {
		thrice[i] = stats.PairScores{Safe: slices.Repeat(c.Safe, 3), Toxic: slices.Repeat(c.Toxic, 3)}
	}
	a, _ := stats.AUC(once, 0.95)
	if b, ok := stats.AUC(thrice, 0.95); !ok || math.Abs(a.Value-b.Value) > 1e-12 || math.Abs(a.Lo-b.Lo) > 1e-9 || math.Abs(a.Hi-b.Hi) > 1e-9 {
		t.Errorf("once %+v, thrice %+v", a, b)
	}

	// Toxic scores are one standard deviation higher; half of the variance is that of
	// the cluster, all of which is of one side.
	truth := distuv.UnitNormal.CDF(1 / math.Sqrt2)
	const seed, trials, clusters, each = 7, 400, 30, 4
	random := rand.New(rand.NewPCG(seed, 0))
	clustered, independent := 0, 0
	for range trials {
		var all []stats.PairScores
		var safe, toxic []float64
		for i := range clusters {
			var c stats.PairScores
			shared := random.NormFloat64()
			for range each {
				score := (shared + random.NormFloat64()) / math.Sqrt2
				if i%2 == 0 {
					c.Safe = append(c.Safe, score)
				} else {
					c.Toxic = append(c.Toxic, score+1)
				}
			}
			all = append(all, c)
			safe, toxic = append(safe, c.Safe...), append(toxic, c.Toxic...)
		}
		holds := func(e stats.Estimate, _ bool) int {
			if e.Lo <= truth && truth <= e.Hi {
				return 1
			}
			return 0
		}
		clustered += holds(stats.AUC(all, 0.95))
		independent += holds(stats.AUC(alone(safe, toxic), 0.95))
	}
	if clustered < 370 || independent > 345 {
		t.Errorf("seed %d: of %d intervals %d of clusters and %d of prompts hold the truth", seed, trials, clustered, independent)
	}
	t.Logf("seed %d: of %d intervals %d of clusters and %d of prompts hold the truth", seed, trials, clustered, independent)
}
