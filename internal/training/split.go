package training

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/similar"
)

// Splits are the names of the splits, the training split first.
var Splits = [3]string{"train", "validation", "test"}

// draw gives a pseudorandom number that depends on the seed, the purpose of the draw, and
// the item.
func draw(seed uint64, what, item string) uint64 {
	sum := sha256.Sum256([]byte(strconv.FormatUint(seed, 10) + "\n" + what + "\n" + item))
	return binary.BigEndian.Uint64(sum[:])
}

// cluster names what a prompt shares with others. A prompt that shares nothing is its own
// cluster.
func cluster(p orbench.Prompt) string { return cmp.Or(p.Cluster, string(p.ID)) }

// splitOf gives the split of a prompt. It depends on the prompt's cluster alone. So all
// prompts of a cluster are in one split, whatever other prompts there are.
func (o Options) splitOf(p orbench.Prompt) int {
	at := float64(draw(o.Seed, "split", cluster(p))) / math.MaxUint64
	sum := 0.0
	last := 0
	for i, share := range o.Splits {
		if sum += share; share > 0 {
			if last = i; at < sum {
				break
			}
		}
	}
	return last
}

// whole is everything that the user says in a prompt. Single turns, such as a greeting, may
// well be in several splits.
func whole(it *item) string { return strings.Join(Said(it.prompt), "\n") }

// separate assigns items to splits. It leaves out of a later split what nearly repeats an
// earlier one.
func (o Options) separate(items []*item) {
	for _, it := range items {
		it.split = o.splitOf(it.prompt)
	}
	before := similar.NewIndex(o.Against.Threshold)
	for split := range Splits {
		var kept []*item
		for _, it := range items {
			if it.split != split {
				continue
			}
			if _, _, near := before.Nearest(whole(it)); near {
				it.cause = NearOtherSplit
			} else {
				kept = append(kept, it)
			}
		}
		for _, it := range kept {
			before.Keep(whole(it))
		}
	}
}

// balance leaves out randomly drawn items of a split until its share of toxic items is as
// wanted.
func (o Options) balance(items []*item) {
	if o.ToxicShare == nil {
		return
	}
	share := *o.ToxicShare
	for split := range Splits {
		byLabel := map[orbench.Label][]*item{}
		for _, it := range items {
			if it.split == split {
				byLabel[it.prompt.Label] = append(byLabel[it.prompt.Label], it)
			}
		}
		safe, toxic := len(byLabel[orbench.Safe]), len(byLabel[orbench.Toxic])
		// The share makes one of the two scarcer; that one stays whole. Rounding to the
		// nearest keeps the share within half a prompt.
		if float64(toxic)*(1-share) > float64(safe)*share {
			toxic = int(math.Round(float64(safe) * share / max(1-share, 1e-12)))
		} else {
			safe = int(math.Round(float64(toxic) * (1 - share) / max(share, 1e-12)))
		}
		o.draw(byLabel[orbench.Safe], safe)
		o.draw(byLabel[orbench.Toxic], toxic)
	}
}

// draw leaves out all but n items, with the ratio as cause.
func (o Options) draw(items []*item, n int) {
	slices.SortFunc(items, func(a, b *item) int {
		return cmp.Or(
			cmp.Compare(draw(o.Seed, "ratio", string(a.prompt.ID)), draw(o.Seed, "ratio", string(b.prompt.ID))),
			cmp.Compare(a.prompt.ID, b.prompt.ID),
		)
	})
	for _, it := range items[min(max(n, 0), len(items)):] {
		it.cause = Ratio
	}
}
