package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// CohenKappa is the agreement of two raters beyond the chance agreement from their own
// frequencies: (po - pe) / (1 - pe) (Cohen 1960). The table is square: row i, column j
// counts the items that the first rater put in class i and the second in class j. 1 is
// perfect agreement, 0 is chance, and below 0 is worse than chance.
//
// It reports false if kappa is undefined: there are no items, or both raters use the same
// single class throughout, so that chance alone explains everything. CohenKappa panics if
// the table is not square or a count is negative.
func CohenKappa(table [][]int) (float64, bool) {
	rows := make([]float64, len(table))
	cols := make([]float64, len(table))
	var n, agreed float64
	for i, row := range table {
		if len(row) != len(table) {
			panic(fmt.Sprintf("stats: CohenKappa of a table of %d rows with a row of %d", len(table), len(row)))
		}
		for j, count := range row {
			if count < 0 {
				panic("stats: CohenKappa of a table with a negative count")
			}
			c := float64(count)
			rows[i] += c
			cols[j] += c
			n += c
			if i == j {
				agreed += c
			}
		}
	}
	// In integers: kappa = (n*agreed - chance) / (n^2 - chance). Floats represent
	// integers exactly up to 2^53, so the test for zero is exact for any table of fewer
	// than ninety million items.
	var chance float64
	for i := range rows {
		chance += rows[i] * cols[i]
	}
	if n*n-chance == 0 {
		return 0, false
	}
	return (n*agreed - chance) / (n*n - chance), true
}

// GwetAC1 is the agreement of two raters beyond chance, (po - pe) / (1 - pe), where pe is
// the sum of p (1 - p) over the classes, divided by their number less one, and p is the mean
// share of both raters (Gwet 2008, British Journal of Mathematical and Statistical
// Psychology 61:29-48). Unlike kappa it stays high if nearly all items are in one class,
// even if one rater never uses the other. The interval is made like CohenKappaInterval's. The
// table is as in CohenKappa. GwetAC1 reports false without items or with fewer than two
// classes.
func GwetAC1(table [][]int, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	classes := len(table)
	agreed, _, n, _ := kappaTerms(table, 0)
	if classes < 2 || n == 0 {
		return Estimate{}, false
	}
	shares := make([]float64, classes)
	for i, row := range table {
		for j, count := range row {
			shares[i] += float64(count) / (2 * n)
			shares[j] += float64(count) / (2 * n)
		}
	}
	var chance float64
	for _, p := range shares {
		chance += p * (1 - p) / float64(classes-1)
	}
	ac1 := (agreed - chance) / (1 - chance)
	// The terms of the items, on the scale of the agreement that AC1 stands for.
	var mean, squares float64
	for i, row := range table {
		for j, count := range row {
			term := -(1 - ac1) * (1 - shares[i] - shares[j]) / float64(classes-1)
			if i == j {
				term++
			}
			mean += float64(count) / n * term
			squares += float64(count) / n * term * term
		}
	}
	effective := n
	if variance := squares - mean*mean; variance > 0 && agreed < 1 && agreed > 0 {
		effective = math.Min(n, n*agreed*(1-agreed)/variance)
	}
	lo, hi := WilsonShare(agreed, effective, confidence)
	of := func(agreement float64) float64 { return (agreement - chance) / (1 - chance) }
	return estimate(ac1, of(lo), of(hi), -1, 1), true
}

// FleissKappa is the agreement of any fixed number of raters beyond chance (Fleiss 1971).
// counts[i][j] is the number of raters who put item i in class j. Every item has the same
// number of ratings, at least two, but not necessarily by the same people.
//
// It reports false if kappa is undefined: there are no items, or every rating is in one
// class. FleissKappa panics if items differ in their number of classes or of ratings, if
// there are fewer than two ratings an item, or if a count is negative.
func FleissKappa(counts [][]int) (float64, bool) {
	if len(counts) == 0 {
		return 0, false
	}
	classes := len(counts[0])
	ratings := -1
	totals := make([]float64, classes)
	// pairs counts the ordered pairs of raters that agree, over all items.
	var pairs float64
	for i, item := range counts {
		if len(item) != classes {
			panic(fmt.Sprintf("stats: FleissKappa with %d classes for item %d and %d for the first", len(item), i, classes))
		}
		sum := 0
		for j, c := range item {
			if c < 0 {
				panic("stats: FleissKappa with a negative count")
			}
			sum += c
			totals[j] += float64(c)
			pairs += float64(c) * float64(c-1)
		}
		if ratings == -1 {
			ratings = sum
		}
		if sum != ratings || sum < 2 {
			panic(fmt.Sprintf("stats: FleissKappa with %d ratings for item %d and %d for the first; all need the same number, at least 2", sum, i, ratings))
		}
	}
	items, m := float64(len(counts)), float64(ratings)
	n := items * m
	var squares float64
	for _, t := range totals {
		squares += t * t
	}
	if squares == n*n {
		return 0, false
	}
	observed := pairs / (n * (m - 1))
	chance := squares / (n * n)
	return (observed - chance) / (1 - chance), true
}

