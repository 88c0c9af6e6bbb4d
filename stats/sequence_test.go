package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/orbench/orbench/stats"
)

// TestSequenceBruteForce holds intervals to SciPy 1.12 (betaln), which tried every number
// that could be positive.
func TestSequenceBruteForce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		population int
		blocks     [][2]int
		lo, hi     int
	}{
		{100, [][2]int{{1, 10}, {2, 10}, {0, 20}}, 3, 25},
		{1319, [][2]int{{2, 16}, {3, 16}, {1, 16}, {10, 100}}, 59, 278},
		{655, [][2]int{{16, 16}, {15, 16}, {200, 210}}, 588, 644},
		{50, [][2]int{{0, 16}, {0, 16}, {0, 10}}, 0, 3},
		{20, [][2]int{{3, 8}, {4, 12}}, 7, 7},
	} {
		s := stats.NewSequence(tt.population)
		for _, b := range tt.blocks {
			s.Add(float64(b[0]), 0, b[1])
		}
		lo, hi := s.Interval(0.95)
		n := float64(tt.population)
		// The ends lie between the last number that is ruled out and the first that is not.
		const tiny = 1e-9
		if gotLo, gotHi := math.Ceil(lo*n-tiny), math.Floor(hi*n+tiny); gotLo != float64(tt.lo) || gotHi != float64(tt.hi) {
			t.Errorf("%d, %v: from %g to %g (%g, %g), want %d to %d", tt.population, tt.blocks, gotLo, gotHi, lo, hi, tt.lo, tt.hi)
		}
	}
}

func TestSequenceUnknown(t *testing.T) {
	t.Parallel()
	with := func(positive float64, unknown int) [2]float64 {
		s := stats.NewSequence(300)
		s.Add(positive, unknown, 100)
		lo, hi := s.Interval(0.95)
		return [2]float64{lo, hi}
	}
	unknown, none, all := with(20, 5), with(20, 0), with(25, 0)
	if unknown[0] != none[0] || unknown[1] != all[1] {
		t.Errorf("with 5 unknown %v, want the lower end of %v and the upper of %v", unknown, none, all)
	}
	s := stats.NewSequence(3)
	if lo, hi := s.Interval(0.95); lo != 0 || hi != 1 {
		t.Errorf("of nothing: %g to %g", lo, hi)
	}
	s.Add(0.5, 1, 3)
	if lo, hi := s.Interval(0.95); math.Abs(lo-0.5/3) > 1e-9 || math.Abs(hi-0.5) > 1e-9 {
		t.Errorf("all drawn, one unknown: %g to %g, want 1/6 to 1/2", lo, hi)
	}
	defer func() {
		if recover() == nil {
			t.Error("more than the population has: no panic")
		}
	}()
	s.Add(0, 0, 1)
}

// TestPivotal draws often: all have the same chance to be drawn, and neighbors are shared
// out evenly.
func TestPivotal(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 3, 5, 7, 8} {
		const n, draws = 8, 20_000
		random := rand.New(rand.NewPCG(7, uint64(size)))
		var times [n]float64
		for range draws {
			drawn := stats.Pivotal(n, size, random.Uint64)
			if len(drawn) != size || !slices.IsSorted(drawn) {
				t.Fatalf("drew %v of %d", drawn, size)
			}
			firstHalf := 0
			for _, i := range drawn {
				times[i]++
				if i < n/2 {
					firstHalf++
				}
			}
			if math.Abs(float64(firstHalf)-float64(size)/2) >= 1 {
				t.Fatalf("drew %v: %d of the first half", drawn, firstHalf)
			}
		}
		for i, k := range times {
			if want := float64(size) / n; math.Abs(k/draws-want) > 0.02 {
				t.Errorf("size %d: %d is drawn in %.3f, want %.3f", size, i, k/draws, want)
			}
		}
	}
}

// TestPivotalBets has every duel turn out in both ways, with its chance: the mean product
// of the factors of a bet, which is exact then, is no gain, on which Sequence rests.
func TestPivotalBets(t *testing.T) {
	t.Parallel()
	const n = 7
	for size := 1; size <= n; size++ {
		for positives := range 1 << n {
			for _, q := range []float64{0.01, 0.2, 0.5, 0.7, 0.99} {
				m := 0.0
				for i := range n {
					m += float64(positives>>i&1) / n
				}
				if m == 0 || m == 1 {
					continue
				}
				factor := func(i int) float64 {
					if positives>>i&1 == 1 {
						return q / m
					}
					return (1 - q) / (1 - m)
				}
				if mean := meanProduct(n, size, 0, -1, 0, factor); mean > 1+1e-12 {
					t.Fatalf("%d of %d, positives %b, bet on %g: the factors gain: %g", size, n, positives, q, mean)
				}
			}
		}
	}
}

