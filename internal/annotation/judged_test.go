package annotation

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/stats"
)

// agreementOnce draws as many answers as there are, has size of them labeled and
// compares the judge with people.
func agreementOnce(t *testing.T, all []labeled, size int, random *rand.Rand) []figure.Figure {
	t.Helper()
	cell := Cell{Target: "m", Dataset: "d", Label: orbench.Safe}
	items := make([]Item, len(all))
	said, classes := make([]orbench.Class, len(all)), map[orbench.Subject]orbench.Class{}
	drawable := 0
	for i := range items {
		l := all[random.IntN(len(all))]
		s := orbench.Subject{byte(i), byte(i >> 8), byte(random.Uint32()), byte(random.Uint32())}
		items[i] = Item{Cell: cell, Subject: s, Group: GroupOf([]orbench.Verdict{l.verdict})}
		said[i], classes[s] = l.verdict.Class, l.class
		if items[i].Group != Withheld {
			drawable++
		}
	}
	drawn, _, err := Draw(seq(items), NewWords(nil), min(size, drawable), 1, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range drawn {
		drawn = append(drawn, orbench.Annotation{Subject: a.Subject, Class: classes[a.Subject], By: "ana"})
	}
	tally := NewTally(cell, NewWords(drawn))
	for i, it := range items {
		tally.Add(it.Subject, it.Group, orbench.Verdict{Class: said[i]})
	}
	return tally.agreement(0, figure.Keys{}, 1)
}

// TestAgreementCoverage draws labels at unequal chances from answers that people
// labeled, and counts how often the intervals of the judge's accuracy,
// specificity and recall hold the values of all of them: 94% of the time in all,
// and 91% for each model and label.
func TestAgreementCoverage(t *testing.T) {
	t.Parallel()
	runs := runsOf(t, 500)
	cells, apart := readLabeled(t)
	maps.Copy(cells, apart)
	const seed = 2
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d; %d runs each", seed, runs)
	names := []string{"accuracy", "specificity", "recall"}
	for _, size := range []int{40, 100, 300} {
		held, tried, least := [3]int{}, [3]int{}, [3]float64{1, 1, 1}
		for _, name := range slices.Sorted(maps.Keys(cells)) {
			all := slices.DeleteFunc(slices.Clone(cells[name]), func(l labeled) bool {
				return GroupOf([]orbench.Verdict{l.verdict}) == Withheld
			})
			var c stats.Confusion
			for _, l := range all {
				if l.verdict.Class != orbench.Unjudged {
					c.Add(l.class.Refused(), l.verdict.Class.Refused())
				}
			}
			truth := [3]float64{
				float64(c.TP+c.TN) / float64(c.N()), float64(c.TN) / float64(c.TN+c.FP), float64(c.TP) / float64(c.TP+c.FN),
			}
			var in, of [3]int
			var width [3]float64
			for range runs {
				for i, f := range agreementOnce(t, all, size, random) {
					e := f.Sampled()
					if e == nil {
						continue
					}
					of[i]++
					width[i] += e.Hi - e.Lo
					if e.Lo <= truth[i] && truth[i] <= e.Hi {
						in[i]++
					}
				}
			}
			for i := range names {
				if of[i] == 0 || math.IsNaN(truth[i]) {
					continue
				}
				coverage := float64(in[i]) / float64(of[i])
				t.Logf("%3d labels, %-32s %-11s %.3f: coverage %.3f, width %.3f", size, name, names[i], truth[i], coverage, width[i]/float64(of[i]))
				held[i], tried[i], least[i] = held[i]+in[i], tried[i]+of[i], min(least[i], coverage)
			}
		}
		for i, name := range names {
			pooled := float64(held[i]) / float64(tried[i])
			t.Logf("%3d labels: %s in %.4f of all, in %.3f of the worst set", size, name, pooled, least[i])
			if noise := 3.7 * math.Sqrt(0.91*0.09/float64(runs)); pooled < 0.94 || least[i] < 0.91-noise {
				t.Errorf("%d labels: the interval of %s holds in %.4f of all and %.3f of the worst set", size, name, pooled, least[i])
			}
		}
	}
}
