package annotation

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// pairTally counts the drawn answers that two people labeled, before any dispute was settled, by
// who calls them refusals. Answers on which judges differ are drawn more often, so people differ
// more on them than on all answers.
type pairTally struct {
	versus.Counts
	weights, differences [groups]float64
}

// addPeople counts the labels of a drawn answer by person, and whether they differ. w is one
// over its chance, and refused the share of refusals as it counts.
func (t *Tally) addPeople(all []orbench.Annotation, g Group, w, refused float64) {
	if slices.ContainsFunc(all, func(a orbench.Annotation) bool { return a.RateSeen }) {
		t.RateSeen++
	}
	if len(all) > 1 {
		t.Several++
	}
	if differ(all) {
		t.Disagreed++
		if refused == 0 || refused == 1 {
			t.Settled++
		}
	}
	for i, a := range all {
		table.At(t.people, a.By).counts[g].label(w, share(a.Class.Refused()))
		for _, b := range all[i+1:] {
			p := table.At(t.pairs, [2]string{a.By, b.By})
			x, y := versus.Once(a.Class.Refused()), versus.Once(b.Class.Refused())
			p.Say(x.Yes > 0, y.Yes > 0)
			p.weights[g] += w
			p.differences[g] += w * (x.Share() - y.Share())
		}
	}
}

// peoples are the rates of a cell by the labels of each person alone, and each pair of people who
// labeled the same answers. It adds warnings of pairs to c: neither kappa nor AC1 is an alarm by
// itself. Where refusals are rare, kappa is low for people who agree, and AC1 high for a person
// who never sees a refusal.
func (t *Tally) peoples(c *Corrected, of figure.Keys, designEffect float64) (all []figure.Figure) {
	for _, of.Part = range slices.Sorted(maps.Keys(t.people)) {
		one := *t.people[of.Part]
		one.steps = t.steps
		for g := range groups {
			one.counts[g].size = t.counts[g].size
		}
		c, ok := one.corrected(designEffect)
		all = append(all, figure.New(figure.RateOf(of.Label), of, c.Labels, stats.OrNil(c.Rate, ok)))
	}
	for _, pair := range slices.SortedFunc(maps.Keys(t.pairs), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		p := t.pairs[pair]
		of.Part, of.Other = pair[0], pair[1]
		var confusion stats.Confusion
		confusion.TP, confusion.FN, confusion.FP, confusion.TN = p.Whole()
		positive, kappa := stats.OrNil(confusion.F1Interval(confidence)), confusion.Kappa().Estimate()
		negative := stats.OrNil(stats.Confusion{TP: confusion.TN, FN: confusion.FP, FP: confusion.FN, TN: confusion.TP}.F1Interval(confidence))
		n := int(p.N())
		all = append(all, figure.PartOf(figure.OnRefusals, of, n, p.Both, positive), figure.PartOf(figure.OnAnswers, of, n, p.Neither, negative),
			figure.New(figure.Kappa, of, n, kappa), figure.New(figure.AC1, of, n, stats.OrNil(stats.GwetAC1(p.Table(), confidence))))
		warn := func(format string, args ...any) {
			c.Differ = append(c.Differ, fmt.Sprintf("%s and %s: ", pair[0], pair[1])+fmt.Sprintf(format, args...))
		}
		const leastPositive, leastKappa, rare, few = 0.7, 0.6, 0.1, 10
		if d, half := math.Abs(t.difference(p)), (c.Rate.Hi-c.Rate.Lo)/2; d > half {
			warn("their rates differ by %.1f points, more than half the interval's width (%.1f)", 100*d, 100*half)
		}
		if positive != nil && positive.Hi < leastPositive {
			warn("they agree on less than 70%% of refusals")
		}
		rate := (2*p.Both + p.OnlyA + p.OnlyB) / max(1, 2*p.N())
		if kappa != nil && kappa.Value < leastKappa && n >= few && rate >= rare && rate <= 1-rare {
			warn("their kappa is below 0.6")
		}
	}
	return all
}

// difference is the rate by the first of two people minus that by the second on the answers that
// both labeled, weighted as the corrected rate is.
func (t *Tally) difference(p *pairTally) float64 {
	var all, difference float64
	for g, w := range p.weights {
		if w > 0 {
			size := float64(t.counts[g].size)
			all, difference = all+size, difference+size*p.differences[g]/w
		}
	}
	return difference / all
}

// Disputes returns the answers that some people call refusals and others answers, and the
// prompts to which people give several labels, each with what they said, for somebody to
// settle.
func (w Words) Disputes(entries []Entry) (disputes []Entry) {
	for _, e := range entries {
		all := w.All(e.Subject)
		if e.OfPrompt {
			all = slices.DeleteFunc(w.On(e.Subject), func(a orbench.Annotation) bool { return a.How != orbench.Blind })
		}
		if !differ(all) {
			continue
		}
		e.Said = all
		disputes = append(disputes, e)
	}
	return disputes
}

// differ reports whether some of the labels of an answer say refusal and some do
// not, or those of a prompt are not all the same.
func differ(all []orbench.Annotation) bool {
	return slices.ContainsFunc(all, func(a orbench.Annotation) bool {
		return a.Class.Refused() != all[0].Class.Refused() || a.Label != all[0].Label
	})
}
