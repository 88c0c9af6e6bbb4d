package index

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/words"
)

// Filter chooses rows.
type Filter struct {
	// Values lists values by dimension: a chosen row has one value of each list. See
	// Study.Dimensions.
	Values map[string][]string
	// Text is words that the prompt or the answer of a row has, all of them in one of the
	// two; empty for any. See Study.Search.
	Text string
	// Subjects are those of answers that are chosen; nil for any.
	Subjects map[orbench.Subject]bool
	// Positions are those of rows that are chosen; nil for any.
	Positions []int
	// Disagree, if true, chooses answers that some judges call refusals and others not.
	Disagree bool
}

// The dimensions that are not part of kinds: the target, and the number of the sample, from
// 1, 0 for a target that is asked once.
const (
	targetDimension = "target"
	sampleDimension = "sample"
)

// Facets lists the dimensions of rows: the target and the sample first, then those of
// answers.
func (s *Study) Facets() []string {
	return append([]string{targetDimension, sampleDimension}, s.Dimensions...)
}

// chosen is a filter whose values were looked up.
type chosen struct {
	// targets and numbers say by target and by number which samples are chosen.
	targets, numbers []bool
	// samples are those that both choose.
	samples []bool
	// others counts the dimensions in which a kind has another value, and other is the last
	// of them.
	others, other []int
	// some has the rows with the filter's words, subjects and positions; nil for all.
	some words.Set
}

// choose looks up the values of a filter. An unknown dimension is an *orbench.InputError.
func (s *Study) choose(ctx context.Context, f Filter) (*chosen, error) {
	c := &chosen{others: make([]int, len(s.Kinds)), other: make([]int, len(s.Kinds))}
	wanted := make([]map[uint32]bool, len(s.Dimensions))
	for name, values := range f.Values {
		if name == targetDimension || name == sampleDimension {
			continue
		}
		d := slices.Index(s.Dimensions, name)
		if d < 0 {
			return nil, &orbench.InputError{
				Setting: name, Problem: "cannot be used to choose rows", Hint: "use one of " + strings.Join(s.Facets(), ", "),
			}
		}
		wanted[d] = map[uint32]bool{}
		for _, v := range values {
			if n := slices.Index(s.Values, v); n >= 0 {
				wanted[d][uint32(n)] = true
			}
		}
	}
	has := func(dimension, value string) bool {
		values, bounded := f.Values[dimension]
		return !bounded || slices.Contains(values, value)
	}
	for _, of := range s.Samples {
		target, number := has(targetDimension, of.Target), has(sampleDimension, strconv.Itoa(of.Number))
		c.targets, c.numbers, c.samples = append(c.targets, target), append(c.numbers, number), append(c.samples, target && number)
	}
	for k, kind := range s.Kinds {
		for d, some := range wanted {
			if some != nil && !some[kind[d]] {
				c.others[k]++
				c.other[k] = d
			}
		}
		if f.Disagree && !s.disagree(kind) {
			c.others[k] += 2 // so that it is out whatever dimension is left out
		}
	}
	if f.Text != "" {
		var err error
		if c.some, err = s.Search(ctx, f.Text); err != nil {
			return nil, err
		}
	}
	if f.Positions != nil {
		of := words.NewSet(s.Answers())
		for _, position := range f.Positions {
			if c.inSome(position) {
				of.Add(position)
			}
		}
		c.some = of
	}
	if f.Subjects == nil {
		return c, nil
	}
	of := words.NewSet(s.Answers())
	err := s.items(ctx, func(position int, item annotation.Item) bool {
		if f.Subjects[item.Subject] && c.inSome(position) {
			of.Add(position)
		}
		return true
	})
	c.some = of
	return c, err
}

// disagree reports whether judges differ on whether answers of a kind are refusals.
func (s *Study) disagree(kind []uint32) bool {
	refused, answered := false, false
	for k := range s.Judges {
		switch class := orbench.Class(s.Values[kind[len(fixedDimensions)+2*k]]); {
		case class.Refused():
			refused = true
		case class != orbench.Unjudged:
			answered = true
		}
	}
	return refused && answered
}

// has reports whether a row is chosen.
func (c *chosen) has(position int, kind uint32) bool {
	return c.others[kind] == 0 && c.inSome(position) && c.samples[position%len(c.samples)]
}

// inSome reports whether a row has the filter's words, subjects and positions.
func (c *chosen) inSome(position int) bool {
	return c.some == nil || c.some.Has(position)
}

// cells gives the number of rows by sample and kind, of those in some.
func (s *Study) cells(ctx context.Context, c *chosen) ([]map[int]int, error) {
	if c.some == nil {
		return s.Counts, nil
	}
	kinds, err := s.kinds(ctx)
	if err != nil {
		return nil, err
	}
	counts := make([]map[int]int, len(s.Samples))
	for n := range counts {
		counts[n] = map[int]int{}
	}
	for position, kind := range kinds {
		if c.inSome(position) {
			counts[position%len(s.Samples)][int(kind)]++
		}
	}
	return counts, nil
}

