package versus

import (
	"maps"
	"math"
	"slices"

	"github.com/orbench/orbench/stats"
)

// Said is what one side said of an item: Yes of Of times. An Of of 0 says nothing.
type Said struct{ Yes, Of int }

// Once is what a side said that spoke once.
func Once(yes bool) Said {
	if yes {
		return Said{1, 1}
	}
	return Said{0, 1}
}

// And is what the side said with what it said elsewhere.
func (s Said) And(o Said) Said { return Said{s.Yes + o.Yes, s.Of + o.Of} }

// Share is how often the side said yes, from 0 to 1.
func (s Said) Share() float64 { return float64(s.Yes) / float64(max(1, s.Of)) }

// Numbers numbers the clusters of items from 1, in the order in which their names come.
type Numbers map[string]int

// Of is the number of a cluster, 0 without a name.
func (n Numbers) Of(name string) int {
	if n[name] == 0 && name != "" {
		n[name] = len(n) + 1
	}
	return n[name]
}

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

// Counts are the items of which both sides said something, by who said yes. Of an item
// of which a side said several things, each count has the chance of that outcome if one
// of them is drawn from each side.
type Counts struct {
	Both    float64 `json:"both"`
	OnlyA   float64 `json:"only_a"`
	OnlyB   float64 `json:"only_b"`
	Neither float64 `json:"neither"`
}

// N is the number of items: the same to the last digit if the sides change places.
func (c Counts) N() float64 { return (c.Both + c.Neither) + (c.OnlyA + c.OnlyB) }

// Say counts an item of which both sides said one thing.
func (c *Counts) Say(a, b bool) {
	switch {
	case a && b:
		c.Both++
	case a:
		c.OnlyA++
	case b:
		c.OnlyB++
	default:
		c.Neither++
	}
}

// Add adds other items.
func (c *Counts) Add(o Counts) {
	c.Both, c.OnlyA, c.OnlyB, c.Neither = c.Both+o.Both, c.OnlyA+o.OnlyA, c.OnlyB+o.OnlyB, c.Neither+o.Neither
}

// Whole are the counts as whole numbers, as which they are shown.
func (c Counts) Whole() (both, onlyA, onlyB, neither int) {
	whole := func(n float64) int { return int(math.Round(n)) }
	return whole(c.Both), whole(c.OnlyA), whole(c.OnlyB), whole(c.Neither)
}

// Table has A's yes and no as rows, and B's as columns.
func (c Counts) Table() [][]int {
	both, onlyA, onlyB, neither := c.Whole()
	return [][]int{{both, onlyA}, {onlyB, neither}}
}

// Kappa is Cohen's kappa of items of their own.
func (c Counts) Kappa() stats.Kappa { return stats.KappaOf(c.Table()) }

// Pairs counts items and the clusters that they share. Its memory grows with clusters,
// not with items. The zero value is empty.
type Pairs struct {
	Counts
	// several is true if a side said several things of an item.
	several bool
	// squares sums up the squared differences of all items, and alone those of items of
	// their own. clusters are indexed by their number less one.
	squares  float64
	alone    moments
	clusters []Counts
}

// moments are the number of some items, and the sums of their differences and of the
// squares of these.
type moments struct{ n, sum, squares float64 }

// AddOwn adds items of their own, of which each side said one thing.
func (p *Pairs) AddOwn(c Counts) {
	p.Counts.Add(c)
	flips := c.OnlyA + c.OnlyB
	p.squares += flips
	p.alone = moments{p.alone.n + c.N(), p.alone.sum + (c.OnlyB - c.OnlyA), p.alone.squares + flips}
}

