package versus

import (
	"maps"
	"slices"

	"github.com/orbench/orbench/stats"
)

// Clusters sum up what one side said of the items of each cluster, by its number.
type Clusters map[int]stats.Cluster

// Add counts an item.
func (c Clusters) Add(number int, said Said) {
	sum := c[number]
	c[number] = stats.Cluster{Sum: sum.Sum + said.Yes, N: sum.N + said.Of}
}

// List has the clusters in the order of their numbers, since sums of floating-point numbers
// depend on the order.
func (c Clusters) List() (all []stats.Cluster) {
	for _, number := range slices.Sorted(maps.Keys(c)) {
		all = append(all, c[number])
	}
	return all
}
