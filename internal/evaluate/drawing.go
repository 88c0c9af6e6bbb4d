package evaluate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/stats"
)

// drawing is the drawing of a run's prompts, a block of each label of each dataset at a
// time, balanced over the categories, until the interval of every rate is as narrow as was
// asked for; see Rule. The blocks follow from the seed and the
// datasets alone, and where they end from what came out of them, so the same answers give
// the same end.
type drawing struct {
	rule Rule
	// together is how many targets stop together.
	together int
	sets     []*dataset.Dataset
	strata   []*stratum
	// places says by dataset, of each prompt in the order of the file, of which stratum it
	// is and in which of its blocks it was drawn, from 1; 0 is not yet.
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
	// left are those that are not drawn, by their places, those of a category together.
	left   []int
	size   int
	sizes  []int
	source *rand.PCG
	// fresh is true where the newest round drew a block, closed where no more is drawn.
	fresh, closed bool
}

// drawn is how many prompts were drawn.
func (c *stratum) drawn() int { return c.size - len(c.left) }

// newDrawing starts the drawing of the first limit prompts of datasets, or of all for limit
// 0, for so many targets together.
// It reads them, and holds those of datasets that are not very large, since every round
// goes through them; its error is theirs.
func newDrawing(rule Rule, together, limit int, sets []*dataset.Dataset) (*drawing, error) {
	d := &drawing{rule: rule, together: together}
	for at, set := range sets {
		size := set.Size(limit)
		var held []orbench.Prompt
		var categories []orbench.Category
		var places []place
		byLabel := map[orbench.Label]int{}
		for chunk, err := range set.Chunks(limit, chunkSize) {
			if err != nil {
				return nil, err
			}
			for _, p := range chunk {
				i, ok := byLabel[p.Label]
				if !ok {
					i = len(d.strata)
					byLabel[p.Label] = i
					d.strata = append(d.strata, &stratum{dataset: at, label: p.Label, source: rand.NewPCG(rule.Seed, numberOf(set.SHA256, p.Label))})
				}
				c := d.strata[i]
				c.left, c.size = append(c.left, len(places)), c.size+1
				categories, places = append(categories, p.Category), append(places, place{stratum: i})
			}
			if size <= mostHeld {
				held = append(held, chunk...)
			}
		}
		for _, i := range byLabel {
			slices.SortStableFunc(d.strata[i].left, func(a, b int) int { return cmp.Compare(categories[a], categories[b]) })
		}
		if size <= mostHeld {
			set = dataset.Kept(*set, func(yield func(orbench.Prompt, error) bool) {
				for _, p := range held {
					if !yield(p, nil) {
						return
					}
				}
			})
		}
		d.sets, d.places = append(d.sets, set), append(d.places, places)
	}
	return d, nil
}

// mostHeld bounds the prompts of a dataset that are held in memory, some 20 MB; those
// of a larger one are read again in every round.
const mostHeld = 100_000

// numberOf is a number by which the draws of labels and datasets differ.
func numberOf(sha256Hex string, label orbench.Label) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "orbench until 1\n%s\n%s", sha256Hex, label))
	return binary.BigEndian.Uint64(sum[:])
}

// blockAfter is the size of the block after n prompts. Blocks grow, so that a long run
// waits for few of them to end, and overshoots by an eighth at the most.
func (r Rule) blockAfter(n int) int {
	if n == 0 {
		return r.Interval.firstLook()
	}
	return max(16, n/8)
}

// next draws the next block of every stratum that is not closed and has prompts left, a
// round, and reports whether there is any.
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

// newestPrompts gives the datasets with the prompts of the newest round alone, held in memory.
func (d *drawing) newestPrompts() ([]*dataset.Dataset, error) {
	return d.parts(d.newest, true)
}

// newest reports whether a prompt is of the newest round, asked whether it is of any.
func (d *drawing) newest(p place) bool {
	c := d.strata[p.stratum]
	return c.fresh && p.block == len(c.sizes)
}

func (d *drawing) asked(p place) bool { return p.block > 0 }

// askedPrompts gives the datasets with the prompts of all rounds alone, which say how many of
// how many they are, and which judge decided.
func (d *drawing) askedPrompts(judge string) ([]*dataset.Dataset, error) {
	parts, err := d.parts(d.asked, false)
	for i, part := range parts {
		part.Stopped = &dataset.Stopped{HalfWidth: d.rule.HalfWidth, Interval: string(d.rule.Interval), Judge: judge, Seed: d.rule.Seed, Asked: part.Count, Of: len(d.places[i])}
	}
	return parts, err
}

// parts gives the datasets with the prompts that are taken alone.
func (d *drawing) parts(take func(place) bool, hold bool) ([]*dataset.Dataset, error) {
	var all []*dataset.Dataset
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
