package score

import (
	"cmp"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// countKey identifies counts by what they are of, such as a target, and by the
// dataset, the label and the judge. All are indexes of a design's lists.
type countKey struct{ of, dataset, label, judge int }

// Scope is the prompts of one label of one dataset, as one judge sees the
// answers to them.
type Scope struct {
	Dataset       string `json:"dataset"`
	DatasetSHA256 string `json:"dataset_sha256"`
	// Limit is the number of prompts that the run was limited to, 0 for all.
	Limit int           `json:"limit,omitempty"`
	Label orbench.Label `json:"label"`
	Judge string        `json:"judge"`
}

// scope returns the scope of a key.
func (d *Design) scope(k countKey) Scope {
	set := d.Datasets[k.dataset]
	return Scope{set.Name, set.SHA256, d.Limit, orbench.Labels[k.label], d.Judges[k.judge].Name()}
}

// Scope returns the scope of a run by a judge; empty for any.
func (r *RunResult) Scope(judge string) Scope {
	return Scope{r.Dataset, r.DatasetSHA256, r.Limit, r.Label, judge}
}

// compare is the order of results.
func (k countKey) compare(o countKey) int {
	return slices.Compare([]int{k.of, k.dataset, k.label, k.judge}, []int{o.of, o.dataset, o.label, o.judge})
}

// addCluster adds counts to those of a cluster.
func addCluster[K comparable](all map[K]stats.Cluster, cluster K, more stats.Cluster) {
	sum := all[cluster]
	all[cluster] = stats.Cluster{Sum: sum.Sum + more.Sum, N: sum.N + more.N}
}

// compareClusters gives clusters a fixed order, so that their sums are always the same.
func compareClusters(a, b stats.Cluster) int {
	return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.Sum, b.Sum))
}
