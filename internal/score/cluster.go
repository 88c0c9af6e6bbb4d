package score

import (
	"cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// clusterIndex numbers the clusters of a dataset, and its cells. A cell is the
// prompts of one cluster in one category. All targets share the index.
type clusterIndex struct {
	clusters map[string]int32
	cells    map[cellKey]int32
	// of holds the cluster and the category of each cell.
	of []cellOf
}

type cellKey struct {
	cluster  string
	category orbench.Category
}

type cellOf struct {
	cluster  int32
	category orbench.Category
}

func newClusterIndex() *clusterIndex {
	return &clusterIndex{clusters: map[string]int32{}, cells: map[cellKey]int32{}}
}

// cell returns the number of a prompt's cell.
func (x *clusterIndex) cell(p orbench.Prompt) int32 {
	key := cellKey{p.Cluster, p.Category}
	if n, ok := x.cells[key]; ok {
		return n
	}
	cluster, ok := x.clusters[p.Cluster]
	if !ok {
		cluster = int32(len(x.clusters))
		x.clusters[p.Cluster] = cluster
	}
	n := int32(len(x.of))
	x.cells[key] = n
	x.of = append(x.of, cellOf{cluster, p.Category})
	return n
}

// clusterCounts counts the prompts of one run by cell, and each judge's
// verdicts on them. It takes eight bytes for each cluster and judge.
type clusterCounts struct {
	seen []int32
	// by is indexed by judge, then cell.
	by [][]cellCount
}

type cellCount struct{ judged, refused int32 }

func newClusterCounts(judges int) *clusterCounts {
	return &clusterCounts{by: make([][]cellCount, judges)}
}

// add counts a prompt and its verdicts. There may be no verdicts.
func (c *clusterCounts) add(cell int32, verdicts []JudgeVerdict) {
	c.seen = reach(c.seen, cell)
	c.seen[cell]++
	for i, v := range verdicts {
		if v.Class == orbench.Unjudged {
			continue
		}
		c.by[i] = reach(c.by[i], cell)
		c.by[i][cell].judged++
		if v.Class.Refused() {
			c.by[i][cell].refused++
		}
	}
}

// reach extends a list until it has the index.
func reach[T any](list []T, index int32) []T {
	if n := int(index) + 1 - len(list); n > 0 {
		list = append(list, make([]T, n)...)
	}
	return list
}

// prompts returns the number of clusters that the run's prompts belong to.
func (c *clusterCounts) prompts(x *clusterIndex) int {
	seen := make([]bool, len(x.clusters))
	n := 0
	for cell, prompts := range c.seen {
		if cluster := x.of[cell].cluster; prompts > 0 && !seen[cluster] {
			seen[cluster] = true
			n++
		}
	}
	return n
}

// finish sets the clustered intervals and the design effect of the i-th judge's
// rates.
func (c *clusterCounts) finish(j *JudgeResult, i int, x *clusterIndex) {
	all := make([]stats.Cluster, len(x.clusters))
	// The clusters of a category are its cells.
	byCategory := map[orbench.Category][]stats.Cluster{}
	for cell, n := range c.by[i] {
		if n.judged == 0 {
			continue
		}
		of := x.of[cell]
		all[of.cluster].N += int(n.judged)
		all[of.cluster].Sum += int(n.refused)
		byCategory[of.category] = append(byCategory[of.category], stats.Cluster{N: int(n.judged), Sum: int(n.refused)})
	}
	some := all[:0]
	for _, cluster := range all {
		if cluster.N > 0 {
			some = append(some, cluster)
		}
	}
	if j.Share != nil {
		j.CI95Clustered = clusteredInterval(some, j.Judged)
	}
	if j.CI95Clustered != nil {
		j.DesignEffect = stats.DesignEffect(some)
	}
	for category, clusters := range byCategory {
		n := j.ByCategory[category]
		n.CI95Clustered = clusteredInterval(clusters, n.N)
		j.ByCategory[category] = n
	}
}

// clusteredInterval returns the interval of a rate over n prompts in clusters.
// It is nil if no prompts share a cluster, and if all share one: a single
// cluster says nothing about others.
func clusteredInterval(clusters []stats.Cluster, n int) *[2]float64 {
	if len(clusters) == n || len(clusters) < 2 {
		return nil
	}
	return stats.OrNil(stats.WilsonClustered(clusters, Confidence)).Ends()
}

// compareClusters gives clusters a fixed order, so that their sums are always the same.
func compareClusters(a, b stats.Cluster) int {
	return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.Sum, b.Sum))
}
