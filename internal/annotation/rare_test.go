package annotation

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench/internal/figure"
)

// rareJudge is a judge of simulated answers.
type rareJudge struct {
	name string
	// recall and alarms are the shares of refusals and of answers that it flags.
	recall, alarms float64
}

// drawRare draws answers of which a share is refused, has them flagged and as
// many labeled as Draw takes. It returns the tally of the labels.
func drawRare(random *rand.Rand, prompts, labels int, rate float64, by rareJudge) *Tally {
	count := func(n int, chance float64) int {
		if n == 0 {
			return 0
		}
		return int(distuv.Binomial{N: float64(n), P: chance, Src: random}.Rand())
	}
	refusals := count(prompts, rate)
	flagged, alarms := count(refusals, by.recall), count(prompts-refusals, by.alarms)
	var all, refused [groups]int
	spread := func(n int, of *[groups]int, sure Group, share float64, other Group) {
		k := count(n, share)
		of[sure] += k
		of[other] += n - k
	}
	spread(flagged, &refused, SureRefusal, 0.65, UnsureRefusal)
	spread(refusals-flagged, &refused, SureAnswer, 0.5, UnsureAnswer)
	all = refused
	spread(alarms, &all, SureRefusal, 0.1, UnsureRefusal)
	spread(prompts-refusals-alarms, &all, SureAnswer, 0.95, UnsureAnswer)
	var pools []*pool
	for g := range groups {
		if all[g] > 0 {
			pools = append(pools, &pool{Stratum: Stratum{Group: g, Size: all[g]}})
		}
	}
	allot(pools, labels)
	t := NewTally(Cell{}, NewWords(nil))
	for _, p := range pools {
		seen, left, of := 0, refused[p.Group], p.Size
		for range p.Drawn {
			if random.IntN(of) < left {
				seen++
				left--
			}
			of--
		}
		w := float64(p.Size) / float64(p.Drawn)
		g := p.Group
		t.counts[g] = labelCount{p.Size, p.Drawn, w * float64(p.Drawn), w * w * float64(p.Drawn), w * float64(seen)}
	}
	return t
}

// TestRareCoverage simulates rare rates, with judges as good as lexical on safe
// prompts of 2024 to 2026 and with twice its errors: of all draws, and of those whose audit
// finds a refusal. ORBENCH_LONG=2 draws 4,000 of each.
func TestRareCoverage(t *testing.T) {
	t.Parallel()
	runs := map[string]int{"": 100, "1": 400, "2": 4000}[os.Getenv("ORBENCH_LONG")]
	const seed = 1
	t.Logf("seed %d; %d runs each", seed, runs)
	for _, by := range []rareJudge{{"as good", 0.867, 0.025}, {"twice as bad", 0.734, 0.05}} {
		for _, prompts := range []int{5000, 80000} {
			for _, rate := range []float64{0.001, 0.003, 0.005} {
				random := rand.New(rand.NewPCG(seed, 0))
				labels := EnoughLabels(prompts)
				var shown, held, width, some, heldSome float64
				for range runs {
					tally := drawRare(random, prompts, labels, rate, by)
					c, ok := tally.Corrected(figure.Keys{}, nil, 1)
					if !ok || !c.Rare {
						continue
					}
					holds := 0.0
					if c.Rate.Lo <= rate && rate <= c.Rate.Hi {
						holds = 1
					}
					shown, held, width = shown+1, held+holds, width+c.Rate.Hi-c.Rate.Lo
					if tally.counts[SureAnswer].refused+tally.counts[UnsureAnswer].refused > 0 {
						some, heldSome = some+1, heldSome+holds
					}
				}
				t.Logf("%-12s %6d prompts, %4d labels, rate %.1f%%: rare in %.3f; holds in %.3f, %.2f points wide; in %.3f of %.0f whose audit found a refusal",
					by.name, prompts, labels, 100*rate, shown/float64(runs), held/shown, 100*width/shown, heldSome/some, some)
				floor := func(n float64) float64 { return 0.95 - 3.7*math.Sqrt(0.95*0.05/min(n, 1000)) }
				if held/shown < floor(shown) || some > 0 && heldSome/some < floor(some) || shown < 0.9*float64(runs) {
					t.Errorf("%s, %d prompts, rate %v: out of bounds", by.name, prompts, rate)
				}
			}
		}
	}
}

// TestRareDraw holds that all flagged answers of a rare cell are drawn where they
// are few, half as many as asked for where they are many, and the rest by equal
// chances; and that a cell that is not rare is drawn as ever.
func TestRareDraw(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sure, unsure, answers, size, flagged int }{{20, 60, 4920, 500, 80}, {300, 2000, 77700, 1000, 500}, {20, 60, 4920, 100, 50}} {
		pools := []*pool{
			{Stratum: Stratum{Group: SureAnswer, Size: c.answers * 9 / 10}},
			{Stratum: Stratum{Group: UnsureAnswer, Size: c.answers / 10}},
			{Stratum: Stratum{Group: UnsureRefusal, Size: c.unsure}},
			{Stratum: Stratum{Group: SureRefusal, Size: c.sure}},
		}
		allot(pools, c.size)
		if got := pools[2].Drawn + pools[3].Drawn; got != c.flagged || pools[3].Drawn == 0 {
			t.Errorf("%+v: %d flagged answers are drawn", c, got)
		}
		if a, b := float64(pools[0].Drawn)/float64(pools[0].Size), float64(pools[1].Drawn)/float64(pools[1].Size); math.Abs(a-b) > 0.01 {
			t.Errorf("%+v: the rest is drawn with chances of %.3f and %.3f", c, a, b)
		}
	}
}

// TestRareFigures works the figures of 5,000 answers out by hand: all 100 flagged
// ones are labeled, 10 are refusals, and 300 of the rest are audited.
func TestRareFigures(t *testing.T) {
	t.Parallel()
	tally := NewTally(Cell{}, NewWords(nil))
	set := func(g Group, size, labels, refused int) {
		w := float64(size) / float64(labels)
		tally.counts[g] = labelCount{size, labels, w * float64(labels), w * w * float64(labels), w * float64(refused)}
	}
	set(SureAnswer, 4900, 300, 0)
	set(SureRefusal, 100, 100, 10)
	c, ok := tally.Corrected(figure.Keys{}, nil, 1)
	if !ok || !c.Rare || math.Abs(c.Rate.Value-0.002) > 1e-12 || math.Abs(c.Rate.Hi-(0.002+3.7/300)) > 0.001 {
		t.Fatalf("%+v", c)
	}
	// Of 300, one: Clopper and Pearson's 0.0084% to 1.84%.
	set(SureAnswer, 4900, 300, 1)
	if c, _ := tally.Corrected(figure.Keys{}, nil, 1); !c.Rare || math.Abs(c.Rate.Value-(0.002+0.98/300)) > 1e-12 || math.Abs(c.Rate.Hi-(c.Rate.Value+0.98*(0.0184-1.0/300))) > 0.0005 {
		t.Errorf("an audit with a refusal has %+v", c)
	}
	set(SureRefusal, 1000, 100, 1)
	if c, _ := tally.Corrected(figure.Keys{}, nil, 1); c.Rare {
		t.Errorf("a cell of which judges flag a sixth has %+v", c)
	}
}
