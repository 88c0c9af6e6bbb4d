package score

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// countKey identifies counts by what they are of, such as a variant or a pair
// of targets, and by the dataset, the label and the judge. All are indexes of a
// design's lists.
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

// countsBy maps keys to counts.
type countsBy[C any] map[countKey]*C

// of returns the counts of a key. It makes them if there are none yet.
func (c countsBy[C]) of(key countKey, newCounts func() *C) *C {
	found, ok := c[key]
	if !ok {
		found = newCounts()
		c[key] = found
	}
	return found
}

// inOrder returns the counts in the order of results: by what they are of, then
// by dataset, label and judge.
func (c countsBy[C]) inOrder() iter.Seq2[countKey, *C] {
	keys := slices.SortedFunc(maps.Keys(c), func(a, b countKey) int {
		return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.dataset, b.dataset), cmp.Compare(a.label, b.label), cmp.Compare(a.judge, b.judge))
	})
	return func(yield func(countKey, *C) bool) {
		for _, key := range keys {
			if !yield(key, c[key]) {
				return
			}
		}
	}
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

// countKeys returns the keys of a chunk's prompts, for the given number of
// things and all judges. Each key comes with the index of its prompt.
func (d *Design) countKeys(things int, p Chunk) iter.Seq2[countKey, int] {
	return func(yield func(countKey, int) bool) {
		for of := range things {
			for i, prompt := range p.Prompts {
				for j := range d.Judges {
					if !yield(countKey{of, p.Dataset, labelIndex(prompt.Label), j}, i) {
						return
					}
				}
			}
		}
	}
}
