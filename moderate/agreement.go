package moderate

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Agreement is how far moderators agree on whether items are safe or toxic.
type Agreement struct {
	// Items counts the items on which all moderators voted.
	Items int `json:"items"`
	// Fleiss is Fleiss' kappa on those, nil where it is undefined.
	Fleiss *float64 `json:"fleiss_kappa"`
	Pairs  []Pair   `json:"pairs"`
}

// Pair is the agreement of two moderators.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Items counts the items on which both voted, and Share the part of them on
	// which they said the same.
	Items int     `json:"items"`
	Share float64 `json:"share"`
	// Kappa is Cohen's.
	stats.Kappa
}

// Agree measures agreement over the votes on many items; votes on each are in the
// same order of moderators. clusters names the cluster of each item, such as the seed
// that its prompt stems from, empty for one of its own; nil where no items share any.
func Agree(votes [][]Vote, clusters []string) Agreement {
	a := Agreement{Pairs: []Pair{}}
	if len(votes) == 0 {
		return a
	}
	n := len(votes[0])
	// The cluster of each item, by its number.
	number, of := map[string]int{}, make([]int, len(votes))
	units := 0
	for i := range votes {
		name := ""
		if clusters != nil {
			name = clusters[i]
		}
		at, known := number[name]
		if !known || name == "" {
			at, units = units, units+1
			number[name] = at
		}
		of[i] = at
	}
	// What two moderators say of the items on which both voted, by cluster.
	pairs := make([][][][2]int, n*n)
	for i := range n {
		for j := i + 1; j < n; j++ {
			pairs[i*n+j] = make([][][2]int, units)
		}
	}
	var counts [][]int
	for at, item := range votes {
		toxic, complete := 0, true
		for i, v := range item {
			x, ok := side(v)
			complete = complete && ok
			toxic += x
			for j := range i {
				if y, voted := side(item[j]); ok && voted {
					items := pairs[j*n+i]
					items[of[at]] = append(items[of[at]], [2]int{y, x})
				}
			}
		}
		if complete {
			a.Items++
			counts = append(counts, []int{n - toxic, toxic})
		}
	}
	// One moderator agrees with nobody.
	if n > 1 {
		if kappa, ok := stats.FleissKappa(counts); ok {
			a.Fleiss = &kappa
		}
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			p := Pair{A: votes[0][i].Moderator, B: votes[0][j].Moderator, Kappa: stats.KappaOfClusters(pairs[i*n+j], 2)}
			same := 0
			for _, items := range pairs[i*n+j] {
				p.Items += len(items)
				for _, item := range items {
					if item[0] == item[1] {
						same++
					}
				}
			}
			if p.Items > 0 {
				p.Share = float64(same) / float64(p.Items)
			}
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
