package stats_test

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench/stats"
)

// simulation draws data of which the truth is known, again and again, and counts
// how often a 95% interval holds that truth.
type simulation struct {
	name string
	// cover draws once and reports whether the interval held the truth, and
	// whether there was an interval.
	cover func(*rand.Rand) (held, ok bool)
	// lo and hi bound the share of intervals that hold it, as
	// docs/statistics.md gives it.
	lo, hi float64
}

// TestCoverage simulates runs and counts how often the 95% intervals hold the
// truth. It logs the figures of docs/statistics.md. ORBENCH_LONG=1 draws 1,000
// runs of each kind, with bounds as much wider as chance makes them, and
// ORBENCH_LONG=2 draws 10,000.
func TestCoverage(t *testing.T) {
	t.Parallel()
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	runs, slack := 1000, 0.015
	if os.Getenv("ORBENCH_LONG") == "2" {
		runs, slack = 10000, 0
	}
	for i, s := range append(simulations(), pairSimulations()...) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			held, defined := simulate(s, runs, uint64(i))
			share := float64(held) / float64(defined)
			t.Logf("%-60s %.1f%% of %d", s.name, 100*share, defined)
			if !(share >= s.lo-slack && share <= s.hi+slack) {
				t.Errorf("seed %d: the intervals held the truth in %.2f%% of %d runs, want %.0f%% to %.0f%%", i, 100*share, defined, 100*s.lo, 100*s.hi)
			}
		})
	}
}

// TestCorrelationCoverage counts how often the intervals of correlations over six models hold the
// truth: no report has them over fewer.
func TestCorrelationCoverage(t *testing.T) {
	t.Parallel()
	if os.Getenv("ORBENCH_LONG") != "2" {
		t.Skip("a long proof: make test-long runs it")
	}
	const runs, models = 4000, 6
	for _, rho := range []float64{0, 0.6, 0.9} {
		random := rand.New(rand.NewPCG(6, uint64(10*rho)))
		of := []struct {
			name          string
			measure       stats.Correlation
			truth         float64
			held, defined int
		}{
			{"Spearman", stats.Spearman, 6 / math.Pi * math.Asin(rho/2), 0, 0},
			{"Pearson", stats.Pearson, rho, 0, 0},
			{"Kendall", stats.KendallTauB, 2 / math.Pi * math.Asin(rho), 0, 0},
		}
		for range runs {
			var x, y [models]float64
			for i := range x {
				x[i] = random.NormFloat64()
				y[i] = rho*x[i] + math.Sqrt(1-rho*rho)*random.NormFloat64()
			}
			for i := range of {
				if e, ok := (stats.Bootstrap{Seed: 7}).Correlation(x[:], y[:], of[i].measure); ok {
					of[i].defined++
					if e.Lo <= of[i].truth && of[i].truth <= e.Hi {
						of[i].held++
					}
				}
			}
		}
		for _, c := range of {
			if share := float64(c.held) / float64(c.defined); share < 0.95 {
				t.Errorf("%s, a correlation of %g, seed 6: held in %.3f of %d", c.name, rho, share, c.defined)
			} else {
				t.Logf("%s, a correlation of %g: held in %.3f of %d", c.name, rho, share, c.defined)
			}
		}
	}
}

// simulate draws in two halves at once, each with a seed of its own.
func simulate(s simulation, runs int, seed uint64) (held, defined int) {
	var wait sync.WaitGroup
	var counts [2][2]int
	for half := range counts {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(half)))
			for range runs / len(counts) {
				h, ok := s.cover(random)
				if ok {
					counts[half][1]++
				}
				if h && ok {
					counts[half][0]++
				}
			}
		})
	}
	wait.Wait()
	return counts[0][0] + counts[1][0], counts[0][1] + counts[1][1]
}

