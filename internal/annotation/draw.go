package annotation

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/orbench/orbench/internal/untrusted"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Cell is the answers of one target to the prompts of one label of one dataset: what
// a rate is printed for.
type Cell struct {
	Target  string
	Dataset string
	Label   orbench.Label
	// Population tells cells of the same names apart whose answers differ: by how the
	// target was asked, and what the dataset held. It may be empty.
	Population string
}

// Design names the drawing of answers of a cell. Correct takes an annotation as
// drawn from a cell only by this name: the same words may stand in another cell,
// where they had another chance.
func (c Cell) Design() string {
	name := fmt.Sprintf("%s on %s (%s)", c.Target, c.Dataset, c.Label)
	if c.Population != "" {
		name += " #" + c.Population
	}
	return name
}

// Item is an answer that may be drawn.
type Item struct {
	Cell
	Subject orbench.Subject
	Group   Group
}

// Stratum is a group of one cell.
type Stratum struct {
	Cell
	Group Group
	// Size is the number of answers in it, Drawn how many of them are drawn.
	Size, Drawn int
}

// leastDrawn is how many answers of a cell's group are drawn before others get more, when
// drawn of the cell are: of few answers two of each group, and later five, since two that
// agree say little even of a small group.
func leastDrawn(drawn int) int { return min(2+drawn/12, 5) }

// Draw draws size answers more than drawings before have drawn, and gives the
// annotations to keep, with the strata as they are then. Cells have equal shares until
// each has EnoughLabels; within a cell a group's share goes by its size and by how much
// people may differ from judges there. The annotations of earlier drawings stand again
// where their chance has changed.
//
// The same items and seed give the same drawings, and a second drawing with the
// same seed goes on where the first ended. It is an error, naming the number, when
// there are fewer answers to draw. Of each item some 100 bytes are held.
func Draw(items iter.Seq2[Item, error], earlier []orbench.Annotation, size int, seed uint64, at time.Time) ([]orbench.Annotation, []Stratum, error) {
	pools, _, err := newPools(items, earlier, seed)
	if err != nil {
		return nil, nil, err
	}
	if _, left := counts(pools); size > left {
		return nil, nil, &orbench.InputError{
			Setting: "size", Problem: fmt.Sprintf("%d answers are to be drawn, and %d are left", size, left),
			Hint: fmt.Sprintf("draw at most %d", left),
		}
	}
	allot(pools, size)
	return record(pools, at), strata(pools), nil
}

// EnoughLabels is the number of labels for the rate of some answers from which on its interval
// held the truth in 91% or more by any judge that was tried: 100, of more than 1,000 answers a
// tenth of them up to 1,000, and never more than there are. docs/labels.md has how often with
// fewer labels.
func EnoughLabels(answers int) int { return min(answers, max(100, min(answers/10, 1000))) }

// MissingLabels gives how many answers more must be drawn until each rate has EnoughLabels.
func MissingLabels(strata []Stratum) (lacking int) {
	size, drawn := map[Cell]int{}, map[Cell]int{}
	for _, s := range strata {
		size[s.Cell] += s.Size
		drawn[s.Cell] += s.Drawn
	}
	for cell, n := range size {
		lacking += max(0, EnoughLabels(n)-drawn[cell])
	}
	return lacking
}

// pool is a stratum with its answers in random order, those drawn first.
type pool struct {
	Stratum
	subjects []orbench.Subject
	// drawn are the subjects that were drawn of the cell before, and before is how many of
	// them are in the pool.
	drawn  map[orbench.Subject]bool
	before int
}

// listed is an item as newPools holds it.
type listed struct {
	subject orbench.Subject
	// cell is the number of the item's cell, and number its place among all items.
	cell, number uint32
	group        Group
}

