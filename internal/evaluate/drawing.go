package evaluate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/stats"
)

// drawing draws a run's prompts in blocks, one block of each label of each
// dataset at a time, balanced over the categories, until the interval of every
// rate is as narrow as requested; see Rule. The blocks follow from the seed and
// the datasets alone. Where they end depends on the outcomes, so the same
// answers give the same end.
type drawing struct {
	rule Rule
	// together is how many targets stop together.
	together int
	sets     []*dataset.Dataset
	strata   []*stratum
	// places holds, for each dataset, the place of each prompt in the order of
	// the file: its stratum, and the block in which it was drawn, from 1. Block
	// 0 means not drawn yet.
	places [][]place
}

type place struct {
	stratum int
	block   int
}

// stratum is the prompts of one label of a dataset.
type stratum struct {
	dataset int
	label   orbench.Label
	// left holds the places of the prompts that are not drawn yet, grouped by
	// category.
	left   []int
	size   int
	sizes  []int
	source *rand.PCG
	// fresh is true if the newest round drew a block. closed is true if no more
	// blocks are drawn.
	fresh, closed bool
}

// drawn returns how many prompts were drawn.
func (c *stratum) drawn() int { return c.size - len(c.left) }

// newDrawing starts the drawing of the first limit prompts of datasets, or of
// all for limit 0. together is how many targets stop together. newDrawing reads
// the datasets, and keeps the prompts of all but very large ones in memory,
// because every round goes through them. It returns an error of reading them.
func newDrawing(rule Rule, together, limit int, sets []*dataset.Dataset) (*drawing, error) {
	d := &drawing{rule: rule, together: together}
	for at, set := range sets {
		size := set.Size(limit)
		var held []orbench.Prompt
		var categories []orbench.Category
		var places []place
		byLabel := map[orbench.Label]int{}
		for p, err := range set.First(limit) {
			if err != nil {
				return nil, err
			}
			i, ok := byLabel[p.Label]
			if !ok {
				i = len(d.strata)
				byLabel[p.Label] = i
				sum := sha256.Sum256(fmt.Appendf(nil, "orbench until 1\n%s\n%s", set.SHA256, p.Label)) // so each label of a dataset is drawn in its own way
				d.strata = append(d.strata, &stratum{dataset: at, label: p.Label, source: rand.NewPCG(rule.Seed, binary.BigEndian.Uint64(sum[:]))})
			}
			c := d.strata[i]
			c.left, c.size = append(c.left, len(places)), c.size+1
			categories, places = append(categories, p.Category), append(places, place{stratum: i})
			if size <= mostHeld {
				held = append(held, p)
			}
		}
		for _, i := range byLabel {
			slices.SortStableFunc(d.strata[i].left, func(a, b int) int { return cmp.Compare(categories[a], categories[b]) })
		}
		if size <= mostHeld {
			set = dataset.Kept(*set, job.Each(held))
		}
		d.sets, d.places = append(d.sets, set), append(d.places, places)
	}
	return d, nil
}

// mostHeld is the most prompts of a dataset that are kept in memory, about 20
// MB. A larger dataset is read again in every round.
const mostHeld = 100_000

// blockAfter returns the size of the block after n prompts. Blocks grow, so a
// long run waits for the end of few blocks and overshoots by an eighth at most.
func (r Rule) blockAfter(n int) int {
	if n == 0 && r.Interval == Wilson {
		return 200
	}
	return max(16, n/8)
}

// next draws a round: the next block of every stratum that is not closed and
// has prompts left. It reports whether there is any.
func (d *drawing) next() bool {
	drew := false
	for i, c := range d.strata {
		if c.fresh = !c.closed && len(c.left) > 0; !c.fresh {
			continue
		}
		drew = true
		drawn := stats.Pivotal(len(c.left), min(d.rule.blockAfter(c.drawn()), len(c.left)), c.source.Uint64)
		c.sizes = append(c.sizes, len(drawn))
		left := c.left[:0:0]
		for k, at := range c.left {
			if len(drawn) > 0 && drawn[0] == k {
				drawn = drawn[1:]
				d.places[c.dataset][at] = place{i, len(c.sizes)}
				continue
			}
			left = append(left, at)
		}
		c.left = left
	}
	return drew
}

// newest reports whether a prompt was drawn in the newest round; asked reports
// whether it was drawn in any.
func (d *drawing) newest(p place) bool {
	c := d.strata[p.stratum]
	return c.fresh && p.block == len(c.sizes)
}

func (d *drawing) asked(p place) bool { return p.block > 0 }

// askedPrompts returns the datasets with only the prompts of all rounds. They
// record how many of how many prompts they are, and which judge decided.
func (d *drawing) askedPrompts(judge string) ([]*dataset.Dataset, error) {
	parts, err := d.parts(d.asked, false)
	for i, part := range parts {
		part.Stopped = &dataset.Stopped{HalfWidth: d.rule.HalfWidth, Interval: string(d.rule.Interval), Judge: judge, Seed: d.rule.Seed, Asked: part.Count, Of: len(d.places[i])}
	}
	return parts, err
}

// parts returns the datasets with only the prompts that take selects, kept in memory
// where hold is true.
func (d *drawing) parts(take func(place) bool, hold bool) (all []*dataset.Dataset, err error) {
	for at, set := range d.sets {
		marked := make([]bool, len(d.places[at]))
		for i, p := range d.places[at] {
			marked[i] = take(p)
		}
		part, err := set.Part(marked, hold)
		if err != nil {
			return nil, err
		}
		all = append(all, part)
	}
	return all, nil
}
