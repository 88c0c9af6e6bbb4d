package annotation

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// PersonRate is the rate of a cell by the labels of one person alone.
type PersonRate struct {
	Person string `json:"person"`
	Labels int    `json:"labels"`
	// Rate is as Corrected.Rate; nil if the person's labels give none.
	Rate *stats.Estimate `json:"rate"`
}

// PeoplePair compares two people on the drawn answers that both labeled, before
// any dispute was settled. Answers on which judges differ are drawn more often,
// so people differ more on them than on all answers. Intervals are 95%; an
// undefined measure is nil.
type PeoplePair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Counts are the answers by who calls them refusals.
	versus.Counts
	// Positive is the agreement on refusals, 2 Both / (2 Both + OnlyA + OnlyB).
	// Negative is that on answers. See stats.Confusion.F1Interval.
	Positive *stats.Estimate `json:"positive_agreement"`
	Negative *stats.Estimate `json:"negative_agreement"`
	stats.Kappa
	// AC1 is Gwet's; see stats.GwetAC1.
	AC1 *stats.Estimate `json:"ac1"`
	// Difference is the rate by A minus that by B on these answers, weighted as
	// the corrected rate is; nil for pairs of several cells.
	Difference *float64 `json:"rate_difference,omitempty"`
	// Warnings say what makes the corrected rate depend on who labeled.
	Warnings []string `json:"warnings,omitempty"`
}

// Finish computes the measures and warnings from the counts. half is half the
// width of the interval of the cell's corrected rate. Neither kappa nor AC1 is
// an alarm by itself: where refusals are rare, kappa is low for people who agree
// and AC1 high for a person who never sees a refusal.
func (p *PeoplePair) Finish(half float64) {
	var c stats.Confusion
	c.TP, c.FN, c.FP, c.TN = p.Whole()
	p.Positive = stats.OrNil(c.F1Interval(confidence))
	p.Negative = stats.OrNil(stats.Confusion{TP: c.TN, FN: c.FP, FP: c.FN, TN: c.TP}.F1Interval(confidence))
	p.Kappa = c.Kappa()
	p.AC1 = stats.OrNil(stats.GwetAC1(p.Table(), confidence))
	p.Warnings = nil
	const leastPositive, leastKappa, rare, few = 0.7, 0.6, 0.1, 10
	if d := p.Difference; d != nil && math.Abs(*d) > half {
		p.Warnings = append(p.Warnings, fmt.Sprintf("their rates differ by %.1f points, more than half the interval's width (%.1f)", 100*math.Abs(*d), 100*half))
	}
	if p.Positive != nil && p.Positive.Hi < leastPositive {
		p.Warnings = append(p.Warnings, "they agree on less than 70% of refusals")
	}
	rate := (2*p.Both + p.OnlyA + p.OnlyB) / max(1, 2*p.N())
	if p.Value != nil && *p.Value < leastKappa && p.N() >= few && rate >= rare && rate <= 1-rare {
		p.Warnings = append(p.Warnings, "their kappa is below 0.6")
	}
}

// pairTally counts the answers that two people labeled.
type pairTally struct {
	PeoplePair
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
		one := t.people[a.By]
		if one == nil {
			one = &Tally{}
			t.people[a.By] = one
		}
		share := 0.0
		if a.Class.Refused() {
			share = 1
		}
		one.counts[g].label(w, share)
		for _, b := range all[i+1:] {
			key := [2]string{a.By, b.By}
			p := t.pairs[key]
			if p == nil {
				p = &pairTally{PeoplePair: PeoplePair{A: a.By, B: b.By}}
				t.pairs[key] = p
			}
			x, y := versus.Once(a.Class.Refused()), versus.Once(b.Class.Refused())
			p.Say(x.Yes > 0, y.Yes > 0)
			p.weights[g] += w
			p.differences[g] += w * (x.Share() - y.Share())
		}
	}
}

// peoples returns the rates by person, and each pair of people who labeled the
// same answers. half is as in PeoplePair.Finish.
func (t *Tally) peoples(designEffect, half float64) (rates []PersonRate, pairs []PeoplePair) {
	for _, name := range slices.Sorted(maps.Keys(t.people)) {
		one := *t.people[name]
		one.steps = t.steps
		for g := range groups {
			one.counts[g].size = t.counts[g].size
		}
		c, ok := one.corrected(designEffect)
		rates = append(rates, PersonRate{Person: name, Labels: c.Labels, Rate: stats.OrNil(c.Rate, ok)})
	}
	for _, p := range t.pairs {
		var all, difference float64
		for g, w := range p.weights {
			if w > 0 {
				size := float64(t.counts[g].size)
				all, difference = all+size, difference+size*p.differences[g]/w
			}
		}
		difference /= all
		p.Difference = &difference
		p.Finish(half)
		pairs = append(pairs, p.PeoplePair)
	}
	slices.SortFunc(pairs, func(a, b PeoplePair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return rates, pairs
}

// Disputes returns the answers that some people call refusals and others answers, and the
// prompts to which people give several labels, each with what they said, for somebody to
// settle.
func (w Words) Disputes(entries []Entry) []Entry {
	var disputes []Entry
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
