package moderate

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// Agreement measures how far moderators agree on whether items are safe or toxic.
type Agreement struct {
	// Items counts the items on which all moderators voted.
	Items int `json:"items"`
	// Fleiss is Fleiss' kappa on those items, nil if it is undefined.
	Fleiss *float64 `json:"fleiss_kappa"`
	Pairs  []Pair   `json:"pairs"`
}

// Pair is the agreement of two moderators.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Items counts the items on which both voted. Share is the share of them on which
	// they agreed.
	Items int     `json:"items"`
	Share float64 `json:"share"`
	// Kappa is Cohen's kappa.
	stats.Kappa
}

// Agree measures agreement over the votes on many items. The votes on each item are in
// the same order of moderators. clusters names the cluster of each item, such as the seed
// of its prompt; it is empty for an item that is its own cluster. It is nil if no items
// share a cluster.
func Agree(votes [][]Vote, clusters []string) Agreement {
	a := Agreement{Pairs: []Pair{}}
	if len(votes) == 0 {
		return a
	}
	n := len(votes[0])
	// The cluster of each item, by its number, from 1.
	numbers, of := versus.Numbers{}, make([]int, len(votes))
	for i, name := range clusters {
		of[i] = numbers.Of(name)
	}
	var counts [][]int
	for _, item := range votes {
		toxic, complete := 0, true
		for _, v := range item {
			x, ok := side(v)
			complete = complete && ok
			toxic += x
		}
		if complete {
			a.Items++
			counts = append(counts, []int{n - toxic, toxic})
		}
	}
	// A single moderator has nobody to agree with.
	if n > 1 {
		a.Fleiss = stats.OrNil(stats.FleissKappa(counts))
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			p := Pair{A: votes[0][i].Moderator, B: votes[0][j].Moderator}
			var pairs versus.Pairs
			for at, item := range votes {
				x, one := side(item[i])
				y, other := side(item[j])
				if one && other {
					pairs.Add(of[at], versus.Once(x == 1), versus.Once(y == 1))
				}
			}
			if p.Items = int(pairs.N()); p.Items > 0 {
				p.Share = (pairs.Both + pairs.Neither) / pairs.N()
			}
			p.Kappa = pairs.ClusteredKappa()
			a.Pairs = append(a.Pairs, p)
		}
	}
	return a
}

// side is 0 for a safe vote and 1 for a toxic one; an abstention is neither.
func side(v Vote) (n int, voted bool) {
	switch v.Label {
	case orbench.Safe:
		return 0, true
	case orbench.Toxic:
		return 1, true
	}
	return 0, false
}