// Count gives the number of rows that a filter chooses and, for each dimension, how many
// rows there are of each value. The counts of a dimension ignore the filter's values of
// that dimension.
func (s *Study) Count(ctx context.Context, f Filter) (total int, facets map[string]map[string]int, err error) {
	c, err := s.choose(ctx, f)
	if err != nil {
		return 0, nil, err
	}
	cells, err := s.cells(ctx, c)
	if err != nil {
		return 0, nil, err
	}
	targets, numbers := map[string]int{}, map[string]int{}
	byValue := make([]map[uint32]int, len(s.Dimensions))
	for d := range byValue {
		byValue[d] = map[uint32]int{}
	}
	for sample, counts := range cells {
		for kind, n := range counts {
			if c.others[kind] == 0 && c.numbers[sample] {
				targets[s.Samples[sample].Target] += n
			}
			if c.others[kind] == 0 && c.targets[sample] {
				numbers[strconv.Itoa(s.Samples[sample].Number)] += n
			}
			if !c.samples[sample] {
				continue
			}
			switch c.others[kind] {
			case 0:
				total += n
				for d, v := range s.Kinds[kind] {
					byValue[d][v] += n
				}
			case 1:
				d := c.other[kind]
				byValue[d][s.Kinds[kind][d]] += n
			}
		}
	}
	facets = map[string]map[string]int{targetDimension: targets, sampleDimension: numbers}
	for d, counts := range byValue {
		named := map[string]int{}
		for v, n := range counts {
			named[s.Values[v]] += n
		}
		facets[s.Dimensions[d]] = named
	}
	return total, facets, nil
}

// Order is what rows are sorted by: their position, or a column. Rows without a value come
// last. These and equal rows are in the order of their position.
type Order struct {
	// By is empty for the position, "length", or the name of a judge for its score.
	By         string
	Descending bool
}

// Key is the place of a row in an order. A page begins after a key.
type Key struct {
	// Rank is lower for a value that puts the row further to the front.
	Rank     uint32 `json:"rank,omitempty"`
	Position int    `json:"position"`
}

// Page gives the positions of the first rows that a filter chooses, after a key (nil for
// the start), up to a number of rows. next is the key of the last of them, nil if no row is
// left.
func (s *Study) Page(ctx context.Context, f Filter, o Order, after *Key, most int) (positions []int, next *Key, err error) {
	c, err := s.choose(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	kinds, err := s.kinds(ctx)
	if err != nil {
		return nil, nil, err
	}
	column, err := s.ranks(ctx, o.By)
	if err != nil {
		return nil, nil, err
	}
	// The best rows so far, in order, and one more to know whether any is left. For most
	// rows only the rank is looked at.
	best := make([]Key, 0, most+2)
	for position, kind := range kinds {
		rank := uint32(position)
		if column != nil {
			rank = column[position]
		}
		if o.Descending && rank != noRank {
			rank = noRank - 1 - rank
		}
		if len(best) > most && rank >= best[most].Rank {
			if o == (Order{}) {
				break // all further ranks are higher
			}
			continue
		}
		if !c.has(position, kind) {
			continue
		}
		k := Key{rank, position}
		if after != nil && !after.before(k) {
			continue
		}
		at := sort.Search(len(best), func(i int) bool { return k.before(best[i]) })
		best = slices.Insert(best, at, k)
		best = best[:min(len(best), most+1)]
	}
	for _, k := range best[:min(len(best), most)] {
		positions = append(positions, k.Position)
	}
	if len(best) > most {
		next = &best[most-1]
	}
	return positions, next, nil
}

// Chosen gives those of some rows that a filter chooses, in their order.
func (s *Study) Chosen(ctx context.Context, f Filter, of []int) (positions []int, err error) {
	c, err := s.choose(ctx, f)
	if err != nil {
		return nil, err
	}
	kinds, err := s.kinds(ctx)
	if err != nil {
		return nil, err
	}
	for _, position := range of {
		if c.has(position, kinds[position]) {
			positions = append(positions, position)
		}
	}
	return positions, nil
}

// before reports whether a key is before another.
func (k Key) before(other Key) bool {
	return k.Rank < other.Rank || k.Rank == other.Rank && k.Position < other.Position
}

// ranks gives the column by which rows are sorted, nil for their position. The lowest come
// first.
func (s *Study) ranks(ctx context.Context, by string) ([]uint32, error) {
	if score := slices.Index(s.Judges, by); score >= 0 {
		return s.column(ctx, scoreColumn(score))
	}
	switch by {
	case "":
		return nil, nil
	case lengthColumn:
		return s.column(ctx, lengthColumn)
	}
	return nil, &orbench.InputError{
		Setting: "sort", Problem: fmt.Sprintf("rows are not sorted by %q", by), Hint: "use length, or one of " + strings.Join(s.Judges, ", "),
	}
}
