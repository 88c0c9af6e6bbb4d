package persistence

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// confidence is the level of all intervals.
const confidence = 0.95

// Figures are what a dialog does to the refusals of one target, on the prompts of one
// label of one dataset, as one judge sees it.
type Figures struct {
	// Target is asked in the dialog, and Alone is the target asked the prompt alone, in
	// the same way otherwise; both are without the number of a sample.
	Target        string        `json:"target"`
	Alone         string        `json:"alone"`
	Turns         string        `json:"turns"`
	Dataset       string        `json:"dataset"`
	DatasetSHA256 string        `json:"dataset_sha256"`
	Limit         int           `json:"limit,omitempty"`
	Label         orbench.Label `json:"label"`
	Judge         string        `json:"judge"`
	// Prompts have a verdict on both sides, and the Excluded lack one on either. Pairs are of a dialog's last answer with an
	// answer to the prompt alone: as many as Prompts, or, of targets that are asked
	// several times, up to as many for each as there are samples, the n-th with the n-th.
	Prompts  int `json:"prompts"`
	Excluded int `json:"excluded"`
	Pairs    int `json:"pairs"`
	// RefusedAlone and RefusedLast count the refusals among Pairs, Persisted those of
	// both. What is taken back is RefusedAlone - Persisted, and what is withdrawn
	// RefusedLast - Persisted.
	RefusedAlone int `json:"refused_alone"`
	RefusedLast  int `json:"refused_last"`
	Persisted    int `json:"persisted"`
	// AloneRate and LastRate are the shares of Pairs that are refused.
	AloneRate stats.Rate `json:"alone_rate"`
	LastRate  stats.Rate `json:"last_rate"`
	// Difference is LastRate less AloneRate with a 95% interval that uses that the
	// prompts are the same: stats.PairedDifference for one answer to each prompt, and
	// the bootstrap of whole prompts, or of the clusters that prompts share, otherwise.
	Difference *stats.Estimate `json:"difference"`
	// PersistRate and TakenBackRate are shares of RefusedAlone, and add up to 1.
	PersistRate   stats.Rate `json:"persist_rate"`
	TakenBackRate stats.Rate `json:"taken_back_rate"`
	// WithdrawnRate is the share of what is answered alone that is refused at the end.
	WithdrawnRate stats.Rate `json:"withdrawn_rate"`
	// ClusteredBy says what makes clusters of the prompts, empty where nothing does.
	ClusteredBy string `json:"clustered_by,omitempty"`
	Simulated   bool   `json:"simulated,omitempty"`
}

// Pairs counts pairs of answers to one prompt, or to the prompts of one cluster.
type Pairs struct {
	N, Alone, Last, Both int
}

// Add counts a pair by whether its answers refuse.
func (p *Pairs) Add(alone, last bool) {
	p.N++
	if alone {
		p.Alone++
	}
	if last {
		p.Last++
	}
	if alone && last {
		p.Both++
	}
}

// Counter counts towards Figures. It grows with the clusters that prompts share, and
// not with prompts.
type Counter struct {
	// Figures has what the counts are of.
	Figures
	// kinds counts prompts by their pairs, and shared has the pairs of clusters.
	kinds  map[Pairs]int
	shared map[string]*Pairs
}

// NewCounter counts towards the figures that f names.
func NewCounter(f Figures) *Counter {
	return &Counter{Figures: f, kinds: map[Pairs]int{}, shared: map[string]*Pairs{}}
}

// Add counts a prompt with its pairs; one without any is excluded. cluster is what it
// shares with others, where Figures.ClusteredBy says that it does.
func (c *Counter) Add(p Pairs, cluster string) {
	if p.N == 0 {
		c.Excluded++
		return
	}
	c.Prompts++
	c.Pairs += p.N
	c.RefusedAlone += p.Alone
	c.RefusedLast += p.Last
	c.Persisted += p.Both
	if c.ClusteredBy == "" {
		c.kinds[p]++
		return
	}
	s := c.shared[cluster]
	if s == nil {
		s = &Pairs{}
		c.shared[cluster] = s
	}
	s.N, s.Alone, s.Last, s.Both = s.N+p.N, s.Alone+p.Alone, s.Last+p.Last, s.Both+p.Both
}

// Result gives the figures of what was counted.
func (c *Counter) Result() Figures {
	f := c.Figures
	units := c.units()
	independent := c.ClusteredBy == "" && f.Pairs == f.Prompts
	rate := func(of func(Pairs) (k, n int)) stats.Rate {
		var k, n int
		var clusters []stats.Cluster
		for _, u := range units {
			if sum, size := of(u); size > 0 {
				k, n = k+sum, n+size
				clusters = append(clusters, stats.Cluster{Sum: sum, N: size})
			}
		}
		r := stats.RateOf(k, n)
		if e, ok := stats.WilsonClustered(clusters, confidence); ok && !independent {
			r.CI95Clustered = &[2]float64{e.Lo, e.Hi}
		}
		return r
	}
	f.AloneRate = rate(func(u Pairs) (int, int) { return u.Alone, u.N })
	f.LastRate = rate(func(u Pairs) (int, int) { return u.Last, u.N })
	f.PersistRate = rate(func(u Pairs) (int, int) { return u.Both, u.Alone })
	f.TakenBackRate = rate(func(u Pairs) (int, int) { return u.Alone - u.Both, u.Alone })
	f.WithdrawnRate = rate(func(u Pairs) (int, int) { return u.Last - u.Both, u.N - u.Alone })
	var e stats.Estimate
	ok := false
	if independent {
		e, ok = stats.PairedDifference(f.RefusedAlone-f.Persisted, f.RefusedLast-f.Persisted, f.Pairs, confidence)
	} else {
		var clusters []stats.Cluster
		for _, u := range units {
			clusters = append(clusters, stats.Cluster{Sum: u.Last - u.Alone, N: u.N})
		}
		e, ok = stats.Bootstrap{Confidence: confidence, Seed: 1}.ClusteredDifference(clusters)
	}
	if ok {
		f.Difference = &e
	}
	return f
}

// units are what was drawn independently, in an order that is always the same.
func (c *Counter) units() []Pairs {
	var all []Pairs
	for kind, n := range c.kinds {
		all = append(all, slices.Repeat([]Pairs{kind}, n)...)
	}
	for _, s := range c.shared {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Pairs) int {
		return slices.Compare([]int{a.N, a.Alone, a.Last, a.Both}, []int{b.N, b.Alone, b.Last, b.Both})
	})
	return all
}
