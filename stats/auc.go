package stats

import (
	"cmp"
	"slices"
	"sort"
)

// PairScores are the scores of the prompts of a pair or cluster.
type PairScores struct{ Safe, Toxic []float64 }

// AUC estimates the chance that a toxic prompt's score is higher than a safe one's; a tie
// counts half. This is the area under the ROC curve. Every score has equal weight,
// whatever its cluster. Either side of a cluster may be empty, and independent scores are
// clusters of one.
//
// The interval is Wilson's, at the number of prompts that corresponds to the variance of
// DeLong's components, summed by cluster (Obuchowski 1997, Biometrics 53:567-578,
// equations 3 to 5). With clusters of one this is DeLong's own variance (1988, Biometrics
// 44:837-845). The number is at most that of the clusters of the two sides. AUC reports
// false if one side is empty in all clusters.
func AUC(clusters []PairScores, confidence float64) (area Estimate, ok bool) {
	checkConfidence(confidence)
	var safe, toxic []scored
	for i, c := range clusters {
		for _, s := range c.Safe {
			safe = append(safe, scored{s, i})
		}
		for _, t := range c.Toxic {
			toxic = append(toxic, scored{t, i})
		}
	}
	if len(safe) == 0 || len(toxic) == 0 {
		return Estimate{}, false
	}
	// The components of each score, from 0 to 1.
	m, n := float64(len(toxic)), float64(len(safe))
	ofToxic, ofSafe := shareBelow(toxic, safe), shareBelow(safe, toxic)
	var value float64
	for i := range ofToxic {
		ofToxic[i] /= n
		value += ofToxic[i] / m
	}
	for i := range ofSafe {
		ofSafe[i] = 1 - ofSafe[i]/m
	}
	value = min(1, value)
	// The sums of the components of each cluster minus the mean.
	pullToxic, pullSafe := make([]float64, len(clusters)), make([]float64, len(clusters))
	for i, t := range toxic {
		pullToxic[t.pair] += ofToxic[i] - value
	}
	for i, s := range safe {
		pullSafe[s.pair] += ofSafe[i] - value
	}
	withToxic, withSafe := 0, 0
	var squaresToxic, squaresSafe, products float64
	for i, c := range clusters {
		if len(c.Toxic) > 0 {
			withToxic++
		}
		if len(c.Safe) > 0 {
			withSafe++
		}
		squaresToxic += pullToxic[i] * pullToxic[i]
		squaresSafe += pullSafe[i] * pullSafe[i]
		products += pullToxic[i] * pullSafe[i]
	}
	// A single cluster shows no variance.
	of := func(sum float64, units int) float64 { return sum * float64(units) / float64(max(1, units-1)) }
	variance := of(squaresToxic, withToxic)/(m*m) + of(squaresSafe, withSafe)/(n*n) + 2*of(products, len(clusters))/(m*n)
	if variance < 1e-18 {
		variance = 0 // rounding
	}
	return shareWith(value, variance, min(withSafe, withToxic), float64(withSafe+withToxic), confidence), true
}

// scored is a score with the number of its pair.
type scored struct {
	score float64
	pair  int
}

// shareBelow counts for each score the other side's scores below it; ties count half.
func shareBelow(scores, others []scored) []float64 {
	sorted := slices.Clone(others)
	slices.SortFunc(sorted, func(a, b scored) int { return cmp.Compare(a.score, b.score) })
	out := make([]float64, len(scores))
	for i, s := range scores {
		below := sort.Search(len(sorted), func(k int) bool { return sorted[k].score >= s.score })
		upTo := sort.Search(len(sorted), func(k int) bool { return sorted[k].score > s.score })
		out[i] = float64(below+upTo) / 2
	}
	return out
}
