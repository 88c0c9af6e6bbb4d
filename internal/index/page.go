package index

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
)

// Filter chooses rows.
type Filter struct {
	// Values lists values by dimension: a row has one of each list. See Study.Dimensions.
	Values map[string][]string
	// Text is words that the prompt of a row has, or its answer, all of them in one of both;
	// empty for any. See Study.Search.
	Text string
}

// targetDimension is the dimension that is no part of kinds.
const targetDimension = "target"

// Facets lists the dimensions of rows: the target first, then what is said of answers.
func (s *Study) Facets() []string { return append([]string{targetDimension}, s.Dimensions...) }

// chosen is a filter, looked up.
type chosen struct {
	samples, kinds []bool
	// dimensions counts, by sample and by kind, those whose values are others, and which one
	// is: -1 for none.
	otherSample, otherKind []int
	failed                 []int
	text                   []uint64
}

// choose looks a filter up. A dimension that there is not is an *orbench.InputError.
func (s *Study) choose(ctx context.Context, f Filter) (*chosen, error) {
	c := &chosen{
		samples: make([]bool, len(s.Samples)), kinds: make([]bool, len(s.Kinds)), otherSample: make([]int, len(s.Samples)),
		otherKind: make([]int, len(s.Kinds)), failed: make([]int, len(s.Kinds)),
	}
	wanted := make([]map[uint32]bool, len(s.Dimensions))
	for name, values := range f.Values {
		if name == targetDimension {
			continue
		}
		d := slices.Index(s.Dimensions, name)
		if d < 0 {
			return nil, &orbench.InputError{
				Setting: name, Problem: "is nothing that rows are chosen by", Hint: "use one of " + strings.Join(s.Facets(), ", "),
			}
		}
		wanted[d] = map[uint32]bool{}
		for _, v := range values {
			if n := slices.Index(s.Values, v); n >= 0 {
				wanted[d][uint32(n)] = true
			}
		}
	}
	targets, bounded := f.Values[targetDimension]
	for n, of := range s.Samples {
		c.samples[n] = !bounded || slices.Contains(targets, of.Target)
	}
	for k, kind := range s.Kinds {
		c.otherKind[k] = -1
		for d, some := range wanted {
			if some != nil && !some[kind[d]] {
				c.failed[k]++
				c.otherKind[k] = d
			}
		}
		c.kinds[k] = c.failed[k] == 0
	}
	if f.Text == "" {
		return c, nil
	}
	var err error
	c.text, err = s.Search(ctx, f.Text)
	return c, err
}

// each hands take the positions of the rows that are chosen, from one on, until it returns
// false. kinds is the column of kinds.
func (c *chosen) each(kinds []uint32, from int, take func(position int) bool) {
	sample := from % len(c.samples)
	for position := from; position < len(kinds); position++ {
		if c.kinds[kinds[position]] && c.samples[sample] && (c.text == nil || c.text[position/64]>>(position%64)&1 != 0) && !take(position) {
			return
		}
		if sample++; sample == len(c.samples) {
			sample = 0
		}
	}
}

// cells gives the number of rows by sample and kind, of those that have the filter's words.
func (s *Study) cells(ctx context.Context, c *chosen) ([]map[int]int, error) {
	if c.text == nil {
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
		if c.text[position/64]>>(position%64)&1 != 0 {
			counts[position%len(s.Samples)][int(kind)]++
		}
	}
	return counts, nil
}