func simulations() []simulation {
	const lo, hi = 0.93, 0.97
	return []simulation{
		{"Wilson, 13% of 1,319", wilson(0.13, 1319), lo, hi},
		{"Wilson, 96% of 655", wilson(0.96, 655), lo, hi},
		{"Wilson, 50% of 100", wilson(0.5, 100), lo, hi},
		{"Wilson, 2% of 520", wilson(0.02, 520), lo, hi},
		{"Wilson, 0.9% of 80,359", wilson(0.009, 80359), lo, hi},
		{"Wilson, 0.3% of 655 (two expected)", wilson(0.003, 655), lo, 0.99},
		{"Newcombe, 13% and 16% of 1,319", newcombe(0.13, 1319, 0.16, 1319), lo, hi},
		{"Newcombe, 97% of 655 and 13% of 1,319 (Youden's J)", newcombe(0.97, 655, 0.13, 1319), lo, hi},
		{"Newcombe, 10% and 30% of 40", newcombe(0.1, 40, 0.3, 40), lo, hi},
		{"Ratio, 16% of 25 and 96% of 75", ratio(0.16, 25, 0.96, 75), lo, hi},
		{"Tango, flips 3% and 5% of 1,319", paired(0.03, 0.05, 1319, tango), lo, hi},
		{"Tango, flips 1% and 1% of 520", paired(0.01, 0.01, 520, tango), lo, hi},
		{"Tango, flips 2% and 4% of 100", paired(0.02, 0.04, 100, tango), lo, hi},
		{"Tango, flips 0% and 3% of 600", paired(0, 0.03, 600, tango), lo, hi},
		{"Tango, flips 1% and 3% of 80", paired(0.01, 0.03, 80, tango), lo, 0.985},
		{"Tango's lower end (97.5% wanted), flips 3% and 0% of 600", lowerEnd(0.03, 0, 600, tango), 0.97, 0.995},
		{"Tango's lower end (97.5% wanted), flips 5% and 2% of 600", lowerEnd(0.05, 0.02, 600, tango), 0.97, 0.985},
		{"Tango's lower end (97.5% wanted), flips 4% and 1% of 80", lowerEnd(0.04, 0.01, 80, tango), 0.97, 0.995},
		{"Detectable difference found, 80% wanted, flips 6% of 1,319", detectable(0.06, 1319, tango), 0.76, 0.86},
		{"Detectable difference found, 80% wanted, flips 10% of 200", detectable(0.1, 200, tango), 0.76, 0.9},
		{"Sum of 500 further answers' lengths, sample of 30", summed(30, 500), 0.92, hi},
		{"Cohen's kappa, 0.90, 13% refusals, 1,319 answers", kappa(1319, refusals(0.13, 0.9, 0.985)), lo, hi},
		{"Cohen's kappa, 0.65, 20% refusals, 200 answers", kappa(200, refusals(0.2, 0.75, 0.93)), lo, hi},
		{"Cohen's kappa, 0.65, 20% refusals, 50 answers", kappa(50, refusals(0.2, 0.75, 0.93)), lo, hi},
		{"Cohen's kappa, 0.96, half refusals, 100 answers", kappa(100, refusals(0.5, 0.98, 0.98)), lo, 0.99},
		{"Cohen's kappa, 0.00, half refusals, 100 answers", kappa(100, refusals(0.5, 0.5, 0.5)), lo, hi},
		{"Cohen's kappa, 0.64, 8% refusals, 100 answers", kappa(100, refusals(0.08, 0.65, 0.977)), lo, 0.98},
		{"Cohen's kappa, 0.64, 8% refusals, 600 answers", kappa(600, refusals(0.08, 0.65, 0.977)), lo, hi},
		{"Cohen's kappa, three labels, 150 prompts", kappa(150, [][]float64{{0.4, 0.05, 0.02}, {0.06, 0.25, 0.03}, {0.01, 0.03, 0.15}}), lo, hi},
		{"F1, 13% refusals, 1,319 answers", f1(1319, refusals(0.13, 0.9, 0.985)), lo, hi},
		{"F1, 20% refusals, 200 answers", f1(200, refusals(0.2, 0.75, 0.93)), lo, hi},
		{"F1, 20% refusals, 50 answers", f1(50, refusals(0.2, 0.75, 0.93)), lo, hi},
		{"F1, half refusals, 100 answers", f1(100, refusals(0.5, 0.98, 0.98)), lo, 0.98},
		{"Precision, 20% refusals, 200 answers", precision(200, refusals(0.2, 0.75, 0.93)), lo, hi},
		{"Recall, 20% refusals, 200 answers", recall(200, refusals(0.2, 0.75, 0.93)), lo, hi},
		{"Clustered Wilson, 13%, 260 clusters of 5, correlation 0.3", wilsonClustered(0.13, 260, 5, 0.3), lo, hi},
		{"Clustered Wilson, 13%, 1,000 clusters of 1 to 9, correlation 0.3", wilsonClustered(0.13, 1000, 0, 0.3), lo, hi},
		{"Clustered Wilson, 30%, 40 clusters of 5, correlation 0.3", wilsonClustered(0.3, 40, 5, 0.3), lo, hi},
		{"Clustered Wilson, 5%, 100 clusters of 5, correlation 0.3", wilsonClustered(0.05, 100, 5, 0.3), lo, hi},
		{"Clustered Wilson, 2%, 100 clusters of 5, correlation 0.3", wilsonClustered(0.02, 100, 5, 0.3), 0.92, hi},
		{"Clustered Wilson, 0.5%, 260 clusters of 5, correlation 0.3", wilsonClustered(0.005, 260, 5, 0.3), 0.91, hi},
		{"Wilson, ignoring 260 clusters of 5, correlation 0.3", ignoringClusters(0.13, 260, 5, 0.3), 0, 0.9},
		{"Pearson bootstrap, correlation 0.9, 32 points", correlated(stats.Pearson, 0.9, 0.9, 32), lo, hi},
		{"Spearman bootstrap, correlation 0.9, 32 points", correlated(stats.Spearman, 0.9, 6/math.Pi*math.Asin(0.45), 32), lo, 0.975},
		{"Spearman bootstrap, correlation 0.5, 32 points", correlated(stats.Spearman, 0.5, 6/math.Pi*math.Asin(0.25), 32), lo, hi},
		{"Kendall bootstrap, correlation 0.9, 32 points", correlated(stats.KendallTauB, 0.9, 2/math.Pi*math.Asin(0.9), 32), lo, 0.975},
		{"Kendall bootstrap, correlation 0.5, 32 points", correlated(stats.KendallTauB, 0.5, 2/math.Pi*math.Asin(0.5), 32), lo, hi},
		{"Clustered Spearman bootstrap, correlation 0.9, 12 families of 1 to 4", familyCorrelated(0.9, 12, true), 0.9, 0.98},
		{"Clustered Spearman bootstrap, correlation 0.5, 12 families of 1 to 4", familyCorrelated(0.5, 12, true), 0.88, hi},
		{"Spearman bootstrap, ignoring 12 families of 1 to 4, correlation 0.5", familyCorrelated(0.5, 12, false), 0, 0.9},
		{"Mean rate, 13%, 500 prompts asked 1 to 9 times, correlation 0.6", meanRate(0.13, 500, 0, 0.6), lo, hi},
		{"Mean rate, 5%, 100 prompts asked 5 times, correlation 0.6", meanRate(0.05, 100, 5, 0.6), lo, hi},
		{"Pearson bootstrap, correlation 0.5, 32 points", correlated(stats.Pearson, 0.5, 0.5, 32), lo, hi},
		{"Pearson bootstrap, correlation 0.9, 12 points", correlated(stats.Pearson, 0.9, 0.9, 12), lo, hi},
	}
}

