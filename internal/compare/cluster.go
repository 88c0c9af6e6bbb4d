package compare

import (
	"maps"
	"math"
	"slices"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// clusterKey identifies a cluster. Each dataset numbers its own clusters.
type clusterKey struct{ dataset, cluster string }

// cluster returns the number of the cluster of a row's prompt, from 1; it is 0
// if the prompt has no known cluster.
func (c *Comparison) cluster(r score.AnswerRow) int {
	if r.Prompt.Cluster == "" {
		return 0
	}
	k := clusterKey{r.Dataset, r.Prompt.Cluster}
	if c.clusters[k] == 0 {
		c.clusters[k] = len(c.clusters) + 1
	}
	return c.clusters[k]
}

// clusterOn returns the number of the cluster that the i-th prompt counts in on
// a side. A pair counts in one cluster: the base's, if the base has one. A
// prompt that shares nothing has a number of its own, below 0.
func (c *Comparison) clusterOn(side, i int, paired bool) int {
	of := c.entries[i].clusters
	if paired {
		side = base
		if of[base] == 0 {
			side = candidate
		}
	}
	if of[side] == 0 {
		return -i - 1
	}
	return of[side]
}

// clusterCounts holds one side's prompts by the number of their cluster.
type clusterCounts map[int]stats.Cluster

// add counts a prompt.
func (n clusterCounts) add(cluster int, refused bool) {
	k := n[cluster]
	k.N++
	if refused {
		k.Sum++
	}
	n[cluster] = k
}

// list returns the clusters in the order of their numbers, because sums of
// floating-point numbers depend on the order.
func (n clusterCounts) list() []stats.Cluster {
	list := make([]stats.Cluster, 0, len(n))
	for _, number := range slices.Sorted(maps.Keys(n)) {
		list = append(list, n[number])
	}
	return list
}

// changes returns what each cluster of pairs changed from the base to the
// candidate.
func (n *counts) changes() []stats.Cluster {
	list := make([]stats.Cluster, 0, len(n.clusters[base]))
	for _, number := range slices.Sorted(maps.Keys(n.clusters[base])) {
		before, after := n.clusters[base][number], n.clusters[candidate][number]
		list = append(list, stats.Cluster{N: before.N, Sum: after.Sum - before.Sum})
	}
	return list
}

// clusterEffect returns the design effect of what clusters changed: the variance
// of the difference, over that of as many prompts on their own.
func clusterEffect(changes []stats.Cluster) float64 {
	var n, sum, squares, moved float64
	for _, c := range changes {
		n, sum, moved = n+float64(c.N), sum+float64(c.Sum), moved+math.Abs(float64(c.Sum))
	}
	mean := sum / n
	for _, c := range changes {
		d := float64(c.Sum) - mean*float64(c.N)
		squares += d * d
	}
	// Changes within a cluster that cancel are not seen, which errs on the safe side.
	alone := moved - n*mean*mean
	if alone <= 0 {
		return 1
	}
	return math.Max(1, squares/alone)
}

// clustered reports whether any two prompts of a side share a cluster. There are no counts by
// cluster where no prompt has one.
func (n *counts) clustered() bool {
	for side, of := range n.clusters {
		if len(of) > 0 && n.n[side] > len(of) {
			return true
		}
	}
	return false
}

// clusterRates sets the number of clusters of both rates. It also sets their
// clustered interval, unless all prompts are in one cluster.
func (n *counts) clusterRates(f *Figures) {
	for side, rate := range []*Rate{&f.Base, &f.Candidate} {
		rate.Clusters = len(n.clusters[side])
		if rate.Clusters < 2 || rate.Clusters == rate.N {
			continue
		}
		if e, ok := stats.WilsonClustered(n.clusters[side].list(), score.Confidence); ok {
			rate.CI95Clustered = e.Ends()
		}
	}
}

// unpairedClusters estimates the difference between the rates of two
// independent samples of clusters, from their clustered intervals.
func (n *counts) unpairedClusters(confidence float64) (stats.Estimate, bool) {
	var rates [2]stats.Estimate
	for side := range rates {
		var ok bool
		if rates[side], ok = stats.WilsonClustered(n.clusters[side].list(), confidence); !ok {
			return stats.Estimate{}, false
		}
	}
	return stats.RateDifference(rates[candidate], rates[base]), true
}

// fisherClustered returns Fisher's test of the counts divided by the design
// effect of each sample (Rao and Scott 1992).
func (n *counts) fisherClustered() float64 {
	var size, some [2]int
	for side := range size {
		effect := stats.DesignEffect(n.clusters[side].list())
		size[side] = int(math.Round(float64(n.n[side]) / effect))
		some[side] = int(math.Round(float64(n.refused[side]) / effect))
	}
	return stats.FisherExact(some[base], size[base], some[candidate], size[candidate])
}