// Count gives the number of rows that a filter chooses, and, for each dimension, how many
// there are of each value, where its own values in the filter do not count.
func (s *Study) Count(ctx context.Context, f Filter) (total int, facets map[string]map[string]int, err error) {
	c, err := s.choose(ctx, f)
	if err != nil {
		return 0, nil, err
	}
	cells, err := s.cells(ctx, c)
	if err != nil {
		return 0, nil, err
	}
	targets := map[string]int{}
	byValue := make([]map[uint32]int, len(s.Dimensions))
	for d := range byValue {
		byValue[d] = map[uint32]int{}
	}
	for sample, counts := range cells {
		for kind, n := range counts {
			if c.kinds[kind] {
				targets[s.Samples[sample].Target] += n
			}
			if !c.samples[sample] {
				continue
			}
			switch c.failed[kind] {
			case 0:
				total += n
				for d, v := range s.Kinds[kind] {
					byValue[d][v] += n
				}
			case 1:
				d := c.otherKind[kind]
				byValue[d][s.Kinds[kind][d]] += n
			}
		}
	}
	facets = map[string]map[string]int{targetDimension: targets}
	for d, counts := range byValue {
		named := map[string]int{}
		for v, n := range counts {
			named[s.Values[v]] += n
		}
		facets[s.Dimensions[d]] = named
	}
	return total, facets, nil
}

// Order is what rows are sorted by: their position, or a column. Rows that are equal, and
// those without a value, which are last, go by their position.
type Order struct {
	// By is empty for the position, "length", or the name of a judge for its score.
	By         string
	Descending bool
}

// Key is the place of a row in an order. A page begins after one.
type Key struct {
	Value    float64 `json:"value,omitempty"`
	Position int     `json:"position"`
}

// none is the value of a row that has none: it is last in any order.
var none = math.Inf(1)

// Page gives the positions of the first rows that a filter chooses, at most so many, after a
// key, nil for the start; next is the key of the last of them, nil where no row is left.
func (s *Study) Page(ctx context.Context, f Filter, o Order, after *Key, most int) (positions []int, next *Key, err error) {
	c, err := s.choose(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	kinds, err := s.kinds(ctx)
	if err != nil {
		return nil, nil, err
	}
	if o.By == "" && !o.Descending {
		from := 0
		if after != nil {
			from = after.Position + 1
		}
		c.each(kinds, max(0, from), func(position int) bool {
			if len(positions) == most {
				next = &Key{Position: positions[most-1]}
				return false
			}
			positions = append(positions, position)
			return true
		})
		return positions, next, nil
	}
	value, err := s.sortBy(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	// The best so far, in order, and one more to know whether any is left.
	best := make([]Key, 0, most+2)
	c.each(kinds, 0, func(position int) bool {
		k := Key{value(position), position}
		if after != nil && !after.before(k) || len(best) > most && !k.before(best[most]) {
			return true
		}
		at, _ := slices.BinarySearchFunc(best, k, func(a, b Key) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, k)
		best = best[:min(len(best), most+1)]
		return true
	})
	for _, k := range best[:min(len(best), most)] {
		positions = append(positions, k.Position)
	}
	if len(best) > most {
		next = &best[most-1]
	}
	return positions, next, nil
}

// before reports whether a key is before another.
func (k Key) before(other Key) bool {
	return k.Value < other.Value || k.Value == other.Value && k.Position < other.Position
}

// sortBy gives the value by which rows are sorted, the least first.
func (s *Study) sortBy(ctx context.Context, o Order) (func(position int) float64, error) {
	sign := 1.0
	if o.Descending {
		sign = -1
	}
	switch judging := slices.Index(s.Judges, o.By); {
	case o.By == "":
		return func(position int) float64 { return sign * float64(position) }, nil
	case o.By == lengthColumn:
		lengths, err := s.column(ctx, lengthColumn)
		return func(position int) float64 { return sign * float64(lengths[position]) }, err
	case judging >= 0:
		scores, err := s.column(ctx, scoreColumn(judging))
		return func(position int) float64 {
			v := float64(math.Float32frombits(scores[position]))
			if math.IsNaN(v) {
				return none
			}
			return sign * v
		}, err
	}
	return nil, &orbench.InputError{
		Setting: "sort", Problem: fmt.Sprintf("rows are not sorted by %q", o.By), Hint: "use length, or one of " + strings.Join(s.Judges, ", "),
	}
}
