package annotation

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
)

// StepLabels is how many answers a person labels in a step. From the second step on,
// Repeated of them are answers that the person has labeled before.
const (
	StepLabels = 25
	Repeated   = 5
)

// A step draws a first part, by the shares of refusals that are expected. The labels of
// that part decide where the others are drawn (Neyman 1938, double sampling): an expected
// share counts as some labels. leastVariance keeps some for groups whose labels all agree.
const (
	firstOfStep   = 0.4
	ofExpected    = 4
	leastVariance = 0.005
)

// fewestParts is into how many groups scores must divide a cell to draw in steps. A judge
// that is always sure divides answers into two, and expected shares are then no help.
const fewestParts = 5

// DrawStep draws answers of one cell for people who label them at once. The first
// StepLabels come in two phases: call it again once the first are labeled. Then it draws
// size more, by all labels so far; with 0 it draws a second phase alone. It returns the
// annotations to store, none if those drawn before are to be labeled first. What is drawn
// is the same for everybody who labels.
//
// The cell is one whose first step is not complete, or else that with the fewest drawn;
// safe prompts come first. By a plan, in a rare cell, and where judges' scores divide
// nothing, the step is one of Draw's. Where Draw alone has drawn from others it draws
// nothing: somebody chose the number. It returns an error of items, and one if nothing is
// left to draw.
func DrawStep(items iter.Seq2[Item, error], words Words, size int, seed uint64, at time.Time) ([]orbench.Annotation, error) {
	pools, _, err := newPools(items, words, false, true)
	if err != nil {
		return nil, err
	}
	of, begun, chosen := nextCell(pools)
	if of == nil {
		return nil, &orbench.InputError{File: "label", Problem: "every answer is drawn", Hint: "label them, or ask more prompts"}
	}
	if chosen || size == 0 && !begun {
		return nil, nil
	}
	if drawn, _ := counts(of); drawn == 0 && (rareCells(of)[of[0].Cell] != nil || of[0].parts < fewestParts || words.Plan(of[0].Cell) != nil) {
		of = undivided(of)
	}
	drawn, left := counts(of)
	for _, p := range of {
		sortByLot(p.subjects, p.drawn, seed)
		for _, s := range p.subjects[:p.Drawn] {
			if _, said := words.Refused(s); !said && !words.undecided(s) {
				return nil, nil
			}
		}
	}
	if drawn == 0 || begun {
		size = StepLabels - drawn
	}
	switch size = min(left, size); {
	case !of[0].steps:
		allot(of, size)
	case drawn == 0:
		allotByScore(of, min(size, int(math.Round(firstOfStep*StepLabels))), words)
	default:
		allotByScore(of, size, words)
	}
	return record(of, at), nil
}

// nextCell returns the pools of the cell from which the next step is drawn; nil if all are
// drawn. begun is true if the first phase of its first step was drawn alone, and chosen if
// somebody drew a number of their own.
func nextCell(pools []*pool) (of []*pool, begun, chosen bool) {
	cells := map[Cell][]*pool{}
	for _, p := range pools {
		cells[p.Cell] = append(cells[p.Cell], p)
	}
	rare, least, bySteps := rareCells(pools), 0, false
	for _, p := range pools {
		bySteps = bySteps || p.Drawn > 0 && p.steps
		chosen = chosen || p.Drawn > 0 && !p.steps && rare[p.Cell] == nil && p.parts >= fewestParts
		drawn, left := counts(cells[p.Cell])
		if p.steps && drawn > 0 && drawn < StepLabels {
			drawn = -1
		}
		label := slices.Index(orbench.Labels, p.Label)
		if left > 0 && (of == nil || drawn < least || drawn == least && label < slices.Index(orbench.Labels, of[0].Label)) {
			of, least = cells[p.Cell], drawn
		}
	}
	return of, least == -1, chosen && !bySteps
}

// undivided joins the pools of a cell that scores divide.
func undivided(pools []*pool) (whole []*pool) {
	for _, p := range pools {
		p.Group, p.steps, p.design = p.Group.whole(), false, p.Cell.Design()
		if n := len(whole); n > 0 && whole[n-1].Group == p.Group {
			whole[n-1].Size, whole[n-1].subjects = whole[n-1].Size+p.Size, append(whole[n-1].subjects, p.subjects...)
		} else {
			whole = append(whole, p)
		}
	}
	return whole
}

// allotByScore increases Drawn of a cell's pools by size, one answer at a time, where it
// reduces the variance most by the labels so far. Each group has one before any has two,
// and from 30 labels on each has two.
func allotByScore(pools []*pool, size int, words Words) {
	drawn, _ := counts(pools)
	variances := make([]float64, len(pools))
	for i, p := range pools {
		refused, n := ofExpected*kindsOf[p.Group].expected, float64(ofExpected)
		for _, s := range p.subjects[:p.Drawn] {
			if share, ok := words.Refused(s); ok {
				refused, n = refused+share, n+1
			}
		}
		variances[i] = float64(p.Size) * float64(p.Size) * (refused/n*(1-refused/n) + leastVariance)
	}
	least := 1
	if drawn+size >= 30 {
		least = 2
	}
	for range size {
		best, lacks, gain := -1, 0, 0.0
		for i, p := range pools {
			n, lack := float64(p.Drawn), max(0, least-p.Drawn)
			g := variances[i] / max(0.1, n) / (n + 1)
			if p.Drawn < p.Size && (best < 0 || lack > lacks || lack == lacks && g > gain) {
				best, lacks, gain = i, lack, g
			}
		}
		pools[best].Drawn++
	}
}

// Repeats returns the entries that a person labels again, without their first label in
// sight, of those that they labeled and nobody else did. Of what is drawn after the first
// StepLabels, each StepLabels-Repeated bring Repeated of what was drawn before. In a rare
// cell, every refusal is asked again once all else is labeled, since each moves the rate.
func (w Words) Repeats(entries []Entry, person string, rare func(orbench.Subject) bool) (again []Entry) {
	times := table.RowsOf(entries, func(e Entry) time.Time { return w.drawnAt[e.Subject] })
	slices.SortFunc(times, time.Time.Compare)
	later := 0
	for _, at := range times[min(StepLabels, len(times)):] {
		if at.After(times[StepLabels-1]) {
			later++
		}
	}
	labeled, open := 0, false
	var alone []orbench.Subject
	of, asked := map[orbench.Subject]Entry{}, map[orbench.Subject]bool{}
	for _, e := range entries {
		if Word(w.said[e.Subject][person]) == "" {
			open = true
			continue
		}
		if w.drawnAt[e.Subject].Before(times[len(times)-1]) {
			labeled++
		}
		if e.How = orbench.Again; len(w.said[e.Subject]) == 1 {
			alone, of[e.Subject] = append(alone, e.Subject), e
			asked[e.Subject] = Word(w.again[e.Subject][person]) != ""
		}
	}
	sortByLot(alone, asked, 1)
	n := Repeated * min(labeled/StepLabels, later/(StepLabels-Repeated))
	for _, s := range alone {
		switch {
		case n > 0 && w.drawnAt[s].Before(times[len(times)-1]):
			n--
		case !asked[s] && (open || !rare(s) || !w.said[s][person].Class.Refused()):
			continue
		}
		again = append(again, of[s])
	}
	return again
}
