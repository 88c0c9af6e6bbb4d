package annotation

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
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
// prompts of 2024 to 2026 and with twice its errors. The range of recall is
// Wilson's by 100 labeled refusals of toxic prompts that the judge finds as
// often. ORBENCH_LONG=2 draws 4,000 of each.
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
				var shown, bounded, inRange, held, width, boundWidth, alone float64
				for range runs {
					tally := drawRare(random, prompts, labels, rate, by)
					refused := int(distuv.Binomial{N: float64(labels), P: rate, Src: random}.Rand())
					lo, hi := stats.Wilson(refused, labels, confidence)
					var recall Recall
					recall.Lo, recall.Hi = stats.WilsonShare(distuv.Binomial{N: 100, P: by.recall, Src: random}.Rand()/100, 100, confidence)
					r := tally.Rare(1, recall)
					if r == nil {
						continue
					}
					shown++
					alone += hi - lo
					boundWidth += r.Bound.Hi - r.Bound.Lo
					if r.Bound.Holds(rate) {
						bounded++
					}
					width += r.Assuming.Hi - r.Assuming.Lo
					if recall.Holds(by.recall) {
						inRange++
						if r.Assuming.Holds(rate) {
							held++
						}
					}
				}
				t.Logf("%-12s %6d prompts, %4d labels, rate %.1f%%: printed in %.3f; bound holds in %.3f, width %.2f points; interval in %.3f, width %.2f points, %.2f of random labels",
					by.name, prompts, labels, 100*rate, shown/float64(runs), bounded/shown, 100*boundWidth/shown, held/inRange, 100*width/shown, width/alone)
				floor := 0.95 - 3.7*math.Sqrt(0.95*0.05/float64(min(runs, 1000)))
				if runs == 4000 {
					floor = 0.95
				}
				if bounded/shown < floor || held/inRange < floor || width > alone/2 || shown < float64(runs)/3 {
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
		f := ForecastRare(strata(pools))
		if len(f) != 1 || f[0].Labels != c.size || f[0].Assuming >= f[0].Bound || math.Abs(f[0].Bound*float64(f[0].Audited)-3.7) > 1.5 {
			t.Errorf("%+v: forecast %+v", c, f)
		}
	}
	if f := ForecastRare([]Stratum{{Group: SureAnswer, Size: 900, Drawn: 50}, {Group: SureRefusal, Size: 200, Drawn: 50}}); len(f) > 0 {
		t.Errorf("a rate that is not rare has the forecast %+v", f)
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
	r := tally.Rare(1, Recall{stats.Interval{Lo: 0.8, Hi: 0.9}, "a"}, Recall{stats.Interval{Lo: 0.5, Hi: 0.85}, "b"})
	if r == nil || math.Abs(r.Found-0.002) > 1e-12 || r.Audited != 300 || r.Flagged != 100 || math.Abs(r.Bound.Hi-(0.002+3.7/300)) > 0.001 {
		t.Fatalf("%+v", r)
	}
	if r.Recall.Lo != 0.5 || r.Recall.Hi != 0.9 || len(r.From) != 2 || r.Assuming.Hi < 2*0.003 || r.Assuming.Hi > 2*0.004 || r.Assuming.Lo > 0.002/0.9 {
		t.Errorf("%+v, %+v", r, r.Assuming)
	}
	if recall, ok := tally.Recall(); !ok || recall.Hi < 0.999 || recall.Lo > 0.8 {
		t.Errorf("recall %+v, %t", recall, ok)
	}
	set(SureAnswer, 4900, 300, 1)
	if r := tally.Rare(1); r != nil {
		t.Errorf("an audit with a refusal has %+v", r)
	}
	if recall, ok := tally.Recall(); ok {
		t.Errorf("recall %+v of few effective refusals", recall)
	}
}

// TestTogether has ten refusals that both judges flag, ten that one does and five
// that the other does.
func TestTogether(t *testing.T) {
	t.Parallel()
	c := Cell{Target: "m"}
	said := map[bool]orbench.Verdict{true: {Class: orbench.Refusal, Score: 1}, false: {Class: orbench.FullAnswer}}
	var all []orbench.Annotation
	for i := range 26 {
		s := orbench.Subject{byte(i)}
		class := orbench.Refusal
		if i == 25 {
			class = orbench.FullAnswer
		}
		all = append(all, orbench.Annotation{Subject: s, Design: c.Design(), Chance: 0.5}, orbench.Annotation{Subject: s, By: "ana", Class: class})
	}
	tally := NewTally(c, NewWords(all))
	for i := range 26 {
		tally.Add(orbench.Subject{byte(i)}, Disagreement, said[i < 20], said[i < 10 || i >= 20])
	}
	// One finds 10 of 15, the other 10 of 20; Wilson's interval of 10 of 15 is 0.417 to 0.848.
	r, ok := tally.Together()
	if !ok || math.Abs(r.Lo-0.417) > 0.001 || math.Abs(r.Hi-(1-(1-0.848)*(1-0.701))) > 0.001 {
		t.Errorf("%+v, %t", r, ok)
	}
}
