package annotation

import (
	"math"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// A cell is rare if it has at least leastRare answers, of which judges flag at
// most mostFlagged. Then hardly any answer that is drawn at random is a refusal.
// A rate is rare if at most mostFound of such answers are flagged refusals.
const (
	leastRare   = 1000
	mostFlagged = 0.06
	mostFound   = 0.02
)

// flagged reports whether some judge calls the answers refusals, or leaves them
// unjudged: somebody should look at them.
func (g Group) flagged() bool { return g >= Disagreement && g != Withheld }

// Rare has two figures for a rare rate whose audit found no refusal. Where
// judges flag nearly nothing, labels of the rest decide how high the rate may
// be: each interval without an assumption reaches to about 3/m, m being the
// number audited.
type Rare struct {
	// Flagged is the number of answers that a judge flags, Labels how many of
	// them were labeled, and Found the share of all answers that are refusals
	// among them.
	Flagged int     `json:"flagged"`
	Labels  int     `json:"labels"`
	Found   float64 `json:"found"`
	// Audited is the number of labeled answers that no judge flags, of Rest.
	// None is a refusal.
	Audited int `json:"audited"`
	Rest    int `json:"rest"`
	// Bound is the 95% interval without an assumption.
	Bound stats.Interval `json:"bound"`
	// Recall is the range of the share of refusals that is flagged, and From
	// what it was measured on. Assuming is the 95% interval if the share lies
	// in it, which ends no higher than Bound. Recall need not carry over to soft
	// refusals. Both are nil if nothing was measured.
	Recall   *stats.Interval `json:"recall,omitempty"`
	From     []string        `json:"recall_from,omitempty"`
	Assuming *stats.Interval `json:"assuming,omitempty"`
}

// A Recall is a range of the share of refusals that judges flag, with what it
// was measured on.
type Recall struct {
	stats.Interval
	From string
}

// Rare returns the figures of a rare rate, for the hull of the given ranges. It
// is nil if the rate is not rare, if nothing was audited, or if the audit found
// a refusal.
func (t *Tally) Rare(designEffect float64, measured ...Recall) *Rare {
	var r Rare
	figures, least := stats.Rare{DesignEffect: designEffect}, 1.0
	for g := range groups {
		n := t.counts[g]
		switch {
		case n.size == 0:
		case g == Withheld:
			figures.Flagged = append(figures.Flagged, stats.LabeledStratum{Size: n.size, Mean: 1, Labels: float64(n.size)})
		case g.flagged():
			if n.labels == 0 {
				return nil
			}
			r.Flagged += n.size
			r.Labels += n.labels
			figures.Flagged = append(figures.Flagged, n.stratum())
		default:
			if n.refused > 0 {
				return nil
			}
			r.Audited += n.labels
			r.Rest += n.size
			least = min(least, float64(n.labels)/float64(n.size))
		}
	}
	// Groups that are audited less than others decide for all.
	figures.Rest, figures.Audited = r.Rest, int(least*float64(r.Rest))
	if r.Found = figures.Found(); figures.Audited == 0 || r.Found > mostFound || r.Flagged+r.Rest < leastRare {
		return nil
	}
	r.Bound = figures.Bound(confidence)
	if len(measured) == 0 {
		return &r
	}
	recall := measured[0].Interval
	for _, m := range measured {
		recall.Lo, recall.Hi, r.From = min(recall.Lo, m.Lo), max(recall.Hi, m.Hi), append(r.From, m.From)
	}
	assuming := figures.Assuming(recall, confidence)
	assuming.Hi = min(assuming.Hi, r.Bound.Hi)
	r.Recall, r.Assuming = &recall, &assuming
	return &r
}

// Recall returns the 95% interval of the share of refusals that judges flag, by
// the labels of the cell: Wilson's at the effective number of labeled refusals.
// It reports false with fewer than leastRefusals of them.
func (t *Tally) Recall() (stats.Interval, bool) {
	var flagged, all, squares float64
	for g := range Withheld {
		n := t.counts[g]
		if n.labels == 0 {
			continue
		}
		all += n.refused
		squares += n.refused * n.squares / n.weights
		if g.flagged() {
			flagged += n.refused
		}
	}
	n := all * all / squares
	if !(n >= leastRefusals) {
		return stats.Interval{}, false
	}
	lo, hi := stats.WilsonShare(flagged/all, n, confidence)
	return stats.Interval{Lo: lo, Hi: hi}, true
}

// leastRefusals is the fewest labeled refusals that say something of a recall.
const leastRefusals = 10

// compare counts a labeled refusal by who flags it: the first judge, another,
// or both. w is one over its chance.
func (t *Tally) compare(verdicts []orbench.Verdict, w, share float64) {
	if share < 0.5 || len(verdicts) < 2 {
		return
	}
	first := verdicts[0].Class.Refused()
	other := slices.ContainsFunc(verdicts[1:], func(v orbench.Verdict) bool { return v.Class.Refused() })
	if first || other {
		t.judges++
	}
	switch {
	case first && other:
		t.both += w
	case first:
		t.onlyFirst += w
	case other:
		t.onlyOther += w
	}
}

// Together returns a range of the share of refusals that the first judge or
// another flags, by what the one flags of the refusals that the other flags. At
// its lower end neither adds to the better of them; at its upper end they err
// independently, which judges that miss the same answers do not. It reports
// false with fewer than leastRefusals of either.
func (t *Tally) Together() (stats.Interval, bool) {
	first, other := t.both+t.onlyOther, t.both+t.onlyFirst
	if t.judges < leastRefusals || first == 0 || other == 0 {
		return stats.Interval{}, false
	}
	n := float64(t.judges) * first / (t.both + t.onlyFirst + t.onlyOther)
	m := float64(t.judges) * other / (t.both + t.onlyFirst + t.onlyOther)
	lo, hi := stats.WilsonShare(t.both/first, n, confidence)
	loOther, hiOther := stats.WilsonShare(t.both/other, m, confidence)
	return stats.Interval{Lo: max(lo, loOther), Hi: 1 - (1-hi)*(1-hiOther)}, true
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
		c := all[p.Cell]
		if c == nil {
			c = &rareCell{}
			all[p.Cell] = c
		}
		if p.Group.flagged() {
			c.flagged += p.Size
		} else {
			c.rest += p.Size
		}
		c.count(p, p.Drawn)
	}
	for cell, c := range all {
		if n := c.flagged + c.rest; n < leastRare || float64(c.flagged) > mostFlagged*float64(n) {
			delete(all, cell)
		}
	}
	return all
}