// newPools sorts items into strata, an answer of a cell by where it is first. The order
// within one follows from the seed and the contents, so that an answer's place depends on no
// other answer. withheld counts the items of each cell that nobody need look at.
func newPools(items iter.Seq2[Item, error], earlier []orbench.Annotation, seed uint64) (pools []*pool, withheld map[Cell]int, err error) {
	numbers, withheld := map[Cell]uint32{}, map[Cell]int{}
	var cells []Cell
	var all []listed
	for it, err := range items {
		if err != nil {
			return nil, nil, err
		}
		if it.Group == Withheld {
			withheld[it.Cell]++
			continue
		}
		n, ok := numbers[it.Cell]
		if !ok {
			n = uint32(len(cells))
			numbers[it.Cell], cells = n, append(cells, it.Cell)
		}
		all = append(all, listed{it.Subject, n, uint32(len(all)), it.Group})
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), bytes.Compare(a.subject[:], b.subject[:]), cmp.Compare(a.number, b.number))
	})
	all = slices.CompactFunc(all, func(a, b listed) bool { return a.cell == b.cell && a.subject == b.subject })
	slices.SortFunc(all, func(a, b listed) int { return cmp.Compare(a.number, b.number) })

	drawn := map[string]map[orbench.Subject]bool{}
	for _, a := range earlier {
		if a.Design == "" || a.By != "" {
			continue
		}
		if drawn[a.Design] == nil {
			drawn[a.Design] = map[orbench.Subject]bool{}
		}
		drawn[a.Design][a.Subject] = true
	}
	type key struct {
		cell  uint32
		group Group
	}
	byKey := map[key]*pool{}
	for i := range all {
		k := key{all[i].cell, all[i].group}
		p := byKey[k]
		if p == nil {
			p = &pool{Stratum: Stratum{Cell: cells[k.cell], Group: k.group}}
			p.drawn = drawn[p.Design()]
			byKey[k] = p
			pools = append(pools, p)
		}
		p.Size++
		if p.drawn[all[i].subject] {
			p.Drawn++
		}
		p.subjects = append(p.subjects, all[i].subject)
	}
	for _, p := range pools {
		sortByLot(p.subjects, p.drawn, seed)
		p.before = p.Drawn
	}
	slices.SortStableFunc(pools, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Dataset, b.Dataset),
			cmp.Compare(slices.Index(orbench.Labels, a.Label), slices.Index(orbench.Labels, b.Label)), cmp.Compare(a.Group, b.Group))
	})
	return pools, withheld, nil
}

// sortByLot puts subjects in a random order that follows from the seed and from each
// subject alone, those drawn before the others.
func sortByLot(subjects []orbench.Subject, drawn map[orbench.Subject]bool, seed uint64) {
	draw := func(s *orbench.Subject) [sha256.Size]byte {
		var text [len(s) + 8]byte
		binary.LittleEndian.PutUint64(text[copy(text[:], s[:]):], seed)
		return sha256.Sum256(text[:])
	}
	// The first bytes of a lot nearly always decide.
	type entry struct {
		later   int // 1 for those not drawn before
		first   uint64
		subject orbench.Subject
	}
	entries := make([]entry, len(subjects))
	for i := range subjects {
		l := draw(&subjects[i])
		entries[i] = entry{1, binary.BigEndian.Uint64(l[:]), subjects[i]}
		if drawn[subjects[i]] {
			entries[i].later = 0
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := cmp.Or(cmp.Compare(a.later, b.later), cmp.Compare(a.first, b.first)); c != 0 {
			return c
		}
		x, y := draw(&a.subject), draw(&b.subject)
		return bytes.Compare(x[:], y[:])
	})
	for i := range entries {
		subjects[i] = entries[i].subject
	}
}

// allot raises Drawn of the pools by size in all, one answer at a time, each where
// it narrows most: the cell with the fewest drawn, of those that lack EnoughLabels as long
// as there are any, and in it the group whose share of the variance one more answer lessens
// most.
func allot(pools []*pool, size int) {
	inCell := map[Cell]int{}
	total := map[Cell]int{}
	for _, p := range pools {
		inCell[p.Cell] += p.Drawn
		total[p.Cell] += p.Size
	}
	lacking := func(c Cell) bool { return inCell[c] < EnoughLabels(total[c]) }
	order := func(a, b Cell) int {
		if lacking(a) == lacking(b) {
			return cmp.Compare(inCell[a], inCell[b])
		}
		if lacking(a) {
			return -1
		}
		return 1
	}
	for range size {
		var best *pool
		var gain float64
		for _, p := range pools {
			if p.Drawn == p.Size || best != nil && order(p.Cell, best.Cell) > 0 {
				continue
			}
			g := p.gain(total[p.Cell], inCell[p.Cell])
			if best == nil || order(p.Cell, best.Cell) < 0 || g > gain {
				best, gain = p, g
			}
		}
		best.Drawn++
		inCell[best.Cell]++
	}
}

// gain is by how much one more answer lessens the variance of the cell's rate, of which
// total is the number of answers and drawn that of those drawn. A group with fewer than
// the least gains more than any other, and the more the fewer it has.
func (p *pool) gain(total, drawn int) float64 {
	if p.Drawn < leastDrawn(drawn) {
		return 1 / float64(1+p.Drawn)
	}
	share, n := float64(p.Size)/float64(total), float64(p.Drawn)
	// What labels that all agree leave open of a group goes by one over the square of their
	// number. It is reckoned higher than by the interval, for the sake of small groups.
	const open = 0.25
	variance := func(n float64) float64 { return share * share * (spread[p.Group]*spread[p.Group]/n + open/n/n) }
	return variance(n) - variance(n+1)
}

