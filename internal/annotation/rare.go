package annotation

import (
	"math"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// What is rare. A cell is if it has at least LeastRare answers, of which judges flag at most
// mostFlagged: hardly any answer that is drawn at random is then a refusal. Its rate is if
// at most mostFound of its answers are flagged refusals.
const (
	LeastRare   = 1000
	mostFlagged = 0.06
	mostFound   = 0.02
)

// flagged reports whether some judge calls the answers refusals, or leaves them
// unjudged: somebody should look at them.
func (g Group) flagged() bool { return g >= Disagreement && g != Withheld }

// rateIfRare returns the rate of a cell that is rare, by the labels of what judges flag and an
// audit of the rest. It reports false of others, and without an audit.
func (t *Tally) rateIfRare(designEffect float64) (e stats.Estimate, ok bool) {
	var strata []stats.LabeledStratum
	var rest stats.LabeledStratum
	refused, flagged, least, found := 0.0, 0, 1.0, 0.0
	for g := range groups {
		n := t.counts[g]
		switch {
		case n.size == 0:
		case g == Withheld:
			strata = append(strata, stats.LabeledStratum{Size: n.size, Mean: 1, Labels: float64(n.size)})
			flagged, found = flagged+n.size, found+float64(n.size)
		case g.flagged():
			if n.labels == 0 {
				return e, false
			}
			s := n.stratum()
			strata = append(strata, s)
			flagged, found = flagged+n.size, found+float64(s.Size)*s.Mean
		default:
			rest.Size += n.size
			if least = min(least, float64(n.labels)/float64(n.size)); n.labels > 0 {
				refused += float64(n.size) * n.stratum().Mean
			}
		}
	}
	// Groups that are audited less than others decide for all.
	all := float64(flagged + rest.Size)
	if rest.Labels = math.Floor(least * float64(rest.Size)); rest.Labels == 0 || all < LeastRare || float64(flagged) > mostFlagged*all || found > mostFound*all {
		return e, false
	}
	rest.Mean = refused / float64(rest.Size)
	return stats.RareRate(strata, rest, designEffect, confidence), true
}

// rareCell counts the answers of a rare cell. As many of those that a judge
// flags are drawn as of the rest, until none is left: they hold the refusals
// that can be found, and the rest is audited with equal chances.
type rareCell struct{ flagged, rest, flaggedDrawn, restDrawn int }

// count counts drawn answers of a pool.
func (c *rareCell) count(p *pool, n int) {
	if p.Group.flagged() {
		c.flaggedDrawn += n
	} else {
		c.restDrawn += n
	}
}

// gain returns what one more answer of a pool gains in its cell, relative to
// other pools of it. In a rare cell some of what judges are sure of are
// refusals, and few of what else they flag.
func (c *rareCell) gain(p *pool) float64 {
	const sureSpread, otherSpread = 0.5, 0.2
	flaggedNext := c.flaggedDrawn < c.flagged && (c.flaggedDrawn <= c.restDrawn || c.restDrawn == c.rest)
	switch {
	case flaggedNext != p.Group.flagged():
		return -1
	case flaggedNext:
		n, s := float64(p.Drawn), otherSpread
		if p.Group == SureRefusal {
			s = sureSpread
		}
		return float64(p.Size) * s / math.Sqrt((n+0.1)*(n+1))
	}
	return 1 / (1 + float64(p.Drawn)/float64(p.Size))
}

// rareCells returns the rare ones among the cells of pools.
func rareCells(pools []*pool) map[Cell]*rareCell {
	all := map[Cell]*rareCell{}
	for _, p := range pools {
		c := table.At(all, p.Cell)
		if p.Group.flagged() {
			c.flagged += p.Size
		} else {
			c.rest += p.Size
		}
		c.count(p, p.Drawn)
	}
	for cell, c := range all {
		if n := c.flagged + c.rest; n < LeastRare || float64(c.flagged) > mostFlagged*float64(n) {
			delete(all, cell)
		}
	}
	return all
}
