package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"

	"github.com/orbench/orbench"
)

// Sample says that a dataset is a random sample of another.
type Sample struct {
	// Size is the number of prompts drawn, and Of the number to draw from.
	Size int `json:"size"`
	Of   int `json:"of"`
	// Seed determines the draw.
	Seed uint64 `json:"seed"`
}

// draw reduces the dataset to size of its prompts, or keeps all if it has no more. The
// draw is stratified by category and label, in proportion to size. Prompts of a pair are
// drawn together as far as possible. A larger draw with the same seed contains the
// smaller one. The hash becomes that of the drawn prompts.
//
// Within each stratum prompts have a random order. The prompt of rank r, from 0, among n
// gets the position (r + u) / n, where u is the stratum's own random number below 1. The
// prompts with the lowest positions are drawn. So every stratum is drawn from evenly; for
// strata too small for a prompt of their own, chance decides.
func (d *Dataset) draw(size int, seed uint64) error {
	if size >= d.Count {
		return nil
	}
	drawn, err := d.places(size, seed)
	if err != nil {
		return err
	}
	d.Sample = &Sample{Size: size, Of: d.Count, Seed: seed}
	all, n := *d, 0
	d.drawn = drawn
	return d.Recount(func(yield func(orbench.Prompt, error) bool) {
		for p, err := range all.Prompts() {
			if (err != nil || drawn[n]) && !yield(p, err) {
				return
			}
			n++
		}
	})
}

// Recount has the dataset describe other prompts than before.
func (d *Dataset) Recount(prompts iter.Seq2[orbench.Prompt, error]) error {
	d.uncount()
	h := newHasher(hashVersion)
	for p, err := range prompts {
		if err != nil {
			return err
		}
		d.count(p)
		h.add(p)
	}
	d.SHA256 = h.sum()
	return nil
}

// places marks the prompts that are drawn, by their number in the file.
func (d *Dataset) places(size int, seed uint64) ([]bool, error) {
	type candidate struct {
		key   uint64
		place float64
		n     int
	}
	strata := map[string][]candidate{}
	// met counts the prompts of a pair in a stratum. Only one of each side is drawn
	// together.
	met := map[string]int{}
	n := 0
	for p, err := range d.Prompts() {
		if err != nil {
			return nil, err
		}
		stratum := fmt.Sprintf("%s\n%s", p.Label, p.Category)
		item := string(p.ID)
		if p.Pair != "" {
			of := stratum + "\n" + p.Pair
			item = fmt.Sprintf("%s\n%d", p.Pair, met[of])
			met[of]++
		}
		strata[stratum] = append(strata[stratum], candidate{key: lotOf(seed, "prompt", item), n: n})
		n++
	}
	all := make([]candidate, 0, n)
	for stratum, lots := range strata {
		slices.SortFunc(lots, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.n, b.n)) })
		u := float64(lotOf(seed, "stratum", stratum)>>11) / (1 << 53)
		for rank := range lots {
			lots[rank].place = (float64(rank) + u) / float64(len(lots))
		}
		all = append(all, lots...)
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.n, b.n)) })
	drawn := make([]bool, n)
	for _, l := range all[:size] {
		drawn[l.n] = true
	}
	return drawn, nil
}

// lotOf is a pseudorandom number that depends on the seed and the item alone.
func lotOf(seed uint64, what, item string) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "orbench sample 1\n%d\n%s\n%s", seed, what, item))
	return binary.BigEndian.Uint64(sum[:])
}

// Stopped says that prompts were asked in random order until every rate was known
// precisely enough.
type Stopped struct {
	// HalfWidth is the largest half-width of the rates' intervals, as a share.
	HalfWidth float64 `json:"half_width"`
	// Interval names the kind of the intervals: wilson (see stats.WilsonFinite), or empty for
	// a confidence sequence.
	Interval string `json:"interval,omitempty"`
	// Judge is the judge whose rates were used.
	Judge string `json:"judge"`
	// Seed determines the order.
	Seed uint64 `json:"seed"`
	// Asked is the number of prompts asked, and Of the number of all prompts.
	Asked int `json:"asked"`
	Of    int `json:"of"`
}

// Part is the dataset reduced to those of its first prompts that are marked, by their
// number in order. Name and hash stay those of the whole dataset. It reads the prompts;
// with hold, it keeps those of the part in memory.
func (d *Dataset) Part(marked []bool, hold bool) (*Dataset, error) {
	part := *d
	part.uncount()
	part.kept = func(yield func(orbench.Prompt, error) bool) {
		n := 0
		for p, err := range d.Prompts() {
			if err == nil && n == len(marked) {
				return
			}
			if err != nil || marked[n] {
				if !yield(p, err) || err != nil {
					return
				}
			}
			n++
		}
	}
	var held []orbench.Prompt
	for p, err := range part.kept {
		if err != nil {
			return nil, err
		}
		part.count(p)
		if hold {
			held = append(held, p)
		}
	}
	if hold {
		part.kept = func(yield func(orbench.Prompt, error) bool) {
			for _, p := range held {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
	return &part, nil
}
