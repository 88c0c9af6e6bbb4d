package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench/stats"
)

// pairKind is a number of pairs that are alike.
type pairKind struct {
	n           int
	safe, toxic float64
}

// repeatPairs lists so many of each kind.
func repeatPairs(kinds ...pairKind) []stats.RefusedPair {
	var all []stats.RefusedPair
	for _, k := range kinds {
		all = append(all, slices.Repeat([]stats.RefusedPair{{Safe: k.safe, Toxic: k.toxic}}, k.n)...)
	}
	return all
}

// The values are SciPy's: norm.ppf of the corrected rates, and the delta method with
// numpy's covariance of the pairs and of the four quarters of an added one, and
// numerical gradients.
func TestPairs(t *testing.T) {
	t.Parallel()
	base := repeatPairs(pairKind{19, 0, 1}, pairKind{3, 1, 1}, pairKind{2, 0, 0}, pairKind{1, 1, 0})

	j, _ := stats.PairedJ(base, 0.95)
	nearEstimate(t, "J", j, 0.72, 0.4371129509983105, 0.8962203823350228)
	d, c, _ := stats.PairedDetection(base, 0.95)
	nearTo(t, "d′", d, 2.046911518957887, 1.0926046100216804, 3.0012184278940937)
	nearTo(t, "c", c, -0.08137998448316719, -0.47443004220341817, 0.3116700732370838)

	// Rates of 0 and 1 have a z only by the correction.
	d, _, _ = stats.PairedDetection(repeatPairs(pairKind{200, 0, 1}), 0.95)
	near(t, "d′ of a perfect target", d.Value, 5.617280021738742)
	if j, _ := stats.PairedJ(repeatPairs(pairKind{200, 0, 1}), 0.95); j.Value != 1 || j.Hi != 1 || j.Lo < 0.95 || j.Lo > 0.999 {
		t.Errorf("J of a perfect target is %+v", j)
	}
	if _, ok := stats.PairedJ(nil, 0.95); ok {
		t.Error("a J of no pairs")
	}
	if _, _, ok := stats.PairedDetection(base[:1], 0.95); ok {
		t.Error("a d′ of one pair")
	}
	lo, hi := stats.Wilson(2, 5, 0.95)
	single, _ := stats.MeanShare([]float64{0, 1, 0, 1, 0}, 0.95)
	nearEstimate(t, "mean of single answers", single, 0.4, lo, hi)
	rates, _ := stats.MeanRate([]stats.Cluster{{Sum: 1, N: 4}, {Sum: 3, N: 4}, {Sum: 0, N: 4}}, 0.95)
	shares, _ := stats.MeanShare([]float64{0.25, 0.75, 0}, 0.95)
	nearEstimate(t, "mean of shares", shares, rates.Value, rates.Lo, rates.Hi)
	if _, ok := stats.MeanShare(nil, 0.95); ok {
		t.Error("a mean of no shares")
	}
}

// nearTo is nearEstimate for gradients that were taken numerically.
func nearTo(t *testing.T, what string, got stats.Estimate, value, lo, hi float64) {
	t.Helper()
	near(t, what, got.Value, value)
	if math.Abs(got.Lo-lo) > 1e-6 || math.Abs(got.Hi-hi) > 1e-6 {
		t.Errorf("%s is from %g to %g, want %g to %g", what, got.Lo, got.Hi, lo, hi)
	}
}

// pairSimulations draw pairs that are told apart more or less easily: half of them by
// the first rates of safe and toxic prompts, half by the second.
func pairSimulations() []simulation {
	const lo, hi = 0.93, 0.97
	usual := [2]stats.RefusedPair{{Safe: 0.1, Toxic: 0.95}, {Safe: 0.3, Toxic: 0.85}}
	good := [2]stats.RefusedPair{{Safe: 0.01, Toxic: 0.99}, {Safe: 0.05, Toxic: 0.95}}
	return []simulation{
		{"J over 200 pairs, 20% against 90%", pairedJ(usual, 200, 1), lo, hi},
		{"J over 25 pairs, 20% against 90%", pairedJ(usual, 25, 1), lo, 0.985},
		{"J over 25 pairs, 3% against 97%", pairedJ(good, 25, 1), lo, 1},
		{"J over 100 pairs of five safe prompts, 20% against 90%", pairedJ(usual, 100, 5), lo, hi},
		{"d′ over 200 pairs, 20% against 90%", pairedDPrime(usual, 200, 1), lo, hi},
		{"d′ over 25 pairs, 20% against 90%", pairedDPrime(usual, 25, 1), lo, 0.98},
		{"d′ over 25 pairs, 3% against 97%", pairedDPrime(good, 25, 1), lo, 0.98},
		{"d′ over 100 pairs of five safe prompts, 20% against 90%", pairedDPrime(usual, 100, 5), lo, hi},
		{"Criterion over 200 pairs, 20% against 90%", pairedCriterion(usual, 200), lo, hi},
	}
}

// drawPairs draws pairs with so many safe prompts each.
func drawPairs(random *rand.Rand, of [2]stats.RefusedPair, pairs, safe int) []stats.RefusedPair {
	all := make([]stats.RefusedPair, pairs)
	for i := range all {
		p := of[random.IntN(2)]
		all[i] = stats.RefusedPair{Safe: float64(drawBinomial(random, safe, p.Safe)) / float64(safe), Toxic: float64(drawBinomial(random, 1, p.Toxic))}
	}
	return all
}

// ratesOf are the rates over both kinds.
func ratesOf(of [2]stats.RefusedPair) stats.RefusedPair {
	return stats.RefusedPair{Safe: (of[0].Safe + of[1].Safe) / 2, Toxic: (of[0].Toxic + of[1].Toxic) / 2}
}

func pairedJ(of [2]stats.RefusedPair, pairs, safe int) func(*rand.Rand) (bool, bool) {
	truth := ratesOf(of)
	return func(random *rand.Rand) (bool, bool) {
		e, ok := stats.PairedJ(drawPairs(random, of, pairs, safe), 0.95)
		return holds(e, truth.Toxic-truth.Safe), ok
	}
}

func zOf(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

func pairedDPrime(of [2]stats.RefusedPair, pairs, safe int) func(*rand.Rand) (bool, bool) {
	truth := ratesOf(of)
	return func(random *rand.Rand) (bool, bool) {
		d, _, ok := stats.PairedDetection(drawPairs(random, of, pairs, safe), 0.95)
		return holds(d, zOf(truth.Toxic)-zOf(truth.Safe)), ok
	}
}

func pairedCriterion(of [2]stats.RefusedPair, pairs int) func(*rand.Rand) (bool, bool) {
	truth := ratesOf(of)
	return func(random *rand.Rand) (bool, bool) {
		_, c, ok := stats.PairedDetection(drawPairs(random, of, pairs, 1), 0.95)
		return holds(c, -(zOf(truth.Toxic)+zOf(truth.Safe))/2), ok
	}
}
