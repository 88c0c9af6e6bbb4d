package logs

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/orbench/orbench"
)

// Look is an exchange that was drawn for people to look at, with what they said.
type Look struct {
	// Stratum is a part of the exchanges. Of its Size exchanges, Drawn were drawn at random.
	// Times of these have the texts of this look.
	Stratum            string
	Size, Drawn, Times int
	Message, Reply     string
	// Refused and Answerable are what people said: was it refused, and should it have been
	// answered. Both are empty until somebody looked.
	Refused, Answerable Word
	// Score is what the guard gave the message, empty for none.
	Score string
	// Context is what was said before Message, with the system prompt.
	Context []orbench.Message
}

// Word is what people say of a look.
type Word string

// The words.
const (
	Yes     Word = "yes"
	No      Word = "no"
	Unknown Word = "cannot tell"
)

// The strata of what was not refused. Those of refusals are named by their source, and
// those whose reply is a fixed text have fixedMark behind the name.
const (
	answered      = "answered"
	flaggedBefore = "flagged_before"
	flaggedAfter  = "flagged_after"
	fixedMark     = "+fixed"
)

// sourceOf gives who refused in a stratum, and false for one of what was not refused.
func sourceOf(stratum string) (Source, bool) {
	switch stratum {
	case string(Model) + fixedMark:
		return Fixed, true
	case flaggedBefore + fixedMark:
		return GuardBefore, true
	case flaggedAfter + fixedMark:
		return GuardAfter, true
	}
	s := Source(stratum)
	return s, slices.Contains(Sources, s)
}

// sampler draws exchanges of each stratum without knowing how many there are. Each exchange
// gets a lot, a random number; those with the lowest lots are a random sample of a stratum,
// and of any part of it. An exchange that equals one that is drawn costs no look, so it is
// drawn too, for nothing.
type sampler struct {
	looks int
	seed  uint64
	hash  maphash.Seed
	next  uint64
	pools map[string]*pool
}

// pool has the exchanges of a stratum with the lowest lots: as many as have the given
// number of different texts.
type pool struct {
	lots  lots
	texts map[uint64]*texts
	// limit is the lowest lot that was let go, or the highest number.
	limit uint64
}

type texts struct {
	message, reply, score, name string
	context                     []orbench.Message
	held                        int
}

// lot is an exchange of a pool. pair says which texts it has.
type lot struct{ lot, pair, reply uint64 }

// lots is a heap with the highest lot on top.
type lots []lot

func (l lots) Len() int           { return len(l) }
func (l lots) Less(i, j int) bool { return l[i].lot > l[j].lot }
func (l lots) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *lots) Push(x any)        { *l = append(*l, x.(lot)) }
func (l *lots) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014), which makes a random
// number of a counter.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// add gives an exchange its lot.
func (s *sampler) add(stratum string, e read, reply uint64) {
	s.next++
	l := lot{lot: mix(mix(s.seed) + s.next*0x9e3779b97f4a7c15), reply: reply}
	p := s.pools[stratum]
	if p == nil {
		p = &pool{texts: map[uint64]*texts{}, limit: 1<<64 - 1}
		s.pools[stratum] = p
	}
	if l.lot >= p.limit {
		return
	}
	var h maphash.Hash
	h.SetSeed(s.hash)
	h.WriteString(e.Prompt)
	h.WriteByte(0)
	h.WriteString(e.Reply)
	l.pair = h.Sum64()
	t := p.texts[l.pair]
	if t == nil {
		t = &texts{message: e.Prompt, reply: e.Reply, score: e.Score, name: e.Name, context: e.Context}
		p.texts[l.pair] = t
	}
	t.held++
	heap.Push(&p.lots, l)
	for len(p.texts) > s.looks {
		out := heap.Pop(&p.lots).(lot)
		p.limit = out.lot
		if t := p.texts[out.pair]; t.held > 1 {
			t.held--
		} else {
			delete(p.texts, out.pair)
		}
	}
}

// stratum is a stratum with its lots in order.
type stratum struct {
	name string
	size int
	lots []lot
	pool *pool
	// pairs is the number of different texts among the lots, looks how many of them are to
	// be looked at.
	pairs, looks int
}

// notRefused is the share of the looks for what was not refused.
const notRefused = 0.2

// leastLooks is the number of looks of a stratum before any has more.
const leastLooks = 3