// meanProduct follows the pivotal method from the i-th on, with who is in play and their
// weight, both ways at each duel.
func meanProduct(n, size, i, inPlay, weight int, factor func(int) float64) float64 {
	if weight == n {
		return factor(inPlay) * meanProduct(n, size, i, -1, 0, factor)
	}
	if i == n {
		return 1
	}
	a, p := float64(weight)/float64(n), float64(size)/float64(n)
	switch {
	case weight == 0:
		return meanProduct(n, size, i+1, i, size, factor)
	case weight+size <= n:
		stays := a / (a + p)
		return stays*meanProduct(n, size, i+1, inPlay, weight+size, factor) + (1-stays)*meanProduct(n, size, i+1, i, weight+size, factor)
	default:
		first := (1 - p) / (2 - a - p)
		return first*factor(inPlay)*meanProduct(n, size, i+1, i, weight+size-n, factor) + (1-first)*factor(i)*meanProduct(n, size, i+1, inPlay, weight+size-n, factor)
	}
}

// population is one of which the truth is known, in strata.
type population struct {
	name string
	// positive has the strata one after the other.
	positive []float64
}

// strata makes a population of strata of a size with so many positives of each.
func strata(size int, positives ...int) []float64 {
	var all []float64
	for _, k := range positives {
		for i := range size {
			all = append(all, map[bool]float64{true: 1}[i < k])
		}
	}
	return all
}

// walk draws a population in the blocks of a run with --until, looks at every interval,
// and reports whether all held the share, and how many were drawn when the interval was
// first as narrow as half on either side.
func walk(values []float64, half float64, block func(n int) int, random *rand.Rand) (held bool, drawn int) {
	values = slices.Clone(values)
	share := 0.0
	for _, v := range values {
		share += v / float64(len(values))
	}
	s := stats.NewSequence(len(values))
	held = true
	for len(values) > 0 {
		picked := stats.Pivotal(len(values), min(block(s.Drawn()), len(values)), random.Uint64)
		positive := 0.0
		for i := len(picked) - 1; i >= 0; i-- {
			positive += values[picked[i]]
			values = slices.Delete(values, picked[i], picked[i]+1)
		}
		s.Add(positive, 0, len(picked))
		lo, hi := s.Interval(0.95)
		held = held && share >= lo-1e-9 && share <= hi+1e-9
		if hi-lo <= 2*half {
			if drawn == 0 {
				drawn = s.Drawn()
			}
			if half > 0 {
				break
			}
		}
	}
	return held, drawn
}

// usualBlock is the next block of a run with --until after n prompts.
func usualBlock(n int) int { return max(16, n/8) }

// TestSequenceCoverage peeks at every interval of many runs: all of them have to hold the
// truth in 95% of runs, which is more than each by itself. ORBENCH_LONG=1 walks whole
// populations, and logs the figures of docs/statistics.md.
func TestSequenceCoverage(t *testing.T) {
	t.Parallel()
	long := os.Getenv("ORBENCH_LONG") != ""
	for i, p := range []population{
		{"13% of 120, categories alike", strata(12, 2, 1, 2, 1, 2, 1, 2, 2, 1, 2)},
		{"10% of 200, all in one of 10 categories", strata(20, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
		{"3% of 655", strata(131, 3, 4, 5, 4, 4)},
		{"13% of 1,320, categories from 2% to 30%", strata(132, 3, 8, 11, 14, 16, 18, 20, 23, 25, 40)},
		{"96% of 655", strata(131, 131, 128, 125, 124, 121)},
		{"50% of 2,000", strata(200, 60, 70, 80, 90, 100, 100, 110, 120, 130, 140)},
	} {
		runs := 100
		if long {
			runs = 500
		} else if i > 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(14, uint64(i)))
			held := 0
			for range runs {
				if ok, _ := walk(p.positive, 0, usualBlock, random); ok {
					held++
				}
			}
			share := float64(held) / float64(runs)
			t.Logf("%-60s %.1f%% of %d", p.name, 100*share, runs)
			if share < 0.95 {
				t.Errorf("seed 14: all intervals held the truth in %.1f%% of %d runs, want 95%%", 100*share, runs)
			}
		})
	}
}

// TestSequenceSavings counts the draws until the interval is narrow. It logs the figures of
// docs/statistics.md.
func TestSequenceSavings(t *testing.T) {
	t.Parallel()
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	for _, n := range []int{60, 655, 1320, 8000, 80_000} {
		for _, percent := range []int{2, 13, 50, 96} {
			line := fmt.Sprintf("%6d prompts, %2d%%:", n, percent)
			for _, points := range []int{1, 2, 5} {
				random := rand.New(rand.NewPCG(uint64(n), uint64(percent)))
				// Ten categories whose rates differ as little as whole prompts allow.
				size := n / 10
				positives := make([]int, 10)
				for c := range positives {
					positives[c] = (n*percent/100*(c+1))/10 - (n*percent/100*c)/10
				}
				values, runs, sum := strata(size, positives...), 3, 0
				for range runs {
					_, drawn := walk(values, float64(points)/100, usualBlock, random)
					sum += drawn
				}
				line += fmt.Sprintf("  %d pp %6d (%2.0f%%)", points, sum/runs, 100-100*float64(sum)/float64(runs*len(values)))
			}
			t.Log(line)
		}
	}
}

func ExampleSequence() {
	s := stats.NewSequence(1319)
	for _, refused := range []float64{2, 3, 1} {
		s.Add(refused, 0, 16)
	}
	lo, hi := s.Interval(0.95)
	fmt.Printf("%d of 1319 asked: %.1f%% to %.1f%%\n", s.Drawn(), 100*lo, 100*hi)
	// Output:
	// 48 of 1319 asked: 2.6% to 32.3%
}
