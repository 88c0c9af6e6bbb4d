package annotation

import (
	"iter"

	"github.com/orbench/orbench"
)

// Outlook tells how wide the intervals of corrected rates are while people
// label. It says nothing of the rates.
type Outlook struct {
	// Rest is how many answers the second phase of a step draws; 0 if no step has begun.
	// Next is how many a further step has; 0 if there is none.
	Rest, Next int
	// cells are those from which answers were drawn. Their pools hold only the drawn answers.
	cells    map[Cell][]*pool
	withheld map[Cell]int
	// rare has the drawn answers of rare cells.
	rare map[orbench.Subject]bool
}

// NewOutlook makes the outlook of the cells of some answers from which some were drawn. It
// returns an error of items.
func NewOutlook(items iter.Seq2[Item, error], words Words) (*Outlook, error) {
	pools, withheld, err := newPools(items, words, true, false)
	if err != nil {
		return nil, err
	}
	o, rare := &Outlook{cells: map[Cell][]*pool{}, withheld: withheld, rare: map[orbench.Subject]bool{}}, rareCells(pools)
	if of, begun, chosen := nextCell(pools); of != nil && !chosen {
		drawn, left := counts(of)
		switch {
		case begun:
			o.Rest = min(left, StepLabels-drawn)
		case drawn == 0:
			o.Next = min(left, StepLabels)
		default:
			o.Next = min(left, StepLabels-Repeated)
		}
	}
	for _, p := range pools {
		if len(words.chance[p.design]) == 0 {
			continue
		}
		o.cells[p.Cell] = append(o.cells[p.Cell], p)
		for _, s := range p.subjects {
			o.rare[s] = rare[p.Cell] != nil
		}
	}
	return o, nil
}

// Rare reports whether an answer was drawn from a rare cell, in which a few labels are the
// rate.
func (o *Outlook) Rare(s orbench.Subject) bool { return o.rare[s] }

// HalfWidths returns half the width of the widest interval among the cells, from
// 0 to 1: about as it is with people's labels so far, and about as it will be
// once every drawn answer has one. Clusters of prompts make it wider.
func (o *Outlook) HalfWidths(words Words) (now, end float64) {
	for cell, pools := range o.cells {
		said, drawn := make([]float64, len(pools)), make([]float64, len(pools))
		for i, p := range pools {
			drawn[i] = float64(p.Drawn)
			for _, subject := range p.subjects {
				if _, ok := words.Refused(subject); ok {
					said[i]++
				}
			}
		}
		means := expected(pools, words)
		now, end = max(now, widthOf(pools, means, said, o.withheld[cell])/2), max(end, widthOf(pools, means, drawn, o.withheld[cell])/2)
	}
	return now, end
}