func drawBinomial(random *rand.Rand, n int, p float64) int {
	return int(distuv.Binomial{N: float64(n), P: p, Src: random}.Rand())
}

func holds(e stats.Estimate, truth float64) bool { return e.Lo <= truth && truth <= e.Hi }

func wilson(p float64, n int) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		lo, hi := stats.Wilson(drawBinomial(random, n, p), n, 0.95)
		return lo <= p && p <= hi, true
	}
}

func newcombe(p float64, n int, q float64, m int) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		e, ok := stats.Newcombe(drawBinomial(random, n, p), n, drawBinomial(random, m, q), m, 0.95)
		return holds(e, p-q), ok
	}
}

func ratio(p float64, n int, q float64, m int) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		e, ok := stats.Ratio(drawBinomial(random, n, p), n, drawBinomial(random, m, q), m, 0.95)
		return holds(e, p/q), ok
	}
}

func tango(first, second, n int, _ uint64) (stats.Estimate, bool) {
	return stats.Tango(float64(first), float64(second), float64(n), 0.95)
}

// lowerEnd counts how often the lower end alone holds.
func lowerEnd(p, q float64, n int, interval func(first, second, n int, seed uint64) (stats.Estimate, bool)) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		first := drawBinomial(random, n, p)
		e, ok := interval(first, drawBinomial(random, n-first, q/(1-p)), n, random.Uint64())
		return e.Lo <= q-p, ok
	}
}

