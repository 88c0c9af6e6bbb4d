package stopping

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// confidence is that of all intervals that reports show.
const confidence = 0.95

// Count counts what came out of the blocks of a Draw, for each of some figures: what one
// judge makes of one target.
type Count struct {
	draw *Draw
	// outcomes are by cell, figure and block.
	outcomes [][][]outcome
}

// outcome counts the verdicts on a block. A prompt that was asked several times is refused
// in part.
type outcome struct {
	judged  int
	refused float64
}

// NewCount counts for so many figures.
func (d *Draw) NewCount(figures int) *Count {
	c := &Count{draw: d, outcomes: make([][][]outcome, len(d.cells))}
	for i := range c.outcomes {
		c.outcomes[i] = make([][]outcome, figures)
	}
	return c
}

// Places walks the places of the prompts that Newest gives, or Asked, in their order.
type Places struct {
	count *Count
	next  []int
	want  func(place) bool
}

// OfNewest walks the prompts of Newest, OfAsked those of Asked.
func (c *Count) OfNewest() *Places {
	return &Places{c, make([]int, len(c.draw.sets)), c.draw.newest}
}

func (c *Count) OfAsked() *Places {
	return &Places{c, make([]int, len(c.draw.sets)), c.draw.asked}
}

// Next gives what adds the verdicts on the next prompt of a dataset, by their figures: the
// share of answers that refuse.
func (p *Places) Next(dataset int) (add func(figure int, refused float64)) {
	places := p.count.draw.places[dataset]
	at := p.next[dataset]
	for !p.want(places[at]) {
		at++
	}
	p.next[dataset] = at + 1
	of := p.count.outcomes[places[at].cell]
	return func(figure int, refused float64) {
		for len(of[figure]) < places[at].block {
			of[figure] = append(of[figure], outcome{})
		}
		o := &of[figure][places[at].block-1]
		o.judged++
		o.refused += refused
	}
}

// sequence is the confidence sequence of a figure of a cell. What has no verdict in its
// blocks is unknown.
func (c *Count) sequence(at, figure int) *stats.Sequence {
	of := c.draw.cells[at]
	s := stats.NewSequence(of.size)
	for block, n := range of.sizes {
		var o outcome
		if block < len(c.outcomes[at][figure]) {
			o = c.outcomes[at][figure][block]
		}
		s.Add(o.refused, n-o.judged, n)
	}
	return s
}

// Assume counts the newest round as if all its answers came out as most have so far, which
// narrows the intervals the most.
func (c *Count) Assume() {
	for at, of := range c.draw.cells {
		if !of.fresh {
			continue
		}
		n := of.sizes[len(of.sizes)-1]
		for figure, blocks := range c.outcomes[at] {
			var all outcome
			for _, o := range blocks {
				all.judged, all.refused = all.judged+o.judged, all.refused+o.refused
			}
			alike := outcome{judged: n}
			if 2*all.refused > float64(all.judged) {
				alike.refused = float64(n)
			}
			c.outcomes[at][figure] = append(blocks, make([]outcome, len(of.sizes)-1-len(blocks))...)
			c.outcomes[at][figure] = append(c.outcomes[at][figure], alike)
		}
	}
}

// Close closes the cells of which every figure is narrow enough.
func (c *Count) Close() {
	for at, of := range c.draw.cells {
		narrow := !of.closed
		for figure := range c.outcomes[at] {
			if !narrow {
				break
			}
			lo, hi := c.sequence(at, figure).Interval(confidence)
			narrow = hi-lo <= 2*c.draw.rule.HalfWidth
		}
		of.closed = of.closed || narrow
	}
}

// Interval is the confidence sequence's interval of a figure, and how many prompts there
// are of the label. Of a label of which all were asked it reports false: its rate is that
// of all prompts.
func (c *Count) Interval(dataset int, label orbench.Label, figure int) (lo, hi float64, of int, ok bool) {
	for at, cell := range c.draw.cells {
		if cell.dataset == dataset && cell.label == label {
			lo, hi = c.sequence(at, figure).Interval(confidence)
			return lo, hi, cell.size, cell.drawn() < cell.size
		}
	}
	return 0, 1, 0, false
}
