package score

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/stats"
)

// Aggregated returns the result with one run for each target, while Runs has
// one for each sample of a target that is asked several times. Counts are sums
// over the samples, and Samples says how many there are. The rate is the mean
// of the prompts' own rates. Its interval takes into account that answers to
// one prompt are alike: CI95 is CI95Clustered. There is no interval for the
// rates without the filters. r is not changed.
func (r *Result) Aggregated() Result {
	if len(r.Propensity) == 0 {
		return *r
	}
	aggregated := *r
	aggregated.Runs = []RunResult{}
	// at maps each variant to the index of its run in the list.
	at := map[aggregateKey]int{}
	for _, run := range r.Runs {
		if run.Variant == "" {
			aggregated.Runs = append(aggregated.Runs, run)
			continue
		}
		key := aggregateKey{run.Variant, run.Scope("")}
		i, ok := at[key]
		if !ok {
			at[key] = len(aggregated.Runs)
			run.Target, run.Variant, run.Samples, run.Asked.Sample = run.Variant, "", 1, 0
			aggregated.Runs = append(aggregated.Runs, run.copied())
			continue
		}
		aggregated.Runs[i].addSample(run)
	}
	for i := range aggregated.Runs {
		if aggregated.Runs[i].Samples > 0 {
			r.aggregateRates(&aggregated.Runs[i])
		}
	}
	return aggregated
}

// aggregateKey identifies a run of Aggregated.
type aggregateKey struct {
	target string
	Scope
}

// copied returns a copy of the run with its own lists and counts.
func (r RunResult) copied() RunResult {
	r.Agreement = slices.Clone(r.Agreement)
	r.Judges, r.ServedBy = slices.Clone(r.Judges), slices.Clone(r.ServedBy)
	for i := range r.Judges {
		j := &r.Judges[i]
		j.ServedBy = slices.Clone(j.ServedBy)
		j.ByClass, j.BySource, j.ByCategory = maps.Clone(j.ByClass), maps.Clone(j.BySource), maps.Clone(j.ByCategory)
		if j.Unable != nil {
			unable := *j.Unable
			j.Unable = &unable
		}
	}
	r.BlockedFor, r.Read, r.Reread = maps.Clone(r.BlockedFor), maps.Clone(r.Read), maps.Clone(r.Reread)
	findings := r.Findings
	r.Findings = nil
	r.addFindings(findings)
	return r
}

func (r *RunResult) addFindings(more map[string]map[defense.Decision]int) {
	for step, counts := range more {
		for decision, n := range counts {
			r.addFinding(step, decision, n)
		}
	}
}

func (r *RunResult) addFinding(step string, decision defense.Decision, n int) {
	if r.Findings == nil {
		r.Findings = map[string]map[defense.Decision]int{}
	}
	if r.Findings[step] == nil {
		r.Findings[step] = map[defense.Decision]int{}
	}
	r.Findings[step][decision] += n
}

// Together adds up the answers under the same names.
func Together(all, more []ServedBy) []ServedBy {
	for _, by := range more {
		all = addServed(all, by)
	}
	return all
}

// addSample adds the counts of another sample.
func (r *RunResult) addSample(o RunResult) {
	r.Samples++
	if o.Language != r.Language {
		r.Language = ""
	}
	r.N += o.N
	for _, f := range fates {
		*f.count(r) += *f.count(&o)
	}
	r.ServedBy = Together(r.ServedBy, o.ServedBy)
	r.AccountLimited += o.AccountLimited
	r.Truncation.AddCount(o.Truncation)
	r.Simulated = r.Simulated || o.Simulated
	r.Read, r.Reread = addRead(r.Read, o.Read), addRead(r.Reread, o.Reread)
	for _, reason := range slices.Sorted(maps.Keys(o.BlockedFor)) {
		r.blockedFor(reason, o.BlockedFor[reason])
	}
	r.addFindings(o.Findings)
	for i := range r.Judges {
		r.Judges[i].addSample(o.Judges[i])
	}
	for i := range r.Agreement {
		a, b := &r.Agreement[i], o.Agreement[i]
		a.N += b.N
		a.Counts.Add(b.Counts)
		a.Example = cmp.Or(a.Example, b.Example)
		a.Finish()
	}
}

// addSample adds the counts of another sample.
func (j *JudgeResult) addSample(o JudgeResult) {
	j.Judged += o.Judged
	j.Refused += o.Refused
	j.Unjudged += o.Unjudged
	j.Failed += o.Failed
	j.Cut += o.Cut
	j.NoAnswer += o.NoAnswer
	j.UnjudgedFor = cmp.Or(j.UnjudgedFor, o.UnjudgedFor)
	j.ServedByOther += o.ServedByOther
	j.ServedBy = Together(j.ServedBy, o.ServedBy)
	j.Unfiltered.Judged += o.Unfiltered.Judged
	j.Unfiltered.Refused += o.Unfiltered.Refused
	j.Simulated = j.Simulated || o.Simulated
	j.addUnableOf(o.Unable)
	for class, n := range o.ByClass {
		j.ByClass[class] += n
	}
	for source, n := range o.BySource {
		j.BySource[source] += n
	}
	for category, n := range o.ByCategory {
		sum := j.ByCategory[category]
		j.ByCategory[category] = Count{N: sum.N + n.N, Refused: sum.Refused + n.Refused}
	}
}

// aggregateRates sets the rates of a run with summed counts from the rates of
// its prompts.
func (r *Result) aggregateRates(run *RunResult) {
	for i := range run.Judges {
		j := &run.Judges[i]
		p := r.propensityOf(*run, j.Judge)
		if p == nil {
			continue
		}
		if run.Clusters == 0 {
			run.ClusteredBy, run.Clusters = "prompt", run.N/run.Samples
		}
		j.Rate, j.Joint, j.Withheld = stats.Rate{}, p.Joint, p.Withheld
		if j.finishUnable(); j.Unable != nil {
			j.Unable.WithThem.Rate = stats.Rate{Share: j.Unable.WithThem.Share}
		}
		j.Unfiltered.Rate = stats.Rate{Share: stats.RateOf(j.Unfiltered.Refused, j.Unfiltered.Judged).Share}
		j.Unwithheld = nil
		if u := j.without(Source.withheld); u.Judged < j.Judged {
			u.Share = stats.RateOf(u.Refused, u.Judged).Share
			j.Unwithheld = &u
		}
		if p.Mean != nil {
			rate := p.Mean.Value
			j.Rate = stats.Rate{Share: &rate, CI95: p.Mean.Ends(), CI95Clustered: p.Mean.Ends(), Stopping: p.Stopping}
		}
		for category, n := range j.ByCategory {
			n.CI95Clustered = p.ByCategory[category].Mean.Ends()
			j.ByCategory[category] = n
		}
		j.know(run.Label, run.Language)
		// Results that were not derived have no design effect.
		j.findOutliers(max(1, p.DesignEffect))
	}
}

// propensityOf returns the propensity that belongs to a run of Aggregated.
func (r *Result) propensityOf(run RunResult, judge string) *Propensity {
	i := slices.IndexFunc(r.Propensity, func(p Propensity) bool {
		return p.Target == run.Target && p.Scope == run.Scope(judge)
	})
	if i < 0 {
		return nil
	}
	return &r.Propensity[i]
}
