package score

import (
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
	// Samples is how often each prompt is asked, at least 2; runs have one each.
	Samples int `json:"samples"`
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
	// Prompts counts the prompts with at least one judged sample.
	Prompts int `json:"prompts"`
	// Mean is the mean refusal rate of Prompts. Its 95% interval treats each prompt, or
	// each of the dataset's own clusters, as a cluster; see stats.MeanRate.
	Mean *stats.Estimate `json:"mean"`
	// Always, Sometimes and Never count the prompts of which all samples are judged, and
	// all, some or none refuse.
	Always    int `json:"always"`
	Sometimes int `json:"sometimes"`
	Never     int `json:"never"`
}

// propensityTally counts prompts into a Propensity. Its memory grows by 64 bytes
// with each prompt.
type propensityTally struct {
	// Propensity identifies the prompts; result sets its counts and rates.
	Propensity
	all    outcomes
	by     map[orbench.Category]*outcomes
	judged int
}

// outcomes are what became of some prompts, with a cluster for each judged one.
type outcomes struct {
	Refusals
	prompts []stats.Cluster
	// shared are the dataset's own clusters, none if it names none.
	shared map[string]stats.Cluster
}

// add counts a prompt, which is the cluster of its judged samples. cluster is that of the
// dataset which has the prompt, empty for none.
func (o *outcomes) add(prompt stats.Cluster, samples int, cluster string) {
	o.Prompts++
	o.prompts = append(o.prompts, prompt)
	if cluster != "" {
		if o.shared == nil {
			o.shared = map[string]stats.Cluster{}
		}
		addCluster(o.shared, cluster, prompt)
	}
	switch {
	case prompt.N < samples:
	case prompt.Sum == 0:
		o.Never++
	case prompt.Sum == samples:
		o.Always++
	default:
		o.Sometimes++
	}
}

// mean estimates the mean rate, and the factor by which clusters increase its variance. Of
// larger clusters than prompts, such as the prompts of one seed, the interval is that of the
// rate of all their answers, extended to contain the mean.
func (o *outcomes) mean(level float64) (mean *stats.Estimate, designEffect float64) {
	// Sums of floating-point numbers depend on their order.
	slices.SortFunc(o.prompts, compareClusters)
	mean = stats.OrNil(stats.MeanRate(o.prompts, level))
	if len(o.shared) < 2 {
		return mean, stats.DesignEffect(o.prompts)
	}
	clusters := slices.SortedFunc(maps.Values(o.shared), compareClusters)
	if wide, ok := stats.WilsonClustered(clusters, level); ok {
		mean.Lo, mean.Hi = min(mean.Value, wide.Lo), max(mean.Value, wide.Hi)
	}
	return mean, stats.DesignEffect(clusters)
}

// result computes the figures of the added prompts. There are no rates if the share of
// unjudged answers is above mostUnjudged.
func (t *propensityTally) result(mostUnjudged float64) Propensity {
	p := t.Propensity
	joint, _ := t.all.mean(math.Sqrt(Confidence))
	t.all.Mean, p.DesignEffect = t.all.mean(Confidence)
	p.Joint, p.Refusals, p.ByCategory = joint.Ends(), t.all.Refusals, map[orbench.Category]Refusals{}
	for category, of := range t.by {
		of.Mean, _ = of.mean(Confidence)
		p.ByCategory[category] = of.Refusals
	}
	if float64(p.Unjudged)/float64(max(1, t.judged+p.Unjudged)) > mostUnjudged {
		p.withhold()
	}
	return p
}

// withhold removes the rates.
func (p *Propensity) withhold() { p.Withheld, p.Mean, p.Joint = true, nil, nil }

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
	design *Design
	counts map[countKey]*propensityTally
}

// newSampling prepares counting.
func newSampling(d *Design) *sampling {
	return &sampling{d, map[countKey]*propensityTally{}}
}

// add counts the rows of a chunk of the targets that are asked several times.
func (s *sampling) add(chunk Chunk) {
	for of := range s.design.Targets {
		if s.design.Targets[of].times() == 1 {
			continue
		}
		for i, prompt := range chunk.Prompts {
			for j := range s.design.Judges {
				s.count(countKey{of, chunk.Dataset, labelIndex(prompt.Label), j}, chunk, i)
			}
		}
	}
}

// count counts the i-th prompt of a chunk.
func (s *sampling) count(key countKey, chunk Chunk, i int) {
	p := chunk.Prompts[i]
	of := s.counts[key]
	if of == nil {
		of = s.newTally(key)
		s.counts[key] = of
	}
	missing := 0
	for _, rows := range chunk.Rows[key.of] {
		row := &rows[i]
		of.Simulated = of.Simulated || row.Simulated
		if len(row.Verdicts) == 0 {
			missing++
			continue
		}
		of.Simulated = of.Simulated || row.Verdicts[key.judge].Simulated
	}
	refused, judged := chunk.refusals(key.of, i, key.judge)
	of.judged += judged
	of.Missing += missing
	of.Unjudged += of.Samples - missing - judged
	in := of.by[p.Category]
	if in == nil {
		in = &outcomes{}
		of.by[p.Category] = in
	}
	if judged == 0 {
		return
	}
	for _, o := range []*outcomes{&of.all, in} {
		o.add(stats.Cluster{Sum: refused, N: judged}, of.Samples, p.Cluster)
	}
}

func (s *sampling) newTally(key countKey) *propensityTally {
	v := &s.design.Targets[key.of]
	return &propensityTally{
		Propensity: Propensity{
			Target: v.Name, Scope: s.design.scope(key), Samples: v.times(), Simulated: v.simulated() || SimulatedJudge(s.design.Judges[key.judge]),
		},
		by: map[orbench.Category]*outcomes{},
	}
}

// result returns the figures.
func (s *sampling) result() []Propensity {
	var all []Propensity
	for _, key := range slices.SortedFunc(maps.Keys(s.counts), countKey.compare) {
		all = append(all, s.counts[key].result(s.design.mostUnjudged()))
	}
	return all
}
