package score

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// Keys say what a judge's figures of the run are of; without a judge, of any.
func (r *RunResult) Keys(judge string) figure.Keys {
	return figure.Keys{Target: r.Target, Dataset: r.Dataset, DatasetSHA256: r.DatasetSHA256, Limit: r.Limit, Label: r.Label, Judge: judge}
}

// Scope is Keys for all targets.
func (r *RunResult) Scope(judge string) figure.Keys {
	of := r.Keys(judge)
	of.Target = ""
	return of
}

// Finish computes the figures that rest on several runs. Call it once all runs
// are there.
func (r *Result) Finish() {
	pairs := r.Pairs()
	r.Figures = slices.Concat(r.Figures, r.changes(), r.dialogs(), tradeOffs(pairs), correlations(pairs), r.orders(), r.setOrders())
}

// difference is the rate of one run less that of a base, by a judge, on the prompts with
// verdicts on both; nil if there are none. Its interval uses that the prompts are the same;
// see versus.Pairs.
func (r *Result) difference(m figure.Measure, run, base *RunResult, name string) *figure.Figure {
	p, by := r.pairs(base.Target, run.Target, run.Scope(name))
	d, ok := p.Difference(Confidence)
	if !ok {
		return nil
	}
	of := run.Keys(name)
	of.Other = base.Target
	n := int(math.Round(p.N()))
	f := figure.PartOf(m, of, n, p.OnlyA+p.OnlyB, &d.Estimate)
	f.P, f.Test, f.ClusteredBy = &d.P, string(d.Test), by
	assumes := versus.TwoModels
	switch sides := [2]orbench.KinSide{base.kin(), run.kin()}; {
	case base.Run == run.Run:
		assumes = Assume(base.Asked, run.Asked)
	case slices.Contains(r.OneModel, sides) || slices.Contains(r.OneModel, [2]orbench.KinSide{sides[1], sides[0]}):
		assumes = versus.OneModel
	}
	variant := base.Run == run.Run && assumes != versus.TwoModels
	language := run.Measured(variant)
	if base.Measured(variant) != language {
		language = ""
	}
	// A half is a whole: sums of shares are not exact.
	count := func(refused float64) [2]int { return [2]int{int(math.Round(refused + 1e-9)), n} }
	if name == judge.Flag {
		f.Range = f.Sampling // what a guard flags is what it does
	}
	if e := ErrorBetween(name, run.Label, language, assumes, count(p.Both+p.OnlyA), count(p.Both+p.OnlyB), d.Estimate); e != nil {
		f.Range, f.Assumes = &e.Difference, string(e.Assumes)
	}
	return &f
}

// beside returns the run of the same prompts for which is is true, in the same run; nil if
// there is none.
func (r *Result) beside(run *RunResult, is func(*RunResult) bool) *RunResult {
	i := slices.IndexFunc(r.Runs, func(o RunResult) bool { return o.Run == run.Run && o.Scope("") == run.Scope("") && is(&o) })
	if i < 0 {
		return nil
	}
	return &r.Runs[i]
}

// changes are what the variants of a result add to the refusals of their bases.
func (r *Result) changes() (all []figure.Figure) {
	for i := range r.Runs {
		run := &r.Runs[i]
		base := r.beside(run, func(o *RunResult) bool { return o.Target == run.Base })
		if base == nil {
			continue
		}
		for _, j := range run.Judges {
			if f := r.difference(figure.Change, run, base, j.Judge); f != nil {
				all = append(all, *f)
			}
		}
	}
	return all
}

// dialogs are what the dialogs of a result do to refusals, of the targets that the same run
// asks both in a dialog and, otherwise in the same way, with the prompt alone. An answer is
// compared with that to the prompt alone, the n-th with the n-th. Where a dialog goes on
// from the target's own answer, that is the one to the prompt alone.
func (r *Result) dialogs() (all []figure.Figure) {
	for i := range r.Runs {
		run, asked := &r.Runs[i], r.Runs[i].Asked
		asked.Turns = ""
		alone := r.beside(run, func(o *RunResult) bool { return reflect.DeepEqual(o.Asked, asked) })
		if run.Asked.Turns == "" || alone == nil {
			continue
		}
		for _, j := range run.Judges {
			s := run.Scope(j.Judge)
			of, end := r.columnOf(run.Target, s)
			_, first := r.columnOf(alone.Target, s)
			if end == nil || first == nil {
				continue
			}
			keys := run.Keys(j.Judge)
			keys.Other = alone.Target
			figures := persistence(of, first, end, keys)
			if figures == nil {
				continue
			}
			if run.Base != alone.Target {
				figures = append(figures, *r.difference(figure.Change, run, alone, j.Judge))
			}
			all = append(all, figures...)
		}
	}
	return all
}

// persistence says what becomes of refusals and of answers from the prompt alone to the end
// of a dialog; nil without verdicts on both.
func persistence(of *Said, alone, end *Column, keys figure.Keys) (all []figure.Figure) {
	excluded, prompts, clustered := 0, 0, false
	clusters := map[int]versus.Counts{}
	for _, i := range of.Places[keys.Label] {
		var p versus.Counts
		for n := range min(len(alone.Samples), len(end.Samples)) {
			if x, y := alone.Samples[n][i], end.Samples[n][i]; x > saidNothing && y > saidNothing {
				p.Say(x == saidRefused, y == saidRefused)
			}
		}
		if p.N() == 0 {
			excluded++
			continue
		}
		prompts++
		cluster := of.Clusters[i]
		clustered = clustered || cluster > 0 || p.N() > 1
		cluster = cmp.Or(cluster, -i-1)
		so := clusters[cluster]
		so.Add(p)
		clusters[cluster] = so
	}
	if prompts == 0 {
		return nil
	}
	add := func(m figure.Measure, part func(versus.Counts) (k, n float64)) {
		var sum stats.Cluster
		var units []stats.Cluster
		for _, u := range clusters {
			if k, n := part(u); n > 0 {
				units = append(units, stats.Cluster{Sum: int(k), N: int(n)})
				sum.Sum, sum.N = sum.Sum+int(k), sum.N+int(n)
			}
		}
		slices.SortFunc(units, compareClusters)
		rate := stats.RateOf(sum.Sum, sum.N)
		if clustered {
			rate.CI95Clustered = stats.OrNil(stats.WilsonClustered(units, Confidence)).Ends()
		}
		f := figure.PartOf(m, keys, sum.N, float64(sum.Sum), rate.Estimate())
		f.ClusteredBy = of.ClusteredBy
		if excluded > 0 {
			f.Missing = map[string]int{"excluded": excluded}
		}
		all = append(all, f)
	}
	add(figure.RefusedAlone, func(u versus.Counts) (k, n float64) { return u.Both + u.OnlyA, u.N() })
	add(figure.RefusedLast, func(u versus.Counts) (k, n float64) { return u.Both + u.OnlyB, u.N() })
	add(figure.TakenBack, func(u versus.Counts) (k, n float64) { return u.OnlyA, u.Both + u.OnlyA })
	add(figure.Withdrawn, func(u versus.Counts) (k, n float64) { return u.OnlyB, u.OnlyB + u.Neither })
	return all
}