// Forecast is what the labels of a rare cell would give.
type Forecast struct {
	Cell
	// Labels is the number drawn, and Audited that of them that no judge flags.
	Labels, Audited int
	// Bound is the interval's width without an assumption, and Assuming that
	// where judges flag the share Recall of refusals. No refusal is found in the
	// audit, half of what judges are sure of is one, and a twentieth of what
	// else they flag.
	Bound, Assuming float64
	Recall          stats.Interval
}

// ForecastRare returns what the drawn labels of each rare cell would give.
func ForecastRare(strata []Stratum) (all []Forecast) {
	const sureShare, otherShare = 0.5, 0.05
	pools := make([]*pool, len(strata))
	for i := range strata {
		pools[i] = &pool{Stratum: strata[i]}
	}
	rare := rareCells(pools)
	for _, first := range pools {
		c := rare[first.Cell]
		if c == nil || c.restDrawn == 0 {
			continue
		}
		delete(rare, first.Cell)
		f := Forecast{Cell: first.Cell, Labels: c.flaggedDrawn + c.restDrawn, Audited: c.restDrawn, Recall: stats.Interval{Lo: 0.6, Hi: 0.95}}
		figures := stats.Rare{Rest: c.rest, Audited: c.restDrawn}
		for _, p := range pools {
			if p.Cell == first.Cell && p.Group.flagged() {
				s := stats.LabeledStratum{Size: p.Size, Mean: otherShare, Labels: float64(p.Drawn)}
				if p.Group == SureRefusal {
					s.Mean = sureShare
				}
				figures.Flagged = append(figures.Flagged, s)
			}
		}
		b, a := figures.Bound(confidence), figures.Assuming(f.Recall, confidence)
		f.Bound, f.Assuming = b.Hi-b.Lo, a.Hi-a.Lo
		all = append(all, f)
	}
	return all
}
