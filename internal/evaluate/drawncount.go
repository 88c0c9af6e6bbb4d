package evaluate

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// drawnCount counts the outcomes of a drawing's blocks, for each of several
// figures. A figure is one judge's verdicts on one target.
type drawnCount struct {
	drawing *drawing
	// outcomes is indexed by stratum, figure and block.
	outcomes [][][]blockOutcome
	// want selects the prompts of the walk under way, and next is where it is in each
	// dataset.
	want func(place) bool
	next []int
}

// blockOutcome counts the verdicts on a block. A prompt that was asked several
// times may be refused in part.
type blockOutcome struct {
	judged  int
	refused float64
}

// newCount starts a count for the given number of figures.
func (d *drawing) newCount(figures int) *drawnCount {
	c := &drawnCount{drawing: d, outcomes: make([][][]blockOutcome, len(d.strata))}
	for i := range c.outcomes {
		c.outcomes[i] = make([][]blockOutcome, figures)
	}
	return c
}

// walk begins a walk over the prompts that want selects, in their order: those
// of drawing.newest or drawing.asked.
func (c *drawnCount) walk(want func(place) bool) {
	c.want, c.next = want, make([]int, len(c.drawing.sets))
}

// add returns a function that adds the verdicts on the next prompt of a
// dataset, for each figure the share of answers that refuse.
func (c *drawnCount) add(dataset int) (add func(figure int, refused float64)) {
	places := c.drawing.places[dataset]
	at := c.next[dataset]
	for !c.want(places[at]) {
		at++
	}
	c.next[dataset] = at + 1
	of := c.outcomes[places[at].stratum]
	return func(figure int, refused float64) {
		for len(of[figure]) < places[at].block {
			of[figure] = append(of[figure], blockOutcome{})
		}
		o := &of[figure][places[at].block-1]
		o.judged++
		o.refused += refused
	}
}

// intervalOf returns the interval of a figure of a stratum. Prompts in its
// blocks without a verdict count as unknown. Wilson's intervals of targets that
// stop together hold for all of them at once (Bonferroni).
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

// assume counts the newest round as if all its answers had the most frequent
// outcome so far, which narrows the intervals the most.
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

// interval returns the interval of a figure, and the number of prompts of the
// label. If all prompts of a label were asked it reports false: the rate is
// then that of all prompts.
func (c *drawnCount) interval(dataset int, label orbench.Label, figure int) (lo, hi float64, of int, ok bool) {
	for at, cell := range c.drawing.strata {
		if cell.dataset == dataset && cell.label == label {
			lo, hi = c.intervalOf(at, figure)
			return lo, hi, cell.size, cell.drawn() < cell.size
		}
	}
	return 0, 1, 0, false
}
