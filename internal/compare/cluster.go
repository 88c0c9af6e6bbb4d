package compare

import (
	"cmp"
	"math"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// clusterOn returns the number of the cluster that the i-th prompt counts in on
// a side, and 0 for one that shares nothing. A pair counts in one cluster: the
// base's, if the base has one.
func (c *Comparison) clusterOn(side, i int, paired bool) int {
	of := c.entries[i].clusters
	if paired {
		return cmp.Or(of[base], of[candidate])
	}
	return of[side]
}

// apart reports whether each answer stands for itself: no prompt was asked
// several times or shares a cluster.
func (n *counts) apart() bool { return !n.several && !n.clustered() }

// clustered reports whether any two prompts of a side share a cluster. There are no counts by
// cluster where no prompt has one.
func (n *counts) clustered() bool {
	for side, of := range n.clusters {
		if len(of) > 0 && n.sizes[side] > len(of) {
			return true
		}
	}
	return false
}

// clusterRates sets the intervals of both rates where answers are not
// independent, and the number of clusters if prompts share any.
func (n *counts) clusterRates(f *Figures) {
	for side, rate := range []*Rate{&f.Base, &f.Candidate} {
		if n.clustered() {
			rate.Clusters = len(n.clusters[side])
		}
		if n.sizes[side] == 0 || rate.Clusters == 1 || rate.Clusters == rate.N {
			continue
		}
		e := n.estimate(side, score.Confidence)
		rate.CI95Clustered = e.Ends()
		if n.several {
			rate.Share, rate.CI95 = &e.Value, e.Ends()
		}
	}
}

// fisherClustered returns Fisher's test of the counts divided by the design
// effect of each sample (Rao and Scott 1992).
func (n *counts) fisherClustered() float64 {
	var size, some [2]int
	for side := range size {
		effect := stats.DesignEffect(n.clusters[side].List())
		size[side] = int(math.Round(float64(n.sizes[side]) / effect))
		some[side] = int(math.Round(n.refused[side] / effect))
	}
	return stats.FisherExact(some[base], size[base], some[candidate], size[candidate])
}