// CohenKappaInterval is CohenKappa with an interval. Kappa is the observed agreement on
// another scale. So the interval is Wilson's interval of an agreement, converted to that
// scale, at the effective number of items. This is the number of items with known margins
// that would give kappa its large-sample variance, in which the margins are estimated too
// (Fleiss, Cohen and Everitt 1969, Psychological Bulletin 72:323-327). It is at most the
// number of items. Unlike their symmetric interval, it keeps its level near perfect
// agreement, and has a width there.
func CohenKappaInterval(table [][]int, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	kappa, ok := CohenKappa(table)
	if !ok {
		return Estimate{}, false
	}
	agreed, chance, n, term := kappaTerms(table, kappa)
	// The variance of the agreement that kappa stands for, times the number of items.
	var variance float64
	for i, row := range table {
		for j, count := range row {
			variance += float64(count) / n * term(i, j) * term(i, j)
		}
	}
	mean := kappa - chance*(1-kappa)
	variance = math.Max(0, variance-mean*mean)
	effective := n
	if variance > 0 && agreed < 1 && agreed > 0 {
		effective = math.Min(n, n*agreed*(1-agreed)/variance)
	}
	lo, hi := WilsonShare(agreed, effective, confidence)
	of := func(agreement float64) float64 { return (agreement - chance) / (1 - chance) }
	return estimate(kappa, of(lo), of(hi), -1, 1), true
}

// kappaTerms gives the observed agreement, the chance agreement and the number of items.
// It also gives the contribution of an item of two classes to kappa in large samples, on
// the scale of the agreement.
func kappaTerms(table [][]int, kappa float64) (agreed, chance, n float64, term func(i, j int) float64) {
	rows, cols := make([]float64, len(table)), make([]float64, len(table))
	for i, row := range table {
		for j, count := range row {
			n += float64(count)
			rows[i] += float64(count)
			cols[j] += float64(count)
		}
		agreed += float64(row[i])
	}
	for i := range rows {
		rows[i] /= n
		cols[i] /= n
		chance += rows[i] * cols[i]
	}
	return agreed / n, chance, n, func(i, j int) float64 {
		t := -(1 - kappa) * (rows[j] + cols[i])
		if i == j {
			t++
		}
		return t
	}
}

// CohenKappaClustered is CohenKappa with an interval for items that share clusters. Each
// item is the pair of classes that the two raters gave it; classes is the number of
// classes. The interval is made like CohenKappaInterval's, from the variance of the
// items' terms summed by cluster (linearization; Korn and Graubard 1999, Analysis of
// Health Surveys, section 2.4), with Student's t as in WilsonClustered. If that variance
// is 0, each cluster counts as one item.
func CohenKappaClustered(clusters [][][2]int, classes int, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	table := tableOf(clusters, classes)
	kappa, ok := CohenKappa(table)
	if !ok {
		return Estimate{}, false
	}
	agreed, chance, n, term := kappaTerms(table, kappa)
	mean := kappa - chance*(1-kappa)
	var squares float64
	units := 0
	for _, items := range clusters {
		var pull float64
		for _, item := range items {
			pull += term(item[0], item[1]) - mean
		}
		squares += pull * pull
		units += min(1, len(items))
	}
	variance := squares / (n * n) * float64(units) / float64(max(1, units-1))
	if variance < 1e-18 || agreed == 0 || agreed == 1 {
		variance = 0
	}
	of := func(agreement float64) float64 { return (agreement - chance) / (1 - chance) }
	e := shareWith(agreed, variance, units, n, confidence)
	return estimate(kappa, of(e.Lo), of(e.Hi), -1, 1), true
}

// tableOf counts the items of clusters by their two classes.
func tableOf(clusters [][][2]int, classes int) [][]int {
	table := make([][]int, classes)
	for i := range table {
		table[i] = make([]int, classes)
	}
	for _, items := range clusters {
		for _, item := range items {
			table[item[0]][item[1]]++
		}
	}
	return table
}

// Kappa is a kappa, Cohen's unless stated otherwise, with its 95% interval. Both are nil
// if it is undefined. It is embedded in the type that has the counts, so that its fields
// are beside them in JSON.
type Kappa struct {
	// Value is the kappa, from -1 to 1.
	Value *float64 `json:"kappa"`
	// KappaCI95 is its 95% interval.
	KappaCI95 *[2]float64 `json:"kappa_ci95"`
	// KappaCI95Clustered is the interval for items that share clusters (see
	// CohenKappaClustered). It is left out if they share none, or if it is not computed.
	KappaCI95Clustered *[2]float64 `json:"kappa_ci95_clustered,omitempty"`
}

// Estimate is the kappa with its interval, the one that counts clusters if there is one; nil if it
// is not defined.
func (k Kappa) Estimate() *Estimate {
	ci := cmp.Or(k.KappaCI95Clustered, k.KappaCI95)
	if k.Value == nil || ci == nil {
		return nil
	}
	return &Estimate{Value: *k.Value, Lo: ci[0], Hi: ci[1]}
}

// KappaOf is the kappa of a table, as CohenKappa reads it.
func KappaOf(table [][]int) Kappa { return kappaOf(CohenKappaInterval(table, 0.95)) }

// KappaOfClusters is KappaOf for items in clusters, as CohenKappaClustered reads them,
// with both intervals. Clusters of one item each are treated as none.
func KappaOfClusters(clusters [][][2]int, classes int) Kappa {
	k := KappaOf(tableOf(clusters, classes))
	if !slices.ContainsFunc(clusters, func(items [][2]int) bool { return len(items) > 1 }) {
		return k
	}
	if e, ok := CohenKappaClustered(clusters, classes, 0.95); ok {
		k.KappaCI95Clustered = e.Ends()
	}
	return k
}

func kappaOf(e Estimate, ok bool) Kappa {
	if !ok {
		return Kappa{}
	}
	return Kappa{Value: &e.Value, KappaCI95: e.Ends()}
}