func paired(p, q float64, n int, interval func(first, second, n int, seed uint64) (stats.Estimate, bool)) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		first := drawBinomial(random, n, p)
		second := drawBinomial(random, n-first, q/(1-p))
		e, ok := interval(first, second, n, random.Uint64())
		return holds(e, q-p), ok
	}
}

// refusals are the chances of what is true of an answer (rows, refusals first) and
// what a judge with such a recall and specificity says.
func refusals(share, recall, specificity float64) [][]float64 {
	return [][]float64{{share * recall, share * (1 - recall)}, {(1 - share) * (1 - specificity), (1 - share) * specificity}}
}

// drawTable draws n items into the cells of a table by their chances.
func drawTable(random *rand.Rand, n int, chances [][]float64) [][]int {
	left := 1.0
	table := make([][]int, len(chances))
	for i, row := range chances {
		for _, chance := range row {
			k := n
			if chance < left-1e-12 {
				k = drawBinomial(random, n, chance/left)
			}
			table[i] = append(table[i], k)
			n -= k
			left -= chance
		}
	}
	return table
}

func kappa(n int, chances [][]float64) func(*rand.Rand) (bool, bool) {
	// Of a very large table rounding does not matter.
	var large [][]int
	for _, row := range chances {
		var counts []int
		for _, chance := range row {
			counts = append(counts, int(math.Round(1e7*chance)))
		}
		large = append(large, counts)
	}
	truth, _ := stats.CohenKappa(large)
	return func(random *rand.Rand) (bool, bool) {
		e, ok := stats.CohenKappaInterval(drawTable(random, n, chances), 0.95)
		return holds(e, truth), ok
	}
}

// drawConfusion draws what a judge says of n answers.
func drawConfusion(random *rand.Rand, n int, chances [][]float64) stats.Confusion {
	table := drawTable(random, n, chances)
	return stats.Confusion{TP: table[0][0], FN: table[0][1], FP: table[1][0], TN: table[1][1]}
}

func f1(n int, chances [][]float64) func(*rand.Rand) (bool, bool) {
	tp, fn, fp := chances[0][0], chances[0][1], chances[1][0]
	return func(random *rand.Rand) (bool, bool) {
		e, ok := drawConfusion(random, n, chances).F1Interval(0.95)
		return holds(e, 2*tp/(2*tp+fn+fp)), ok
	}
}

func precision(n int, chances [][]float64) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		c := drawConfusion(random, n, chances)
		r := stats.RateOf(c.TP, c.TP+c.FP)
		return r.Share != nil && holds(*r.Estimate(), chances[0][0]/(chances[0][0]+chances[1][0])), r.Share != nil
	}
}

func recall(n int, chances [][]float64) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		c := drawConfusion(random, n, chances)
		r := stats.RateOf(c.TP, c.TP+c.FN)
		return r.Share != nil && holds(*r.Estimate(), chances[0][0]/(chances[0][0]+chances[0][1])), r.Share != nil
	}
}

// detectable draws a sample without a difference, and then one with the difference
// that the first could have found. It reports whether the second finds it.
func detectable(flips float64, n int, interval func(first, second, n int, seed uint64) (stats.Estimate, bool)) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		draw := func(d float64) stats.Estimate {
			p, q := (flips-d)/2, (flips+d)/2
			first := drawBinomial(random, n, p)
			e, _ := interval(first, drawBinomial(random, n-first, q/(1-p)), n, random.Uint64())
			return e
		}
		return draw(stats.Detectable(draw(0), 0.95, 0.8)).Lo > 0, true
	}
}

// drawClusters draws beta-binomial clusters, whose prompts are correlated; size 0
// means 1 to 9 prompts.
func drawClusters(random *rand.Rand, p float64, clusters, size int, correlation float64) []stats.Cluster {
	strength := 1/correlation - 1
	beta := distuv.Beta{Alpha: p * strength, Beta: (1 - p) * strength, Src: random}
	out := make([]stats.Cluster, clusters)
	for i := range out {
		n := size
		if n == 0 {
			n = 1 + random.IntN(9)
		}
		out[i] = stats.Cluster{Sum: drawBinomial(random, n, beta.Rand()), N: n}
	}
	return out
}

