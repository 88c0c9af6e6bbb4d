package annotation

import (
	"iter"
	"math"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Outlook tells how wide the intervals of corrected rates are while people
// label. It says nothing of the rates.
type Outlook struct{ cells []outlookCell }

// outlookCell is a cell from which answers were drawn. Its pools hold only the
// drawn answers.
type outlookCell struct {
	pools    []*pool
	withheld int
}

// NewOutlook makes the outlook of the cells of some answers from which
// annotations say that some were drawn. It returns an error of items.
func NewOutlook(items iter.Seq2[Item, error], annotations []orbench.Annotation) (*Outlook, error) {
	pools, withheld, err := newPools(items, annotations, true)
	if err != nil {
		return nil, err
	}
	o := &Outlook{}
	number := map[Cell]int{}
	for _, p := range pools {
		if len(p.drawn) == 0 {
			continue
		}
		i, ok := number[p.Cell]
		if !ok {
			i = len(o.cells)
			number[p.Cell], o.cells = i, append(o.cells, outlookCell{withheld: withheld[p.Cell]})
		}
		o.cells[i].pools = append(o.cells[i].pools, p)
	}
	return o, nil
}

// HalfWidths returns half the width of the widest interval among the cells, from
// 0 to 1: about as it is with people's labels so far, and about as it will be
// once every drawn answer has one. Clusters of prompts make it wider.
func (o *Outlook) HalfWidths(words Words) (now, end float64) {
	for _, c := range o.cells {
		means := expected(c.pools, words)
		var strata, last []stats.LabeledStratum
		for i, p := range c.pools {
			s := stats.LabeledStratum{Size: p.Size, Mean: means[i], Labels: float64(p.Drawn)}
			last = append(last, s)
			s.Labels = 0
			for _, subject := range p.subjects {
				if _, ok := words.Refused(subject); ok {
					s.Labels++
				}
			}
			strata = append(strata, s)
		}
		now, end = max(now, halfWidth(strata, c.withheld)), max(end, halfWidth(last, c.withheld))
	}
	return now, end
}

// halfWidth returns half the width of the interval of a rate. A stratum without
// labels counts as if it had half of one.
func halfWidth(strata []stats.LabeledStratum, withheld int) float64 {
	for i := range strata {
		strata[i].Labels = math.Max(strata[i].Labels, 0.5)
	}
	if withheld > 0 {
		strata = append(strata, stats.LabeledStratum{Size: withheld, Mean: 1, Labels: float64(withheld)})
	}
	e, _ := stats.StratifiedRate(strata, 1, confidence)
	return (e.Hi - e.Lo) / 2
}
