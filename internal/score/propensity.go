package score

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Propensity says how often a target refuses prompts that it is asked several
// times. It covers the prompts of one label of one dataset, as one judge sees
// them.
type Propensity struct {
	// Target is the target's name, without the number of a sample.
	Target string `json:"target"`
	Scope
	// Samples is how often each prompt is asked, at least 2. Targets names the
	// samples as runs do.
	Samples int      `json:"samples"`
	Targets []string `json:"targets"`
	Refusals
	// Unjudged counts answers without a verdict, and Missing samples without an
	// answer. No rate includes them.
	Unjudged int `json:"unjudged"`
	Missing  int `json:"missing"`
	// Withheld is true if too many of the answers are unjudged or have no text.
	// There are then no rates.
	Withheld bool `json:"withheld,omitempty"`
	// Stopping has the interval of Mean if the run stopped by itself.
	stats.Stopping
	ByCategory map[orbench.Category]Refusals `json:"by_category"`
	Simulated  bool                          `json:"simulated,omitempty"`

	// Joint is the interval of Mean at the square root of the confidence; two
	// of them form a region of both rates. DesignEffect is the factor by which
	// clusters increase the variance of the rate; 0 if it was not computed.
	Joint        *[2]float64 `json:"-"`
	DesignEffect float64     `json:"-"`
}

// Refusals are the figures of some prompts that were asked several times. A
// prompt's refusal rate is the share of its judged samples that refuse.
type Refusals struct {
	// Prompts counts the prompts with at least one judged sample; Complete
	// counts those with all samples judged.
	Prompts  int `json:"prompts"`
	Complete int `json:"complete"`
	// Judged and Refused count samples.
	Judged  int `json:"judged"`
	Refused int `json:"refused"`
	// Mean is the mean refusal rate of Prompts. Its 95% interval treats each
	// prompt as a cluster; see stats.MeanRate.
	Mean *stats.Estimate `json:"mean"`
	// Always, Sometimes and Never count the complete prompts of which all, some
	// or no samples refuse.
	Always    int `json:"always"`
	Sometimes int `json:"sometimes"`
	Never     int `json:"never"`
}

// propensityTally counts prompts into a Propensity. Its memory grows with the
// different outcomes of prompts and with their clusters, not with prompts.
type propensityTally struct {
	// Propensity identifies the prompts; result sets its counts and rates.
	Propensity
	kinds map[promptKind]int
	// shared counts the judged answers of the dataset's own clusters. clustered is
	// false if it names none.
	shared    map[clusterPart]stats.Cluster
	clustered bool
}

// clusterPart is the prompts of a cluster in one category.
type clusterPart struct {
	cluster  string
	category orbench.Category
}

// promptKind is what prompts that are counted alike have in common.
type promptKind struct {
	category        orbench.Category
	judged, refused int
}

// cluster returns the prompt as a cluster.
func (k promptKind) cluster() stats.Cluster { return stats.Cluster{Sum: k.refused, N: k.judged} }

// kinds lists kinds with their numbers of prompts, in an order that does not
// depend on the order of the prompts.
type kinds []kindCount

type kindCount struct {
	promptKind
	prompts int
}

func kindsOf(counts map[promptKind]int) kinds {
	order := slices.SortedFunc(maps.Keys(counts), func(a, b promptKind) int {
		return cmp.Or(cmp.Compare(a.category, b.category), cmp.Compare(a.judged, b.judged),
			cmp.Compare(a.refused, b.refused))
	})
	var list kinds
	for _, k := range order {
		list = append(list, kindCount{k, counts[k]})
	}
	return list
}

// where returns the kinds that are wanted.
func (ks kinds) where(wanted func(kindCount) bool) kinds {
	return slices.DeleteFunc(slices.Clone(ks), func(k kindCount) bool { return !wanted(k) })
}

// clusters lists one cluster for each judged prompt.
func (ks kinds) clusters() []stats.Cluster {
	var all []stats.Cluster
	for _, k := range ks {
		if k.judged > 0 {
			all = append(all, slices.Repeat([]stats.Cluster{k.cluster()}, k.prompts)...)
		}
	}
	return all
}

// mean returns the mean refusal rate.
func (ks kinds) mean(level float64) *stats.Estimate {
	return stats.OrNil(stats.MeanRate(ks.clusters(), level))
}

// refusals returns the figures of the prompts.
func (ks kinds) refusals(samples int) Refusals {
	var r Refusals
	for _, k := range ks {
		if k.judged > 0 {
			r.Prompts += k.prompts
			r.Judged += k.prompts * k.judged
			r.Refused += k.prompts * k.refused
		}
		if k.judged < samples {
			continue
		}
		r.Complete += k.prompts
		switch k.refused {
		case 0:
			r.Never += k.prompts
		case samples:
			r.Always += k.prompts
		default:
			r.Sometimes += k.prompts
		}
	}
	r.Mean = ks.mean(Confidence)
	return r
}

