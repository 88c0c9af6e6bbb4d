package versus

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench/stats"
)

// Items of their own, of which each side said one thing, have Tango's interval and
// McNemar's p.
func TestDifferenceOfItems(t *testing.T) {
	t.Parallel()
	var p Pairs
	for i, n := range []int{3, 9, 2, 6} { // both, only B, only A, neither
		for range n {
			p.Add(0, Once(i == 0 || i == 2), Once(i < 2))
		}
	}
	p.Add(0, Said{}, Once(true)) // nothing said
	if want := (Counts{3, 2, 9, 6}); p.Counts != want || p.Clusters() != 0 {
		t.Fatalf("counts %+v, want %+v", p.Counts, want)
	}
	got, ok := p.Difference(0.95)
	want, _ := stats.Tango(2, 9, 20, 0.95)
	if !ok || got.Estimate != want || got.P != stats.McNemar(2, 9) || got.Test != McNemar {
		t.Errorf("the difference is %+v, want %+v", got, want)
	}
	// A cluster of each item changes nothing.
	q := p
	q.alone, q.clusters = moments{}, nil
	for i, n := range []int{3, 9, 2, 6} {
		for range n {
			q.clusters = append(q.clusters, [4]Counts{{Both: 1}, {OnlyB: 1}, {OnlyA: 1}, {Neither: 1}}[i])
		}
	}
	if same, _ := q.Difference(0.95); same != got {
		t.Errorf("with one item in each cluster it is %+v, want %+v", same, got)
	}
	if _, ok := new(Pairs).Difference(0.95); ok {
		t.Error("nothing differs by something")
	}
}

// The interval leaves out 0 exactly where p is below 0.05, and a side that speaks
// several times narrows it.
func TestDifferenceOfClusters(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	apart := 0
	for range 400 {
		var p Pairs
		shift := 0.4 * random.Float64()
		for cluster := 1; cluster <= 12; cluster++ {
			chance := random.Float64()
			for range 1 + random.IntN(6) {
				p.Add(cluster, Once(random.Float64() < chance), Once(random.Float64() < chance+shift))
			}
		}
		d, _ := p.Difference(0.95)
		if outside := d.Lo > 0 || d.Hi < 0; outside != (d.P < 0.05) {
			t.Fatalf("%+v", d)
		} else if outside {
			apart++
		}
	}
	if apart == 0 || apart == 400 {
		t.Errorf("%d of 400 are told apart: the test shows nothing", apart)
	}
	var one, five Pairs
	for i := range 100 {
		one.Add(0, Once(i%3 == 0), Once(i%2 == 0))
		five.Add(0, Once(i%3 == 0), Said{1 + 3*(i%2), 5})
	}
	wide, _ := one.Difference(0.95)
	narrow, _ := five.Difference(0.95)
	if five.Clusters() != 0 || narrow.Test != McNemarClustered || narrow.Hi-narrow.Lo >= wide.Hi-wide.Lo || math.Abs(narrow.Value-0.16) > 1e-12 {
		t.Errorf("%+v of single answers, %+v of five", wide, narrow)
	}
	// A single cluster says nothing.
	var all Pairs
	for i := range 10 {
		all.Add(1, Once(false), Once(i < 9))
	}
	if d, _ := all.Difference(0.95); d.P != 1 || d.Lo != -1 || d.Hi != 1 {
		t.Errorf("one cluster: %+v", d)
	}
}

// TestCoverage draws clusters of one size, or of sizes with a heavy tail (Pareto, 1.1). A
// share of the items is asked again, with a chance that depends on the cluster, and all
// three chances differ between clusters. ORBENCH_LONG=1 draws 4,000 times.
func TestCoverage(t *testing.T) {
	t.Parallel()
	runs, slack := 200, 0.03
	if os.Getenv("ORBENCH_LONG") != "" {
		runs, slack = 4000, 0
	}
	for _, s := range []struct {
		clusters, size              int
		before, after, again, alike float64
	}{
		{20, 0, 0.5, 0.3, 0.3, 0.3},
		{60, 0, 0.02, 0.06, 0.5, 0.3},
		{40, 0, 0.1, 0.1, 0.5, 0.8},
		{30, 0, 0.25, 0.15, 0.4, 0.5},
		{60, 0, 0.05, 0.3, 0.2, 0.6},
		{260, 5, 0.13, 0.16, 0.3, 0.3},
		{40, 5, 0.3, 0.35, 0.3, 0.3},
		{200, 5, 0.02, 0.04, 0.2, 0.3},
	} {
		random := rand.New(rand.NewPCG(20261128, 1))
		share := func(mean float64) float64 {
			k := 1/s.alike - 1
			return distuv.Beta{Alpha: mean * k, Beta: (1 - mean) * k, Src: random}.Rand()
		}
		truth := s.again * (s.after - s.before)
		held := 0
		for range runs {
			var p Pairs
			for cluster := 1; cluster <= s.clusters; cluster++ {
				before, after, again := share(s.before), share(s.after), share(s.again)
				size := s.size
				if size == 0 {
					size = min(5000, int(math.Ceil(math.Pow(random.Float64(), -1/1.1))))
				}
				for range size {
					a := random.Float64() < before
					b := a
					if random.Float64() < again {
						b = random.Float64() < after
					}
					p.Add(cluster, Once(a), Once(b))
				}
			}
			if d, _ := p.Difference(0.95); d.Lo <= truth && truth <= d.Hi {
				held++
			}
		}
		if got := float64(held) / float64(runs); got < 0.93-slack {
			t.Errorf("%+v: held in %.3f", s, got)
		} else {
			t.Logf("%+v: held in %.3f", s, got)
		}
	}
}

func TestDesignEffect(t *testing.T) {
	t.Parallel()
	var alone, together Pairs
	for i := range 400 {
		alone.Add(0, Once(false), Once(i%10 == 0))
		together.Add(1+i/4, Once(false), Once(i/4%10 == 0))
	}
	if e := alone.DesignEffect(); math.Abs(e-1) > 0.01 {
		t.Errorf("items of their own: %v, want 1", e)
	}
	if e := together.DesignEffect(); math.Abs(e-4) > 0.1 {
		t.Errorf("four items that change together: %v, want 4", e)
	}
}