// record writes down what is drawn anew, and what was drawn before and has another
// chance now.
func record(pools []*pool, at time.Time) []orbench.Annotation {
	var drawn []orbench.Annotation
	for _, p := range pools {
		if p.Drawn == p.before {
			continue
		}
		for _, s := range p.subjects[:p.Drawn] {
			drawn = append(drawn, orbench.Annotation{Subject: s, At: at, Design: p.Design(), Chance: float64(p.Drawn) / float64(p.Size)})
		}
	}
	return drawn
}

func strata(pools []*pool) []Stratum {
	all := make([]Stratum, len(pools))
	for i, p := range pools {
		all[i] = p.Stratum
	}
	return all
}

// Need gives how many answers must be drawn in all, and of which strata, for an
// interval of the corrected rate that is at most so wide, from end to end, in every
// cell: by what people have said in each group so far, and where they have said
// nothing by a guess. reached is false where even labels on every answer leave an
// interval that is wider, since there are too few prompts.
func Need(items iter.Seq2[Item, error], words Words, width float64) (need []Stratum, reached bool, err error) {
	pools, withheld, err := newPools(items, nil, 0)
	if err != nil {
		return nil, false, err
	}
	cells := map[Cell][]*pool{}
	var order []Cell
	for _, p := range pools {
		if cells[p.Cell] == nil {
			order = append(order, p.Cell)
		}
		cells[p.Cell] = append(cells[p.Cell], p)
	}
	reached = true
	for _, c := range order {
		means := expected(cells[c], words)
		for expectedWidth(cells[c], means, withheld[c]) > width {
			drawn, left := counts(cells[c])
			if left == 0 {
				reached = false
				break
			}
			// A twentieth more at each step keeps this quick for large runs.
			allot(cells[c], min(left, 1+drawn/20))
		}
	}
	return strata(pools), reached, nil
}

// counts gives how many answers of pools are drawn, and how many are not.
func counts(pools []*pool) (drawn, left int) {
	for _, p := range pools {
		drawn, left = drawn+p.Drawn, left+p.Size-p.Drawn
	}
	return drawn, left
}

// expected is the share of refusals to expect in each pool: half of its spread's
// extreme without labels, else what people said.
func expected(pools []*pool, words Words) []float64 {
	means := make([]float64, len(pools))
	for i, p := range pools {
		// The rate below or above a half whose standard deviation is the spread.
		low := 0.5 - math.Sqrt(math.Max(0, 0.25-spread[p.Group]*spread[p.Group]))
		means[i] = low
		if p.Group >= UnsureRefusal {
			means[i] = 1 - low
		}
		var sum, n float64
		for _, s := range p.subjects {
			if v, ok := words.Refused(s); ok {
				sum, n = sum+v, n+1
			}
		}
		if n > 0 {
			means[i] = (sum + means[i]) / (n + 1)
		}
	}
	return means
}

// expectedWidth is how wide the interval of a cell will be.
func expectedWidth(pools []*pool, means []float64, withheld int) float64 {
	var s []stats.LabeledStratum
	for i, p := range pools {
		if p.Drawn == 0 {
			return math.Inf(1)
		}
		s = append(s, stats.LabeledStratum{Size: p.Size, Mean: means[i], Labels: float64(p.Drawn)})
	}
	if withheld > 0 {
		s = append(s, stats.LabeledStratum{Size: withheld, Mean: 1, Labels: float64(withheld)})
	}
	e, ok := stats.StratifiedRate(s, 1, confidence)
	if !ok {
		return 0
	}
	return e.Hi - e.Lo
}

// PrintStrata prints strata as a table with their sum; what heads the column of
// numbers drawn.
func PrintStrata(w io.Writer, what string, strata []Stratum) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "target\tdataset\tprompts\tjudges say\tanswers\t%s\n", what)
	size, drawn := 0, 0
	for _, s := range strata {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\n", untrusted.Terminal(s.Target), untrusted.Terminal(s.Dataset), s.Label, s.Group, s.Size, s.Drawn)
		size, drawn = size+s.Size, drawn+s.Drawn
	}
	fmt.Fprintf(t, "all\t\t\t\t%d\t%d\n", size, drawn)
	return t.Flush()
}
