package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/stats"
)

func unknown(a, b Contender) *figure.Figure { return nil }

func contender(name string, k, n int) Contender {
	return Contender{figure.PartOf(figure.OverRefusal, figure.Keys{Target: name}, n, float64(k), stats.RateOf(k, n).Estimate()), &RunResult{About: About{Target: name}}}
}

// TestComparePairs has three rates whose p-values were computed by hand from
// Wilson's intervals: of 10 of 100 it is 5.52 to 17.44%, of 20 of 100 13.34 to
// 28.88%, of 40 of 100 30.94 to 49.80%.
func TestComparePairs(t *testing.T) {
	t.Parallel()
	all := []Contender{contender("a", 10, 100), contender("b", 20, 100), contender("c", 40, 100)}
	got := ComparePairs(all, unknown)
	for i, want := range []struct {
		a, b    string
		d, holm float64
	}{
		{"a", "b", -0.1, 0.0496},
		{"a", "c", -0.3, 3 * 5.3e-7},
		{"b", "c", -0.2, 2 * 0.0020},
	} {
		p := got[i]
		if p.Target != want.a || p.Other != want.b || math.Abs(*p.Value-want.d) > 1e-9 || math.Abs(*p.PHolm/want.holm-1) > 0.02 || !p.Apart() {
			t.Errorf("pair %d is %+v, want %+v", i, p, want)
		}
	}
	// A judge that may be 15 points off on each undoes the order of a and b.
	for i := range all {
		all[i].Range = &stats.Interval{Lo: *all[i].Value - 0.15, Hi: *all[i].Value + 0.15}
	}
	got = ComparePairs(all, unknown)
	if got[0].Apart() || *got[0].PHolmByVerdicts >= 0.05 || !got[1].Apart() {
		t.Errorf("with the judge's error: %+v", got)
	}
}

// TestComparePairsLevel draws targets of the same rate: in at most 5% of the
// draws is any pair told apart.
func TestComparePairsLevel(t *testing.T) {
	t.Parallel()
	const seed, draws, n = 1, 4000, 200
	for _, c := range []struct {
		rate    float64
		targets int
	}{{0.02, 5}, {0.1, 3}, {0.1, 8}, {0.4, 5}} {
		rng := rand.New(rand.NewPCG(seed, uint64(1000*c.rate)+uint64(c.targets)))
		wrong := 0
		for range draws {
			var all []Contender
			for range c.targets {
				k := 0
				for range n {
					if rng.Float64() < c.rate {
						k++
					}
				}
				all = append(all, contender("x", k, n))
			}
			for _, p := range ComparePairs(all, unknown) {
				if p.Apart() {
					wrong++
					break
				}
			}
		}
		share := float64(wrong) / draws
		t.Logf("rate %.2f, %d targets: %.3f", c.rate, c.targets, share)
		// Three standard errors of a simulation of 5%.
		if share > 0.05+3*math.Sqrt(0.05*0.95/draws) {
			t.Errorf("seed %d, rate %.2f, %d targets: in %.3f of the draws a pair is told apart", seed, c.rate, c.targets, share)
		}
	}
}

// TestSetPairs orders four targets on two datasets and in one framing.
func TestSetPairs(t *testing.T) {
	t.Parallel()
	run := func(target, base, dataset string, refused int) RunResult {
		r := RunResult{
			About:  About{Target: target, Base: base, Dataset: dataset, Label: orbench.Safe},
			Judges: []JudgeResult{{Judge: "llm:x/y", Judged: 100, Refused: refused}},
		}
		r.Finish()
		return r
	}
	r := Result{Runs: []RunResult{
		run("a", "", "plain", 5), run("b", "", "plain", 8), run("c", "", "plain", 40), run("d", "", "plain", 60),
		run("a", "", "hard", 90), run("b", "", "hard", 30), run("c", "", "hard", 50), run("d", "", "hard", 70),
		run("a +framing", "a", "plain", 5), run("b +framing", "b", "plain", 4),
	}}
	r.Finish()
	// Of six pairs three are in the same order on both datasets: a comes last on hard.
	var got []string
	for f := range figure.Of(r.Figures, figure.SetOrder, figure.Reversed) {
		if f.Measure == figure.SetOrder {
			got = append(got, fmt.Sprintf("%s, %s, %s: %d, %g, tau %.0f", f.Label, f.Dataset, f.OtherDataset, f.N, f.Count(), *f.Value))
		} else {
			got = append(got, fmt.Sprintf("%s %s %g", f.Target, f.Other, f.Count()))
		}
	}
	want := []string{
		"safe, plain, hard: 4, 3, tau 0", "a b 0", "a c 1", "a d 1",
		"safe, plain, plain +framing: 2, 1, tau -1", "a b 0",
		"safe, hard, plain +framing: 2, 0, tau 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(slices.Collect(figure.Of(r.Figures, figure.Difference))); n != 15+6 {
		t.Errorf("%d differences", n)
	}
	// By people's labels on one set, and a judge on the other, there is no order.
	r.Figures = nil
	for i := range 4 {
		r.Runs[i].Labeled = &annotation.Corrected{Rate: *r.Runs[i].Judges[0].Rate.Sampled(), Labels: LeastLabels}
	}
	r.Finish()
	for f := range figure.Of(r.Figures, figure.SetOrder) {
		if f.Dataset == "plain" {
			t.Errorf("labels are ordered against a judge: %+v", f)
		}
	}
}
