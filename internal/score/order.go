package score

import (
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// Contender is a rate among those of other targets, of a run.
type Contender struct {
	figure.Figure
	run *RunResult
}

// Contender returns the rate by which the run is compared; see Best. It reports false if
// there is none.
func (r *RunResult) Contender() (Contender, bool) {
	f, ok := r.Best()
	return Contender{f, r}, ok && f.Value != nil
}

// ComparePairs compares all pairs of rates, the first less the second, as known says or else
// by both rates alone, if these are of one judge or of people.
func ComparePairs(all []Contender, known func(a, b Contender) *figure.Figure) (pairs []figure.Figure) {
	var p, verdicts []float64
	for i, a := range all {
		for _, b := range all[i+1:] {
			f, with := known(a, b), pOf(*a.Shown(), *b.Shown())
			if f == nil && a.Judge != b.Judge {
				continue
			}
			if f == nil {
				d, value := stats.RateDifference(inside(*a.Shown()), inside(*b.Shown())), pOf(*a.Sampled(), *b.Sampled())
				of := a.run.Keys(a.Judge)
				of.Other = b.Target
				one := figure.New(figure.Difference, of, 0, &d)
				f, one.P, one.Range = &one, &value, one.Sampling
			} else {
				with = pWithError(f)
			}
			p, verdicts, pairs = append(p, with), append(verdicts, *f.P), append(pairs, *f)
		}
	}
	p, verdicts = stats.Holm(p), stats.Holm(verdicts)
	for i := range pairs {
		pairs[i].PHolm, pairs[i].PHolmByVerdicts = &p[i], &verdicts[i]
	}
	return pairs
}

// OneBasis reports whether rates rest on the same: one judge or people's labels, and single
// answers or as many samples. Rates of different bases have no common order.
func OneBasis(all []Contender) bool {
	return !slices.ContainsFunc(all, func(c Contender) bool { return c.Judge != all[0].Judge || c.Samples != all[0].Samples })
}

// pWithError is the p-value of a difference with the judge's error.
func pWithError(f *figure.Figure) float64 {
	if f.Range == nil || f.Assumes == string(versus.OneTarget) || *f.Value == 0 {
		return *f.P
	}
	return pOf(stats.Estimate{Value: *f.Value, Lo: f.Range.Lo, Hi: f.Range.Hi}, stats.Estimate{})
}

// inside widens an interval to hold its rate: a range for a new model may lie
// beyond the judge's rate.
func inside(e stats.Estimate) stats.Estimate {
	e.Lo, e.Hi = math.Min(e.Lo, e.Value), math.Max(e.Hi, e.Value)
	return e
}

// pOf returns the two-sided p-value of the difference between two independent
// rates. The ends of the interval of stats.RateDifference that lie between the
// rates are taken to move in proportion to the normal quantile.
func pOf(a, b stats.Estimate) float64 {
	if a.Value < b.Value {
		a, b = b, a
	}
	a, b = inside(a), inside(b)
	d, reach := a.Value-b.Value, math.Hypot(a.Value-a.Lo, b.Hi-b.Value)
	if d == 0 {
		return 1
	}
	return math.Erfc(stats.Z95 * d / reach / math.Sqrt2)
}

// orders compare all pairs of targets, set by set: by people's labels if these correct both
// rates, or else by the first judge.
func (r *Result) orders() (all []figure.Figure) {
	var sets [][]Contender
	for i := range r.Runs {
		run := &r.Runs[i]
		c, ok := run.Contender()
		if !ok || run.Label != orbench.Safe && run.Label != orbench.Toxic {
			continue
		}
		of := table.Entry(&sets, nil, func(s []Contender) bool { return s[0].run.Scope("") == run.Scope("") })
		*of = append(*of, c)
	}
	for _, s := range sets {
		all = append(all, ComparePairs(s, r.contend)...)
	}
	return all
}

// contend compares two contenders prompt by prompt; nil if people's labels correct both
// rates, or if no prompt has verdicts of one judge on both.
func (r *Result) contend(a, b Contender) *figure.Figure {
	if a.Judge == "" && b.Judge == "" || len(a.run.Judges) == 0 || len(b.run.Judges) == 0 || a.run.Judges[0].Judge != b.run.Judges[0].Judge {
		return nil
	}
	return r.difference(figure.Difference, a.run, b.run, a.run.Judges[0].Judge)
}

// sets are the rates on each set of a result's prompts of a label: a dataset, asked in one way,
// such as in a framing. Contenders have the names of the targets without what makes them
// variants, and as their dataset that of the set.
func (r *Result) sets(label orbench.Label) (sets [][]Contender) {
	for i := range r.Runs {
		run := &r.Runs[i]
		c, ok := run.Contender()
		if !ok || run.Label != label {
			continue
		}
		c.Dataset = run.DatasetCaption()
		if run.Base != "" {
			c.Target = run.Base
			c.Dataset += " " + strings.TrimSpace(strings.TrimPrefix(run.Target, run.Base))
		}
		set := table.Entry(&sets, nil, func(s []Contender) bool { return s[0].Dataset == c.Dataset })
		*set = append(*set, c)
	}
	return sets
}

// setOrders compare the order of targets between sets that share two or more.
func (r *Result) setOrders() (all []figure.Figure) {
	for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
		sets := r.sets(label)
		for i, a := range sets {
			for _, b := range sets[i+1:] {
				all = append(all, r.compareSets(label, a, b)...)
			}
		}
	}
	return all
}

// compareSets is Kendall's tau-b between the rates on two sets, not defined if one does not
// order the targets, with a figure for each pair of targets whose order differs: Target has
// the lower rate on the first set, Other on the second.
func (r *Result) compareSets(label orbench.Label, a, b []Contender) []figure.Figure {
	var onA, onB []Contender
	var x, y []float64
	for _, c := range a {
		if i := slices.IndexFunc(b, func(o Contender) bool { return o.Target == c.Target }); i >= 0 {
			onA, onB = append(onA, c), append(onB, b[i])
			x, y = append(x, *c.Value), append(y, *b[i].Value)
		}
	}
	if len(onA) < 2 || !OneBasis(slices.Concat(onA, onB)) {
		return nil
	}
	of := figure.Keys{Dataset: a[0].Dataset, OtherDataset: b[0].Dataset, Label: label}
	all := []figure.Figure{figure.PartOf(figure.SetOrder, of, len(onA), 0, nil)}
	all[0].Value = stats.OrNil(stats.KendallTauB(x, y))
	// Both lists have the targets in the same order, so their pairs agree.
	first, second, at := ComparePairs(onA, r.contend), ComparePairs(onB, r.contend), 0
	for i, one := range onA {
		for _, other := range onA[i+1:] {
			f, g := first[at], second[at]
			at++
			if *f.Value**g.Value >= 0 {
				continue
			}
			*all[0].K++
			of.Target, of.Other = one.Target, other.Target
			if *f.Value > 0 {
				of.Target, of.Other = of.Other, of.Target
			}
			sure := 0.0
			if f.Apart() && g.Apart() {
				sure = 1
			}
			all = append(all, figure.PartOf(figure.Reversed, of, 1, sure, nil))
		}
	}
	return all
}