func wilsonClustered(p float64, clusters, size int, correlation float64) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		e, ok := stats.WilsonClustered(drawClusters(random, p, clusters, size, correlation), 0.95)
		return holds(e, p), ok
	}
}

func meanRate(p float64, prompts, times int, correlation float64) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		e, ok := stats.MeanRate(drawClusters(random, p, prompts, times, correlation), 0.95)
		return holds(e, p), ok
	}
}

// ignoringClusters takes Wilson's interval as if all prompts were independent.
func ignoringClusters(p float64, clusters, size int, correlation float64) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		k, n := 0, 0
		for _, c := range drawClusters(random, p, clusters, size, correlation) {
			k += c.Sum
			n += c.N
		}
		lo, hi := stats.Wilson(k, n, 0.95)
		return lo <= p && p <= hi, true
	}
}

// familyCorrelated draws families of one to four points around a point of their own,
// with three quarters of the variance between families. All points together are
// bivariate normal.
func familyCorrelated(rho float64, families int, clustered bool) func(*rand.Rand) (bool, bool) {
	truth := 6 / math.Pi * math.Asin(rho/2)
	return func(random *rand.Rand) (bool, bool) {
		draw := func(scale float64) (float64, float64) {
			x := random.NormFloat64()
			return scale * x, scale * (rho*x + math.Sqrt(1-rho*rho)*random.NormFloat64())
		}
		var x, y []float64
		var names []string
		for f := range families {
			u, v := draw(math.Sqrt(0.75))
			for range 1 + random.IntN(4) {
				du, dv := draw(0.5)
				x, y, names = append(x, u+du), append(y, v+dv), append(names, strconv.Itoa(f))
			}
		}
		b := stats.Bootstrap{Seed: random.Uint64(), Resamples: 500}
		e, ok := b.Correlation(x, y, stats.Spearman)
		if clustered {
			e, ok = b.ClusteredCorrelation(x, y, names, stats.Spearman)
		}
		return holds(e, truth), ok
	}
}

// correlated draws points from a bivariate normal distribution, of which the
// population's Spearman and Kendall correlations are known (Kruskal 1958).
func correlated(measure stats.Correlation, rho, truth float64, points int) func(*rand.Rand) (bool, bool) {
	return func(random *rand.Rand) (bool, bool) {
		x, y := make([]float64, points), make([]float64, points)
		for i := range x {
			x[i] = random.NormFloat64()
			y[i] = rho*x[i] + math.Sqrt(1-rho*rho)*random.NormFloat64()
		}
		e, ok := stats.Bootstrap{Seed: random.Uint64(), Resamples: 500}.Correlation(x, y, measure)
		return holds(e, truth), ok
	}
}

// summed predicts the sum of lengths as skew as those of answers, log-normal with a mean
// deviation of half their size.
func summed(size, further int) func(*rand.Rand) (held, ok bool) {
	length := func(random *rand.Rand) float64 { return math.Exp(5 + 0.5*random.NormFloat64()) }
	return func(random *rand.Rand) (bool, bool) {
		values := make([]float64, size)
		for i := range values {
			values[i] = length(random)
		}
		mean, deviation := stat.MeanStdDev(values, nil)
		e, ok := stats.PredictSum(size, mean, deviation, further, 0.95)
		sum := 0.0
		for range further {
			sum += length(random)
		}
		return e.Lo <= sum && sum <= e.Hi, ok
	}
}

func TestReversed(t *testing.T) {
	t.Parallel()
	for c, want := range map[stats.Confusion]bool{
		{}:                                 false,
		{FP: 5}:                            false, // one in 32
		{FP: 3, FN: 3}:                     true,  // one in 64
		{TP: 2, TN: 1, FP: 3, FN: 6}:       false,
		{TN: 2, FP: 7, FN: 3}:              true,
		{TP: 40, TN: 40, FP: 45, FN: 40}:   false,
		{TP: 100, TN: 90, FP: 190, FN: 20}: false,
	} {
		if c.Reversed() != want {
			t.Errorf("%+v: %v", c, !want)
		}
	}
}