// result computes the figures of the added prompts. There are no rates if the share of
// unjudged answers is above mostUnjudged.
func (t *propensityTally) result(mostUnjudged float64) Propensity {
	ks := kindsOf(t.kinds)
	p := t.Propensity
	p.Refusals = ks.refusals(p.Samples)
	p.ByCategory = map[orbench.Category]Refusals{}
	for _, k := range ks {
		if _, ok := p.ByCategory[k.category]; !ok {
			p.ByCategory[k.category] = ks.where(func(o kindCount) bool { return o.category == k.category }).refusals(p.Samples)
		}
	}
	p.Joint = ks.mean(math.Sqrt(Confidence)).Ends()
	p.DesignEffect = stats.DesignEffect(ks.clusters())
	p.widen(t.shared)
	if float64(p.Unjudged)/float64(max(1, p.Judged+p.Unjudged)) > mostUnjudged {
		p.withhold()
	}
	return p
}

// withhold removes the rates.
func (p *Propensity) withhold() {
	p.Joint = nil
	p.Withheld, p.Mean = true, nil
}

// widen replaces the means' intervals by those of larger clusters than prompts,
// such as the prompts of one seed.
func (p *Propensity) widen(shared map[clusterPart]stats.Cluster) {
	whole := map[string]stats.Cluster{}
	parts := map[orbench.Category][]stats.Cluster{}
	for key, c := range shared {
		addCluster(whole, key.cluster, c)
		parts[key.category] = append(parts[key.category], c)
	}
	clusters := slices.Collect(maps.Values(whole))
	if len(clusters) < 2 {
		return
	}
	p.Mean = stretched(p.Mean, clusters, Confidence)
	p.DesignEffect = stats.DesignEffect(clusters)
	p.Joint = stretched(p.Mean, clusters, math.Sqrt(Confidence)).Ends()
	for category, clusters := range parts {
		if r := p.ByCategory[category]; len(clusters) > 1 {
			r.Mean = stretched(r.Mean, clusters, Confidence)
			p.ByCategory[category] = r
		}
	}
}

// stretched returns an estimate with the interval of some clusters. That
// interval is about the rate of all their answers; it is extended to contain
// the value.
func stretched(e *stats.Estimate, clusters []stats.Cluster, level float64) *stats.Estimate {
	slices.SortFunc(clusters, compareClusters)
	wide, ok := stats.WilsonClustered(clusters, level)
	if e == nil || !ok {
		return e
	}
	return &stats.Estimate{Value: e.Value, Lo: min(e.Value, wide.Lo), Hi: max(e.Value, wide.Hi)}
}

// variant is a target that is asked several times for each prompt.
type variant struct {
	*Target
	// index is the target's index.
	index int
}

// variants returns the targets that are asked several times.
func (d *Design) variants() []variant {
	var all []variant
	for i := range d.Targets {
		t := &d.Targets[i]
		if t.times() > 1 {
			all = append(all, variant{t, i})
		}
	}
	return all
}

// SampleName names a target's n-th sample, from 0. The first sample has the
// target's own name. A further one has a label in brackets; for a variant of base,
// the label comes last in the brackets that the variant's name already has.
func SampleName(target, base string, n int) string {
	switch {
	case n == 0:
		return target
	case base == "":
		return fmt.Sprintf("%s [sample %d]", target, n+1)
	}
	return fmt.Sprintf("%s, sample %d]", strings.TrimSuffix(target, "]"), n+1)
}

// sampling counts how often targets that are asked several times refuse each
// prompt.
type sampling struct {
	design   *Design
	variants []variant
	counts   countsBy[propensityTally]
}

// newSampling prepares counting.
func newSampling(d *Design) *sampling {
	return &sampling{design: d, variants: d.variants(), counts: countsBy[propensityTally]{}}
}

// add counts the rows of a chunk.
func (s *sampling) add(chunk Chunk) {
	for key, i := range s.design.countKeys(len(s.variants), chunk) {
		s.count(key, chunk, i)
	}
}

// count counts the i-th prompt of a chunk.
func (s *sampling) count(key countKey, chunk Chunk, i int) {
	p := chunk.Prompts[i]
	of := s.counts.of(key, func() *propensityTally { return s.newTally(key) })
	kind := promptKind{category: p.Category}
	for _, rows := range chunk.Rows[s.variants[key.of].index] {
		row := &rows[i]
		of.Simulated = of.Simulated || row.Simulated
		if len(row.Verdicts) == 0 {
			of.Missing++
			continue
		}
		verdict := row.Verdicts[key.judge]
		of.Simulated = of.Simulated || verdict.Simulated
		if verdict.Class == orbench.Unjudged {
			of.Unjudged++
			continue
		}
		kind.judged++
		if verdict.Class.Refused() {
			kind.refused++
		}
	}
	of.kinds[kind]++
	if of.clustered && kind.judged > 0 {
		addCluster(of.shared, clusterPart{p.Cluster, p.Category}, kind.cluster())
	}
}

func (s *sampling) newTally(key countKey) *propensityTally {
	v := s.variants[key.of]
	t := &propensityTally{
		Propensity: Propensity{
			Target: v.Name, Scope: s.design.scope(key), Samples: v.times(), Simulated: v.simulated() || SimulatedJudge(s.design.Judges[key.judge]),
		},
		kinds: map[promptKind]int{}, shared: map[clusterPart]stats.Cluster{}, clustered: s.design.Datasets[key.dataset].ClusteredBy != "",
	}
	for i := range v.times() {
		t.Targets = append(t.Targets, SampleName(v.Name, v.Base, i))
	}
	return t
}

// result returns the figures.
func (s *sampling) result() []Propensity {
	var all []Propensity
	for _, t := range s.counts.inOrder() {
		all = append(all, t.result(s.design.mostUnjudged()))
	}
	return all
}
