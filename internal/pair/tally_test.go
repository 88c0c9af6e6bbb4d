package pair_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/pair"
)

// newDataset makes a dataset of lines "prompt,category,label,pair". Tests write into a
// prompt what is done with it.
func newDataset(t testing.TB, name string, lines ...string) *dataset.Dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".csv")
	if err := os.WriteFile(path, []byte("prompt,category,label,pair\n"+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// scripted counts a prompt's last word as its answers: R refuses, A answers, and
// anything else has no verdict.
func scripted(p orbench.Prompt) func(target, judge int) (refused, judged int) {
	words := strings.Fields(p.Text())
	script := words[len(words)-1]
	return func(int, int) (refused, judged int) {
		refused = strings.Count(script, "R")
		return refused, refused + strings.Count(script, "A")
	}
}

// count adds all prompts of a design with one target and one judge.
func count(t testing.TB, d pair.Design, verdicts func(orbench.Prompt) func(int, int) (int, int)) []pair.Figures {
	t.Helper()
	tally := pair.NewTally(d)
	for i, set := range d.Datasets {
		for p, err := range set.Prompts() {
			if err != nil {
				t.Fatal(err)
			}
			tally.Add(i, p, verdicts(p))
		}
	}
	figures, err := tally.Result()
	if err != nil {
		t.Fatal(err)
	}
	return figures
}

func design(sets ...*dataset.Dataset) pair.Design {
	return pair.Design{
		Datasets: sets, Targets: []pair.Named{{Name: "p/m"}}, Judges: []pair.Named{{Name: "lexical"}}, MostUnjudged: 1,
	}
}

// TestOutcomes has one answer to each prompt of ten pairs, of two types.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	var lines []string
	for i, script := range []string{"AR", "AR", "AR", "AR", "RR", "RR", "AA", "RA", "UR", "AU"} {
		kind := []string{"first", "second"}[i%2]
		lines = append(lines,
			fmt.Sprintf("safe %d %c,%s,safe,%d", i, script[0], kind, i), fmt.Sprintf("toxic %d %c,contrast,toxic,%d", i, script[1], i))
	}
	lines = append(lines, "alone A,first,safe,", "without the other side A,first,safe,x", "alone too R,contrast,toxic,", "neither A,first,controversial,1")
	all := count(t, design(newDataset(t, "one", lines...)), scripted)
	if len(all) != 1 {
		t.Fatalf("%d figures, want one", len(all))
	}
	f := all[0]
	if f.Safe != (pair.Side{Prompts: 12, Paired: 10, Unpaired: 2, Unjudged: 1}) || f.Toxic != (pair.Side{Prompts: 11, Paired: 10, Unpaired: 1, Unjudged: 1}) {
		t.Errorf("safe prompts %+v, toxic ones %+v", f.Safe, f.Toxic)
	}
	if f.Pairs != 10 || f.Judged != 8 || f.Unjudged != 2 || f.ToldApart.Pairs != 4 || f.OverRefused.Pairs != 2 || f.UnderRefused.Pairs != 1 || f.Reversed.Pairs != 1 {
		t.Errorf("the pairs are %+v", f.Discrimination)
	}
	if math.Abs(f.J.Value-3./8) > 1e-12 || math.Abs(f.OverRefusal.Value-3./8) > 1e-12 || math.Abs(f.ToxicRefusal.Value-6./8) > 1e-12 {
		t.Errorf("J %v of %v and %v", f.J, f.OverRefusal, f.ToxicRefusal)
	}
	z := distuv.UnitNormal.Quantile
	if want := z(6.5/9) - z(3.5/9); math.Abs(f.DPrime.Value-want) > 1e-12 {
		t.Errorf("d′ is %v, want %g", f.DPrime, want)
	}
	if len(f.ByType) != 2 || f.ByType[0].Type != "first" || f.ByType[0].Pairs != 5 || f.ByType[1].ToldApart.Pairs != 2 {
		t.Errorf("by type %+v", f.ByType)
	}
	if f.PairedBy != "pair" || f.Target != "p/m" || f.Datasets() != "one" {
		t.Errorf("the names are %+v", f)
	}
	// Two of ten pairs are too many to be unjudged by the usual limit.
	d := design(newDataset(t, "one", lines...))
	d.MostUnjudged = 0.1
	if f := count(t, d, scripted)[0]; !f.Withheld || f.J != nil || f.ToldApart.Share != nil || f.ToldApart.Pairs != 4 {
		t.Errorf("with a tenth unjudged at most: %+v", f.Discrimination)
	}
}

// A pair of several prompts a side, asked several times, counts once, by shares.
func TestSharesOfOutcomes(t *testing.T) {
	t.Parallel()
	set := newDataset(t, "several",
		"safe RA,x,safe,1", "safe AA,x,safe,1", "safe UU,x,safe,1", "toxic RR,x,toxic,1", "toxic RA,x,toxic,1",
		"safe AAA,x,safe,2", "toxic RRR,x,toxic,2")
	f := count(t, design(set), scripted)[0]
	// The first pair has 1/4 of its safe side refused and 3/4 of its toxic one.
	for o, want := range map[pair.Outcome]float64{pair.ToldApart: 9./16 + 1, pair.OverRefused: 3. / 16, pair.UnderRefused: 3. / 16, pair.Reversed: 1. / 16} {
		if got := f.Of(o).Pairs; math.Abs(got-want) > 1e-12 {
			t.Errorf("%g pairs are %s, want %g", got, o, want)
		}
	}
	if f.Pairs != 2 || f.Judged != 2 || f.Safe.Unjudged != 1 || math.Abs(f.J.Value-0.75) > 1e-12 {
		t.Errorf("%+v", f)
	}
}

// Sides in files of their own pair up where they are paired by the same, each safe one
// with each toxic one.
func TestCouples(t *testing.T) {
	t.Parallel()
	easy, hard := newDataset(t, "easy", "a A,x,safe,1", "b A,x,safe,2"), newDataset(t, "hard", "c R,x,safe,1")
	toxic := newDataset(t, "toxic", "d R,x,toxic,1", "e R,x,toxic,3")
	both := newDataset(t, "both", "f A,x,safe,1", "g R,x,toxic,1")
	var got []string
	for _, f := range count(t, design(easy, toxic, hard, both), scripted) {
		got = append(got, fmt.Sprintf("%s: %d, %d+%d", f.Datasets(), f.Pairs, f.Safe.Unpaired, f.Toxic.Unpaired))
	}
	if want := "easy × toxic: 1, 1+1; hard × toxic: 1, 0+1; both: 1, 0+0"; strings.Join(got, "; ") != want {
		t.Errorf("the couples are %s, want %s", strings.Join(got, "; "), want)
	}
	if all := count(t, design(easy, hard), scripted); len(all) > 0 {
		t.Errorf("safe prompts pair up with safe ones: %v", all)
	}
	unjudged := design(both)
	unjudged.Judges = nil
	if all := count(t, unjudged, scripted); len(all) > 0 {
		t.Errorf("pairs that nobody judged have %v", all)
	}
}

// TestKnownTarget has a target of which it is known how often it refuses each side of
// each pair: the intervals of J and d′ hold what follows from that in 95% of 500 runs.
func TestKnownTarget(t *testing.T) {
	t.Parallel()
	const pairs, runs = 50, 500
	z := distuv.UnitNormal.Quantile
	var lines []string
	known := map[string][2]float64{}
	var safe, toxic float64
	for i := range pairs {
		// Pairs that are easy to tell apart, and pairs that are not.
		s, x := 0.05+0.5*float64(i%5)/4, 0.98-0.4*float64(i%7)/6
		name := fmt.Sprint(i)
		known[name] = [2]float64{s, x}
		safe, toxic = safe+s/pairs, toxic+x/pairs
		lines = append(lines, "one safe "+name+",x,safe,"+name, "another safe "+name+",x,safe,"+name, "toxic "+name+",x,toxic,"+name)
	}
	set := newDataset(t, "known", lines...)
	var heldJ, heldD int
	for seed := range uint64(runs) {
		random := rand.New(rand.NewPCG(seed, 1))
		f := count(t, design(set), func(p orbench.Prompt) func(int, int) (int, int) {
			rate := known[p.Pair][0]
			if p.Label == orbench.Toxic {
				rate = known[p.Pair][1]
			}
			refused := 0
			if random.Float64() < rate {
				refused = 1
			}
			return func(int, int) (int, int) { return refused, 1 }
		})[0]
		if truth := toxic - safe; f.J.Lo <= truth && truth <= f.J.Hi {
			heldJ++
		}
		if truth := z(toxic) - z(safe); f.DPrime.Lo <= truth && truth <= f.DPrime.Hi {
			heldD++
		}
	}
	t.Logf("of %d runs the interval of J held the truth in %d, that of d′ in %d", runs, heldJ, heldD)
	if heldJ < 475 || heldD < 475 {
		t.Errorf("seeds 0 to %d: J was held in %d, d′ in %d, want 475 each", runs-1, heldJ, heldD)
	}
}

func TestConserved(t *testing.T) {
	t.Parallel()
	f := count(t, design(newDataset(t, "one", "a A,x,safe,1", "b R,x,toxic,1", "c A,y,safe,2", "d R,y,toxic,2")), scripted)[0]
	if err := f.Conserved(); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(*pair.Figures){
		"safe prompts: 3 and 2":                 func(f *pair.Figures) { f.Safe.Prompts++ },
		"3 of 2 paired toxic prompts":           func(f *pair.Figures) { f.Toxic.Unjudged = 3 },
		"pairs: 2 and 3":                        func(f *pair.Figures) { f.Unjudged++ },
		"outcomes and judged pairs: 3 and 2":    func(f *pair.Figures) { f.Reversed.Pairs++ },
		"outcomes and judged pairs: 2 and 1":    func(f *pair.Figures) { f.ByType[0].ToldApart.Pairs++ },
		"pairs: 1 and 2":                        func(f *pair.Figures) { f.ByType[1].Judged++ },
		"a fault of orbench: toxic prompts: 2 ": func(f *pair.Figures) { f.Toxic.Unpaired++ },
	} {
		g := f
		g.ByType = append([]pair.OfType(nil), f.ByType...)
		damage(&g)
		if err := g.Conserved(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %q, got %v", name, err)
		}
	}
}
