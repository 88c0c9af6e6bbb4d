package versus

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/orbench/orbench/stats"
)

// MostLabels is the most labels that are proposed for one decision.
const MostLabels = 200

// What Labels takes a judge to be like: the share of refusals that it finds, and that of
// answers that it calls refusals.
const (
	recall      = 0.87
	falseAlarms = 0.025
)

// Labels is about the least number of labels of pairs that decides in eight of ten
// simulations with these counts; 0 if MostLabels do not. What decides is told B's rate minus
// A's, with its interval, and the two-sided p-value by the labeled flips. In simulations the
// judge errs on each side apart, as far as there are flips both ways, and what it missed is
// found in pairs that do not flip.
func (p *Pairs) Labels(decided func(d stats.Estimate, p float64) bool) int {
	const draws, misses, step = 100, 20, 20
	effect := p.DesignEffect()
	labels := step * (1 + sort.Search(MostLabels/step, func(i int) bool {
		random := rand.New(rand.NewPCG(20261128, uint64(i)))
		missed := 0
		for range draws {
			if d, value, ok := p.labeled(step*(i+1), effect, random); !ok || !decided(d, value) {
				missed++
			}
			if missed > misses {
				return false
			}
		}
		return true
	}))
	if labels > MostLabels {
		return 0
	}
	return labels
}

// labeled draws labels of pairs: nearly all of the first go to flips, of further ones six
// in ten.
func (p *Pairs) labeled(labels int, effect float64, random *rand.Rand) (_ stats.Estimate, value float64, ok bool) {
	pairs, all, flipped := float64(labels/2), p.OnlyA+p.OnlyB, p.Both+p.Neither
	audited := min(flipped, pairs-min(all, math.Floor(0.97*min(pairs, 30)+0.6*max(0, pairs-30))))
	spurious := min((1-recall)/recall*p.Both+falseAlarms/(1-falseAlarms)*p.Neither, p.OnlyA, p.OnlyB)
	missed := (1 - recall) / math.Max(1, p.Neither)
	var newly, nolonger []stats.LabeledStratum
	var d, changed, variance float64
	for i, s := range []struct{ size, up, down float64 }{
		{p.OnlyB, 1 - spurious/math.Max(1, p.OnlyB), 0},
		{p.OnlyA, 0, 1 - spurious/math.Max(1, p.OnlyA)},
		{p.Both, 0, 0},
		{p.Neither, missed * (p.OnlyB - spurious), missed * (p.OnlyA - spurious)},
	} {
		size := math.Round(s.size)
		if size == 0 {
			continue
		}
		n := min(all, pairs-audited) * size / math.Max(1, all)
		if i > 1 {
			n = audited * size / math.Max(1, flipped)
		}
		n = math.Max(1, math.Min(size, math.Round(n)))
		var up, down float64
		for range int(n) {
			switch u := random.Float64(); {
			case u < s.up:
				up++
			case u < s.up+s.down:
				down++
			}
		}
		newly = append(newly, stats.LabeledStratum{Size: int(size), Mean: up / n, Labels: n})
		nolonger = append(nolonger, stats.LabeledStratum{Size: int(size), Mean: down / n, Labels: n})
		if i < 2 {
			weight, mean := size/p.N(), (up-down)/(n+1)
			d, changed = d+weight*(up-down)/n, changed+weight*(up+down)/n
			variance += weight * weight * ((up+down+1)/(n+1) - mean*mean) / (n + 1) * (1 - n/size)
		}
	}
	variance += effect * (changed + 2/p.N() - d*d) / p.N()
	e, ok := stats.StratifiedChange(newly, nolonger, effect, 0.95)
	return e, math.Erfc(math.Abs(d) / math.Sqrt(2*variance)), ok
}
