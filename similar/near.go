package similar

import "slices"

// Pair says that text B nearly repeats text A; both are indexes. A < B.
type Pair struct {
	A, B int
	// Jaccard is the similarity of the two, from the threshold to 1.
	Jaccard float64
}

// Jaccard is the similarity of two texts, from 0 to 1; see the package comment. A text
// without words is similar to no other.
func Jaccard(a, b string) float64 {
	x := NewIndex(1)
	setA := slices.Clone(x.shingle(a))
	setB := x.shingle(b)
	both := bothHave(setA, setB)
	if both == 0 {
		return 0
	}
	return float64(both) / float64(len(setA)+len(setB)-both)
}

// NearDuplicates goes through the texts in order and keeps each one that does not nearly
// repeat a kept one, like Index.Add. It returns the others in order, each with the most
// similar kept text, the earliest of equals. So the number of pairs is the number of
// texts to drop. The threshold is as in NewIndex.
//
// Time grows little faster than the number of texts for thresholds from about 0.5; see
// Index.
func NearDuplicates(texts []string, threshold float64) (pairs []Pair) {
	x := NewIndex(threshold)
	var kept []int
	for b, t := range texts {
		n, j, duplicate := x.Add(t)
		if duplicate {
			pairs = append(pairs, Pair{A: kept[n], B: b, Jaccard: j})
		} else {
			kept = append(kept, b)
		}
	}
	return pairs
}
