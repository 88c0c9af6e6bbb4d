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

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Cell is the answers of one target to the prompts of one label of one dataset:
// the unit for which a rate is printed.
type Cell struct {
	Target  string
	Dataset string
	Label   orbench.Label
	// Population distinguishes cells with the same names but different answers:
	// it says how the target was asked, and what the dataset contained. It may
	// be empty.
	Population string
}

// Design names the drawing of answers of a cell by Draw. An annotation counts as
// drawn from a cell only under this name, or under that of DrawStep. The same answer may
// also be in another cell, where it had another chance.
func (c Cell) Design() string {
	name := fmt.Sprintf("%s on %s (%s)", c.Target, c.Dataset, c.Label)
	if c.Population != "" {
		name += " #" + c.Population
	}
	return name
}

// steps names the drawing of answers of a cell by DrawStep.
func (c Cell) steps() string { return "steps by score: " + c.Design() }

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
	// Size is the number of answers in it; Drawn is how many of them are drawn.
	Size, Drawn int
}

// leastDrawn returns how many answers of each group of a cell are drawn before
// any group gets more. drawn is the number drawn from the cell. It is two for
// few answers and later five, because two labels that agree say little even
// about a small group.
func leastDrawn(drawn int) int { return min(2+drawn/12, 5) }

// Draw draws size answers in addition to those of earlier drawings. It returns
// the annotations to store, and the strata after the drawing. Cells have equal
// shares until each has EnoughLabels. Within a cell a group's share depends on
// its size and on how often people may differ from judges there; of a rare cell,
// half are answers that judges flag, until none is left. An annotation
// of an earlier drawing is returned again if its chance has changed.
//
// The same items and seed give the same drawings, and a second drawing with the
// same seed continues where the first ended. If there are fewer answers to
// draw, Draw returns an error with their number. It holds about 120 bytes for
// each item.
func Draw(items iter.Seq2[Item, error], words Words, size int, seed uint64, at time.Time) ([]orbench.Annotation, []Stratum, error) {
	pools, _, err := newPools(items, words, false, false)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pools {
		if p.steps {
			return nil, nil, &orbench.InputError{
				File: p.Cell.Design(), Problem: "is labeled in steps, each drawn by the labels before",
				Hint: "go on with orbench label; draw another target or label with `target` and `label`",
			}
		}
		sortByLot(p.subjects, p.drawn, seed)
	}
	if _, left := counts(pools); size > left {
		return nil, nil, &orbench.InputError{
			Setting: "size", Problem: fmt.Sprintf("%d answers cannot be drawn, because only %d are left", size, left),
			Hint: fmt.Sprintf("draw at most %d", left),
		}
	}
	allot(pools, size)
	return record(pools, at), table.RowsOf(pools, func(p *pool) Stratum { return p.Stratum }), nil
}

// EnoughLabels returns the number of labels that a rate of some answers needs.
// From that number on, its interval contained the truth in 91% or more of the
// trials, with every judge that was tried. It is 100 for up to 1,000 answers, a
// tenth of the answers above that, at most 1,000, and never more than there are
// answers. docs/labels.md has the shares for fewer labels.
func EnoughLabels(answers int) int { return min(answers, max(100, min(answers/10, 1000))) }

// MissingLabels returns how many more answers must be drawn until each rate has
// EnoughLabels.
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

// pool is a stratum with its answers. For a drawing they are in random order, and those
// already drawn come first.
type pool struct {
	Stratum
	subjects []orbench.Subject
	// drawn holds those of the subjects that were drawn before.
	drawn map[orbench.Subject]bool
	// steps is true for a cell from which DrawStep draws: its groups are by score. design
	// names the drawing.
	steps  bool
	design string
	// parts is into how many groups scores divide the cell.
	parts int
}

// listed names an answer of a cell, by the cell's number and the start of the subject. Two of
// a billion hashes begin with the same 12 bytes with a chance of less than one in ten
// billion.
type listed struct {
	cell    uint32
	subject [12]byte
}