// strata divides the pools by whether a reply is a fixed text, which is known at the end.
func (c *counter) strata() []*stratum {
	sizes := map[string]int{}
	name := func(of string, reply uint64) string {
		if (of == string(Model) || of == flaggedBefore || of == flaggedAfter) && c.repeats.IsFixed(reply) {
			return of + fixedMark
		}
		return of
	}
	for of, n := range c.sizes {
		sizes[of] += n
	}
	for _, r := range c.refused {
		sizes[name(string(Sources[r.source]), r.reply)]++
	}
	for _, p := range c.passed {
		sizes[name(flaggedName(p.source), p.reply)]++
	}
	all := map[string]*stratum{}
	for of, p := range c.sampler.pools {
		for _, l := range p.lots {
			n := name(of, l.reply)
			if all[n] == nil {
				all[n] = &stratum{name: n, size: sizes[n], pool: p}
			}
			all[n].lots = append(all[n].lots, l)
		}
	}
	var list []*stratum
	for _, s := range all {
		slices.SortFunc(s.lots, func(a, b lot) int { return cmp.Compare(a.lot, b.lot) })
		seen := map[uint64]bool{}
		for _, l := range s.lots {
			seen[l.pair] = true
		}
		s.pairs = len(seen)
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *stratum) int { return cmp.Compare(a.name, b.name) })
	return list
}

func flaggedName(source uint8) string {
	if Sources[source] == GuardBefore {
		return flaggedBefore
	}
	return flaggedAfter
}

// allot gives each stratum its looks: in proportion to its size, but at least a few, and a
// share of all for what was not refused.
func allot(strata []*stratum, looks int) {
	give := func(of []*stratum, looks int) (left int) {
		for ; looks > 0; looks-- {
			var best *stratum
			gain := func(s *stratum) float64 {
				if s.looks < leastLooks {
					return 1e18 / float64(1+s.looks)
				}
				return float64(s.size) / (float64(s.looks) + 0.5)
			}
			for _, s := range of {
				if s.looks < s.pairs && (best == nil || gain(s) > gain(best)) {
					best = s
				}
			}
			if best == nil {
				return looks
			}
			best.looks++
		}
		return 0
	}
	var refusals, others []*stratum
	for _, s := range strata {
		if _, refused := sourceOf(s.name); refused {
			refusals = append(refusals, s)
		} else {
			others = append(others, s)
		}
	}
	forOthers := int(float64(looks)*notRefused + 0.5)
	left := give(refusals, looks-forOthers)
	left = give(others, forOthers+left)
	give(refusals, left)
}

// draw makes the looks of the drawn exchanges, in random order.
func (c *counter) draw() ([]Look, error) {
	strata := c.strata()
	if least := len(strata); c.sampler.looks < least {
		return nil, &orbench.InputError{
			Setting: "size", Problem: fmt.Sprintf("the log has %d strata, and each needs a label", least), Hint: fmt.Sprintf("draw at least %d; 150 is usual", max(least, 30)),
		}
	}
	allot(strata, c.sampler.looks)
	type placed struct {
		Look
		lot uint64
	}
	var all []placed
	var people []string
	for _, s := range strata {
		at := map[uint64]int{}
		drawn, first := 0, len(all)
		for _, l := range s.lots {
			i, known := at[l.pair]
			if !known {
				if len(at) == s.looks {
					break
				}
				i = len(all)
				at[l.pair] = i
				t := s.pool.texts[l.pair]
				people = append(people, t.name)
				all = append(all, placed{Look{Stratum: s.name, Size: s.size, Message: t.message, Reply: t.reply, Score: t.score, Context: slices.Clone(t.context)}, mix(l.lot)})
			}
			all[i].Times++
			drawn++
		}
		for i := first; i < len(all); i++ {
			all[i].Drawn = drawn
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Compare(a.lot, b.lot) })
	if c.o.Mask != nil {
		c.o.Mask.AddPeople(people)
	}
	looks := make([]Look, len(all))
	for i, p := range all {
		looks[i] = p.Look
		looks[i].Message, looks[i].Reply = c.o.Mask.Text(p.Message), c.o.Mask.Text(p.Reply)
		for n, m := range p.Context {
			p.Context[n].Content = c.o.Mask.Text(m.Content)
		}
	}
	return looks, nil
}

// Draw reads logs as Read does and draws exchanges for people to look at: about the given
// number with different texts, of each source and of what was not refused. The same logs
// and seed give the same looks.
func Draw(ctx context.Context, files []string, o Options, looks int, seed uint64) ([]Look, Result, []string, error) {
	c := newCounter(o)
	c.sampler = &sampler{looks: looks, seed: seed, hash: c.seed, pools: map[string]*pool{}}
	result, notes, err := c.read(ctx, files)
	if err != nil {
		return nil, Result{}, nil, err
	}
	drawn, err := c.draw()
	return drawn, result, notes, err
}
