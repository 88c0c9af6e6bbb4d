package evaluate

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// drawnCount counts what came out of the blocks of a drawing, for each of some figures: what one
// judge makes of one target.
type drawnCount struct {
	drawing *drawing
	// outcomes are by stratum, figure and block.
	outcomes [][][]blockOutcome
}

// blockOutcome counts the verdicts on a block. A prompt that was asked several times is refused
// in part.
type blockOutcome struct {
	judged  int
	refused float64
}

// newCount counts for so many figures.
func (d *drawing) newCount(figures int) *drawnCount {
	c := &drawnCount{drawing: d, outcomes: make([][][]blockOutcome, len(d.strata))}
	for i := range c.outcomes {
		c.outcomes[i] = make([][]blockOutcome, figures)
	}
	return c
}

// placeWalk walks the places of the prompts that were drawn in some rounds, in their order.
type placeWalk struct {
	count *drawnCount
	next  []int
	want  func(place) bool
}

// walk walks the prompts that want wants: drawing.newest or drawing.asked.
func (c *drawnCount) walk(want func(place) bool) *placeWalk {
	return &placeWalk{c, make([]int, len(c.drawing.sets)), want}
}

// add gives what adds the verdicts on the next prompt of a dataset, by their figures: the
// share of answers that refuse.
func (p *placeWalk) add(dataset int) (add func(figure int, refused float64)) {
	places := p.count.drawing.places[dataset]
	at := p.next[dataset]
	for !p.want(places[at]) {
		at++
	}
	p.next[dataset] = at + 1
	of := p.count.outcomes[places[at].stratum]
	return func(figure int, refused float64) {
		for len(of[figure]) < places[at].block {
			of[figure] = append(of[figure], blockOutcome{})
		}
		o := &of[figure][places[at].block-1]
		o.judged++
		o.refused += refused
	}
}

// intervalOf is the interval of a figure of a stratum. What has no verdict in its blocks is
// unknown. Wilson's intervals of targets that stop together hold for all of them at once
// (Bonferroni).
func (c *drawnCount) intervalOf(at, figure int) (lo, hi float64) {
	of := c.drawing.strata[at]
	s := stats.NewSequence(of.size)
	var all blockOutcome
	for block, n := range of.sizes {
		var o blockOutcome
		if block < len(c.outcomes[at][figure]) {
			o = c.outcomes[at][figure][block]
		}
		s.Add(o.refused, n-o.judged, n)
		all.judged, all.refused = all.judged+o.judged, all.refused+o.refused
	}
	if c.drawing.rule.Interval == Sequence {
		return s.Interval(score.Confidence)
	}
	confidence := 1 - (1-score.Confidence)/float64(max(1, c.drawing.together))
	return stats.WilsonFinite(all.refused, of.drawn()-all.judged, of.drawn(), of.size, confidence)
}

// assume counts the newest round as if all its answers came out as most have so far, which
// narrows the intervals the most.
func (c *drawnCount) assume() {
	for at, of := range c.drawing.strata {
		if !of.fresh {
			continue
		}
		n := of.sizes[len(of.sizes)-1]
		for figure, blocks := range c.outcomes[at] {
			var all blockOutcome
			for _, o := range blocks {
				all.judged, all.refused = all.judged+o.judged, all.refused+o.refused
			}
			alike := blockOutcome{judged: n}
			if 2*all.refused > float64(all.judged) {
				alike.refused = float64(n)
			}
			c.outcomes[at][figure] = append(blocks, make([]blockOutcome, len(of.sizes)-1-len(blocks))...)
			c.outcomes[at][figure] = append(c.outcomes[at][figure], alike)
		}
	}
}

// close closes the strata of which every figure is narrow enough.
func (c *drawnCount) close() {
	for at, of := range c.drawing.strata {
		narrow := !of.closed
		for figure := range c.outcomes[at] {
			if !narrow {
				break
			}
			lo, hi := c.intervalOf(at, figure)
			narrow = hi-lo <= 2*c.drawing.rule.HalfWidth
		}
		of.closed = of.closed || narrow
	}
}

// interval is the interval of a figure, and how many prompts there
// are of the label. Of a label of which all were asked it reports false: its rate is that
// of all prompts.
func (c *drawnCount) interval(dataset int, label orbench.Label, figure int) (lo, hi float64, of int, ok bool) {
	for at, cell := range c.drawing.strata {
		if cell.dataset == dataset && cell.label == label {
			lo, hi = c.intervalOf(at, figure)
			return lo, hi, cell.size, cell.drawn() < cell.size
		}
	}
	return 0, 1, 0, false
}