// newPools sorts items into strata, in the order of items. Several items with the same
// answer in a cell count once, where the first is. With drawnAlone a stratum has only the
// answers that were drawn before, though its size counts all. A cell from which nothing
// was drawn is divided by score if steps is true. withheld counts the items of each cell
// that nobody needs to look at.
func newPools(items iter.Seq2[Item, error], words Words, drawnAlone, steps bool) (pools []*pool, withheld map[Cell]int, err error) {
	type key struct {
		cell  uint32
		group Group
	}
	numbers, byKey, seen := map[Cell]uint32{}, map[key]*pool{}, map[listed]struct{}{}
	withheld = map[Cell]int{}
	parts := map[key]struct{}{}
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
			n = uint32(len(numbers))
			numbers[it.Cell] = n
		}
		one := listed{n, [12]byte(it.Subject[:])}
		if _, twice := seen[one]; twice {
			continue
		}
		seen[one], parts[key{n, it.Group}] = struct{}{}, struct{}{}
		byScore := len(words.chance[it.Cell.steps()]) > 0 || steps && len(words.chance[it.Design()]) == 0
		if !byScore {
			it.Group = it.Group.whole()
		}
		p := byKey[key{n, it.Group}]
		if p == nil {
			p = &pool{Stratum: Stratum{Cell: it.Cell, Group: it.Group}, steps: byScore, design: it.Design(), drawn: map[orbench.Subject]bool{}}
			if byScore {
				p.design = it.Cell.steps()
			}
			byKey[key{n, it.Group}], pools = p, append(pools, p)
		}
		p.Size++
		known := words.ChanceIn(p.design, it.Subject) > 0
		if known {
			p.Drawn++
			p.drawn[it.Subject] = true
		}
		if known || !drawnAlone {
			p.subjects = append(p.subjects, it.Subject)
		}
	}
	for _, p := range pools {
		for g := range groups {
			if _, ok := parts[key{numbers[p.Cell], g}]; ok {
				p.parts++
			}
		}
	}
	slices.SortStableFunc(pools, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Dataset, b.Dataset),
			cmp.Compare(slices.Index(orbench.Labels, a.Label), slices.Index(orbench.Labels, b.Label)), cmp.Compare(a.Group, b.Group))
	})
	return pools, withheld, nil
}

// sortByLot puts subjects in a random order that depends only on the seed and
// on each subject. Those drawn before come first.
func sortByLot(subjects []orbench.Subject, drawn map[orbench.Subject]bool, seed uint64) {
	type entry struct {
		later   int // 1 for those not drawn before
		lot     [sha256.Size]byte
		subject orbench.Subject
	}
	entries := make([]entry, len(subjects))
	for i, s := range subjects {
		entries[i] = entry{1, sha256.Sum256(binary.LittleEndian.AppendUint64(s[:], seed)), s}
		if drawn[s] {
			entries[i].later = 0
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.later, b.later), bytes.Compare(a.lot[:], b.lot[:]))
	})
	for i := range entries {
		subjects[i] = entries[i].subject
	}
}

// allot increases Drawn of the pools by size in total, one answer at a time,
// where it narrows an interval most. It takes the cell with the fewest drawn,
// among those that lack EnoughLabels if there are any. In that cell it takes
// the group whose share of the variance one more answer reduces most; in a rare
// one, see rareCell.
func allot(pools []*pool, size int) {
	type cell struct {
		drawn, total int
		rare         *rareCell
	}
	cells, of, rare := map[Cell]*cell{}, make([]*cell, len(pools)), rareCells(pools)
	for i, p := range pools {
		if cells[p.Cell] == nil {
			cells[p.Cell] = &cell{rare: rare[p.Cell]}
		}
		of[i] = cells[p.Cell]
		of[i].drawn, of[i].total = of[i].drawn+p.Drawn, of[i].total+p.Size
	}
	order := func(a, b *cell) int {
		lacks, other := a.drawn < EnoughLabels(a.total), b.drawn < EnoughLabels(b.total)
		switch {
		case lacks == other:
			return cmp.Compare(a.drawn, b.drawn)
		case lacks:
			return -1
		}
		return 1
	}
	for range size {
		best, gain := -1, 0.0
		for i, p := range pools {
			c, than := of[i], -1
			if best >= 0 {
				than = order(c, of[best])
			}
			if p.Drawn == p.Size || than > 0 {
				continue
			}
			g := p.gain(c.total, c.drawn)
			if c.rare != nil {
				g = c.rare.gain(p)
			}
			if than < 0 || g > gain {
				best, gain = i, g
			}
		}
		pools[best].Drawn++
		of[best].drawn++
		if r := of[best].rare; r != nil {
			r.count(pools[best], 1)
		}
	}
}