// Add counts an item, unless a side said nothing of it. cluster is the number of the
// item's cluster, from 1; 0 for an item of its own.
func (p *Pairs) Add(cluster int, a, b Said) {
	if a.Of == 0 || b.Of == 0 {
		return
	}
	p.several = p.several || a.Of > 1 || b.Of > 1
	x, y := a.Share(), b.Share()
	one := Counts{x * y, x * (1 - y), (1 - x) * y, (1 - x) * (1 - y)}
	p.Counts.Add(one)
	more := y - x
	square := more * more
	p.squares += square
	if cluster == 0 {
		p.alone.n, p.alone.sum, p.alone.squares = p.alone.n+1, p.alone.sum+more, p.alone.squares+square
		return
	}
	if more := cluster - len(p.clusters); more > 0 {
		p.clusters = slices.Grow(p.clusters, more)[:cluster]
	}
	p.clusters[cluster-1].Add(one)
}

// Clusters is the number of clusters, with each item of its own as one; 0 if no two
// items share one.
func (p *Pairs) Clusters() int {
	n := p.alone.n
	for _, c := range p.clusters {
		if c.N() > 0 {
			n++
		}
	}
	if math.Abs(n-p.N()) < 0.5 {
		return 0
	}
	return int(math.Round(n))
}

// ClusteredKappa is Cohen's kappa, also with the interval that counts clusters if items
// share any. Each side has said one thing of each item.
func (p *Pairs) ClusteredKappa() stats.Kappa {
	alone := p.Counts
	var clusters [][][2]int
	list := func(c Counts) (items [][2]int) {
		for a, row := range c.Table() {
			for b, n := range row {
				items = append(items, slices.Repeat([][2]int{{a, b}}, n)...)
			}
		}
		return items
	}
	for _, c := range p.clusters {
		alone = Counts{alone.Both - c.Both, alone.OnlyA - c.OnlyA, alone.OnlyB - c.OnlyB, alone.Neither - c.Neither}
		clusters = append(clusters, list(c))
	}
	for _, item := range list(alone) {
		clusters = append(clusters, [][2]int{item})
	}
	return stats.KappaOfClusters(clusters, 2)
}

// Test names the test behind a p-value.
type Test string

// The tests: stats.McNemar of items of their own of which each side said one thing,
// and else stats.TangoClustered.
const (
	McNemar          Test = "mcnemar_mid_p"
	McNemarClustered Test = "mcnemar_clustered"
)

// Difference is B's rate minus A's.
type Difference struct {
	stats.Estimate
	// P is the two-sided p-value that the rates are equal.
	P    float64
	Test Test
}

// Difference compares the rates. It reports false without items.
func (p *Pairs) Difference(confidence float64) (Difference, bool) {
	clustered := p.Clusters() > 0
	if !clustered && !p.several {
		e, ok := stats.Tango(p.OnlyA, p.OnlyB, p.N(), confidence)
		t := p.Table()
		return Difference{e, stats.McNemar(t[0][1], t[1][0]), McNemar}, ok
	}
	variance, _, effective := p.spread()
	e, value, ok := stats.TangoClustered(p.OnlyA, p.OnlyB, p.N(), variance, effective, confidence)
	return Difference{e, value, McNemarClustered}, ok
}

// spread returns the variance of the difference, from leaving out one cluster at a time,
// what it would be at least if all items were of their own, and the effective number of
// clusters (Kish 1965, Survey Sampling, section 8.2).
func (p *Pairs) spread() (variance, alone, effective float64) {
	n := p.N()
	d := (p.OnlyB - p.OnlyA) / n
	units, sizes := p.alone.n, p.alone.n
	pulls := (p.alone.squares - 2*d*p.alone.sum + d*d*p.alone.n) / math.Max(1, (n-1)*(n-1))
	for _, c := range p.clusters {
		size := c.N()
		if size > 0 {
			units, sizes = units+1, sizes+size*size
		}
		if size > 0 && size < n {
			pull := (c.OnlyB - c.OnlyA - d*size) / (n - size)
			pulls += pull * pull
		}
	}
	alone = math.Max(0, p.squares/n-d*d) / n
	return math.Max(alone, pulls*(units-1)/units), alone, n * n / sizes
}

// DesignEffect is the factor by which clusters raise the variance of the difference, at
// least 1.
func (p *Pairs) DesignEffect() float64 {
	if variance, alone, _ := p.spread(); alone > 0 {
		return variance / alone
	}
	return 1
}