// gain returns by how much one more answer reduces the variance of the cell's
// rate. total is the number of the cell's answers and drawn the number drawn. A
// group with fewer than the minimum gains more than any other; the fewer it
// has, the more it gains.
func (p *pool) gain(total, drawn int) float64 {
	if p.Drawn < leastDrawn(drawn) {
		return 1 / float64(1+p.Drawn)
	}
	share, n := float64(p.Size)/float64(total), float64(p.Drawn)
	// If all labels of a group agree, the remaining uncertainty falls with the
	// square of their number. The value here is larger than the interval's, for
	// the benefit of small groups.
	const open = 0.25
	variance := func(n float64) float64 { return share * share * (spread[p.Group]*spread[p.Group]/n + open/n/n) }
	return variance(n) - variance(n+1)
}

// record returns annotations for newly drawn answers, and for earlier ones
// whose chance has changed.
func record(pools []*pool, at time.Time) (drawn []orbench.Annotation) {
	for _, p := range pools {
		if p.Drawn == len(p.drawn) {
			continue
		}
		for _, s := range p.subjects[:p.Drawn] {
			drawn = append(drawn, orbench.Annotation{Subject: s, At: at, Design: p.design, Chance: float64(p.Drawn) / float64(p.Size)})
		}
	}
	return drawn
}

// counts returns how many answers of pools are drawn, and how many are not.
func counts(pools []*pool) (drawn, left int) {
	for _, p := range pools {
		drawn, left = drawn+p.Drawn, left+p.Size-p.Drawn
	}
	return drawn, left
}

// expected returns the expected share of refusals in each pool: the share among
// people's labels, combined with one guess from the group's spread. Without
// labels it is the guess.
func expected(pools []*pool, words Words) []float64 {
	means := make([]float64, len(pools))
	for i, p := range pools {
		// low is the rate below one half whose standard deviation is the
		// spread; 1 - low is the one above.
		low := 0.5 - math.Sqrt(math.Max(0, 0.25-spread[p.Group]*spread[p.Group]))
		means[i] = low
		if p.Group >= UnsureRefusal {
			means[i] = 1 - low
		}
		if p.steps {
			means[i] = kindsOf[p.Group].expected
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

// widthOf returns the width of a cell's interval by labels of which a share in each pool
// says refusal. A pool without labels counts as if it had half of one.
func widthOf(pools []*pool, means, labels []float64, withheld int) float64 {
	var s []stats.LabeledStratum
	var expected []float64
	for i, p := range pools {
		s = append(s, stats.LabeledStratum{Size: p.Size, Mean: means[i], Labels: math.Max(labels[i], 0.5)})
		expected = append(expected, kindsOf[p.Group].expected)
	}
	if withheld > 0 {
		s, expected = append(s, stats.LabeledStratum{Size: withheld, Mean: 1, Labels: float64(withheld)}), append(expected, 1)
	}
	e, _ := stats.StratifiedRate(s, 1, confidence)
	if pools[0].steps {
		e, _ = stats.ExpectedRate(s, expected, 1, confidence)
	}
	return e.Hi - e.Lo
}

// PrintStrata prints strata as a table with their sum. what is the header of
// the column with the numbers drawn.
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
