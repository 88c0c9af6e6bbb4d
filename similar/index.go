package similar

import (
	"cmp"
	"math"
	"slices"
)

// shingleWords is the number of words in a shingle. A shorter text is one
// shingle.
const shingleWords = 3

// Index finds near duplicates among texts that arrive one by one. It is exact for any
// texts in any order; see the package comment. Memory grows by some 25 bytes for each
// word of a text; the texts themselves are not kept. A million prompts of 10 to 25 words
// take about 15 seconds and 420 MB.
//
// An Index is not safe for concurrent use; this includes concurrent calls of Nearest.
// NewIndex makes one.
type Index struct {
	threshold float64

	// shingles numbers the shingles from 0 in the order of their arrival. The shingle of
	// a short text is filled up with zeros.
	words    vocabulary
	shingles map[[shingleWords]uint32]uint32
	// ranks has the rank of each shingle: the higher, the rarer. A new shingle gets the
	// next rank, as the rarest. rankAnew changes the ranks.
	ranks []uint32

	// sets holds the shingles of the kept texts by rank, from rare to common. Those of
	// text i end at ends[i].
	sets []uint32
	ends []int

	// The shingles in the prefixes of the kept texts are listed by rank, then by the size
	// of the text's set. Sizes are separate because how rare a shared shingle must be
	// depends on both sizes. In a single list, all texts of a collection made from one
	// template would be compared, since they share the template's shingles. Lists are
	// linked by positions in lists and posts, whose first element marks their end. Most
	// shingles are in one text alone. Their head is that text's number with the bit alone.
	heads []uint32
	lists []list
	posts []post

	// met is the last query in which each kept text was compared.
	met     []uint32
	queries uint32
	// scanned is the number of lists and posts scanned since the shingles were ranked.
	scanned int

	// text and set are buffers for the words and the shingles of a text.
	text, set []uint32
}

// alone marks a head that is the number of the only text.
const alone = 1 << 31

// list has the posts of texts with one set size, in the order of their numbers.
type list struct{ size, first, last, next uint32 }

// post is a kept text and the shingle's position in its set.
type post struct{ text, place, next uint32 }

// NewIndex makes an empty index. The threshold is the least similarity that counts, above
// 0 and at most 1. 1 finds texts that differ only in case and punctuation; 0.5 finds
// those with a word or two changed. It panics for other thresholds.
func NewIndex(threshold float64) *Index {
	if !(threshold > 0 && threshold <= 1) {
		panic("similar: a threshold that is not above 0 and at most 1")
	}
	return &Index{
		threshold: threshold,
		shingles:  map[[shingleWords]uint32]uint32{},
		lists:     make([]list, 1),
		posts:     make([]post, 1),
	}
}

// Len is the number of kept texts.
func (x *Index) Len() int { return len(x.ends) }

// Add looks for the kept text most similar to t, the earliest of equals. If the
// similarity reaches the threshold, Add returns that text's number and the similarity,
// and t is not kept. Otherwise t is kept, and n is its number; kept texts are numbered
// from 0. A text without words is always kept, and no other text is similar to it.
func (x *Index) Add(t string) (n int, jaccard float64, duplicate bool) {
	set := x.shingle(t)
	if n, jaccard, duplicate = x.nearest(set); duplicate {
		return n, jaccard, true
	}
	return x.keep(set), 0, false
}

// Keep keeps t, whatever it is similar to, and returns its number.
func (x *Index) Keep(t string) int { return x.keep(x.shingle(t)) }

// Nearest looks for the kept text most similar to t, the earliest of equals. It keeps
// nothing. It finds nothing if no similarity reaches the threshold.
func (x *Index) Nearest(t string) (n int, jaccard float64, found bool) {
	return x.nearest(x.shingle(t))
}

// shingle gives the set of a text's shingles by rank, from rare to common. The next call
// overwrites it.
func (x *Index) shingle(t string) []uint32 {
	x.rankAnew()
	x.text = x.words.add(x.text[:0], t)
	x.set = x.set[:0]
	for i := range max(min(1, len(x.text)), len(x.text)-shingleWords+1) {
		var s [shingleWords]uint32
		copy(s[:], x.text[i:])
		x.set = append(x.set, x.rank(s))
	}
	sortRanks(x.set)
	x.set = slices.Compact(x.set)
	return x.set
}

// rank is the rank of a shingle.
func (x *Index) rank(s [shingleWords]uint32) uint32 {
	id, ok := x.shingles[s]
	if !ok {
		id = uint32(len(x.ranks))
		x.shingles[s] = id
		x.ranks = append(x.ranks, id)
		x.heads = append(x.heads, 0)
	}
	return x.ranks[id]
}

// shared is the least number of shingles that similar enough sets of a and b shingles
// have in common. It exceeds a or b if the sizes alone make them too different.
func (x *Index) shared(a, b int) int {
	// The small term keeps rounding errors from requiring one too many. One too many
	// would lose pairs; one too few only costs time.
	m := x.threshold / (1 + x.threshold) * float64(a+b)
	return max(1, int(math.Ceil(m-1e-9)))
}

// prefix is how many of a set's rarest shingles can be the rarest that it shares with a
// similar enough set. The number is largest for the smallest such set.
func (x *Index) prefix(set []uint32) []uint32 {
	if len(set) == 0 {
		return nil
	}
	least := max(1, int(math.Ceil(x.threshold*float64(len(set))-1e-9)))
	return set[:len(set)-x.shared(len(set), least)+1]
}

// keep keeps the text of a set.
func (x *Index) keep(set []uint32) int {
	n := len(x.ends)
	x.sets = append(x.sets, set...)
	x.ends = append(x.ends, len(x.sets))
	x.met = append(x.met, 0)
	x.post(n)
	return n
}

// post adds a kept text to the lists.
func (x *Index) post(text int) {
	set := x.setOf(text)
	for place, rank := range x.prefix(set) {
		switch head := x.heads[rank]; {
		case head == 0:
			x.heads[rank] = alone | uint32(text)
			continue
		case head&alone != 0:
			x.heads[rank] = 0
			x.enlist(rank, head&^alone, 0) // no bound excludes the first place
		}
		x.enlist(rank, uint32(text), uint32(place))
	}
}

// enlist adds a post to the list of its shingle and of the size of its text's set.
func (x *Index) enlist(rank, text, place uint32) {
	size := uint32(len(x.setOf(int(text))))
	l := x.heads[rank]
	for l != 0 && x.lists[l].size != size {
		l = x.lists[l].next
	}
	if l == 0 {
		l = uint32(len(x.lists))
		x.lists = append(x.lists, list{size: size, next: x.heads[rank]})
		x.heads[rank] = l
	}
	p := uint32(len(x.posts))
	x.posts = append(x.posts, post{text: text, place: place})
	if x.lists[l].first == 0 {
		x.lists[l].first = p
	} else {
		x.posts[x.lists[l].last].next = p
	}
	x.lists[l].last = p
}

func (x *Index) setOf(text int) []uint32 {
	start := 0
	if text > 0 {
		start = x.ends[text-1]
	}
	return x.sets[start:x.ends[text]]
}

// nearest is Nearest for a set. Once a text is found, only more similar texts matter, and
// earlier ones that are equally similar. Both must share more, so fewer positions and
// posts remain. Without this, a collection of texts that are all alike would be compared
// in full.
func (x *Index) nearest(set []uint32) (n int, jaccard float64, found bool) {
	x.queries++
	if x.queries == 0 { // after four billion
		clear(x.met)
		x.queries = 1
	}
	best := candidate{text: -1}
	for place, rank := range x.prefix(set) {
		head := x.heads[rank]
		if head&alone != 0 {
			x.scanned++
			x.meet(set, int(head&^alone), &best)
			continue
		}
		for l := head; l != 0; l = x.lists[l].next {
			x.scanned++
			size := int(x.lists[l].size)
			m := x.shared(len(set), size)
			least, more := best.bounds(m, len(set)+size)
			if place > len(set)-least {
				continue
			}
			for p := x.lists[l].first; p != 0; p = x.posts[p].next {
				x.scanned++
				text := int(x.posts[p].text)
				need := least
				if text > best.text {
					if need = more; place > len(set)-more {
						break // the rest of the list is later still
					}
				}
				if int(x.posts[p].place) <= size-need {
					x.meet(set, text, &best)
					least, more = best.bounds(m, len(set)+size)
				}
			}
		}
	}
	if best.text < 0 {
		return 0, 0, false
	}
	return best.text, float64(best.both) / float64(best.any), true
}

// meet compares a set with that of a kept text, once in a query.
func (x *Index) meet(set []uint32, text int, best *candidate) {
	if x.met[text] == x.queries {
		return
	}
	x.met[text] = x.queries
	other := x.setOf(text)
	both := bothHave(set, other)
	c := candidate{text: text, both: both, any: len(set) + len(other) - both}
	better := c.both*best.any - best.both*c.any
	if float64(both)/float64(c.any) >= x.threshold && (best.text < 0 || better > 0 || better == 0 && text < best.text) {
		*best = c
	}
}

// candidate is the best text found for a query. A text of -1 means that there is none.
// Its similarity is the fraction both/any.
type candidate struct{ text, both, any int }

// bounds gives how many shingles another text must share to be equally similar (least),
// and to be more similar (more). sum is the number of shingles of both sets together.
// both/any <= s/(sum-s) implies s >= both*sum/(both+any). Neither is less than m.
func (c candidate) bounds(m, sum int) (least, more int) {
	if c.text < 0 {
		return m, m
	}
	shared, all := c.both*sum, c.both+c.any
	return max(m, (shared+all-1)/all), max(m, shared/all+1)
}

// rankAnew ranks the shingles by their number in the kept texts, once scanning the lists
// has cost more than ranking would. So a shingle that has become common, with a long
// list, costs no more than a fixed multiple of the scanning that is needed anyway.
func (x *Index) rankAnew() {
	if x.scanned <= rankingCost*(len(x.sets)+len(x.ranks)) {
		return
	}
	x.scanned = 0

	// Sort by counting: from the most common, which gets rank 0.
	counts := make([]uint32, len(x.ranks))
	for _, rank := range x.sets {
		counts[rank]++
	}
	most := uint32(0)
	for _, n := range counts {
		most = max(most, n)
	}
	next := make([]uint32, most+1)
	for _, n := range counts {
		next[n]++
	}
	before := uint32(0)
	for n := len(next) - 1; n >= 0; n-- {
		next[n], before = before, before+next[n]
	}
	newRank := counts
	for rank, n := range counts {
		newRank[rank] = next[n]
		next[n]++
	}

	for id, rank := range x.ranks {
		x.ranks[id] = newRank[rank]
	}
	for i, rank := range x.sets {
		x.sets[i] = newRank[rank]
	}
	clear(x.heads)
	x.lists, x.posts = x.lists[:1], x.posts[:1]
	for text := range x.ends {
		sortRanks(x.setOf(text))
		x.post(text)
	}
}

// rankingCost is about how many posts can be scanned in the time that ranking one shingle
// takes.
const rankingCost = 4

// bothHave is how many shingles two sets in descending order share.
func bothHave(a, b []uint32) int {
	both, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] > b[j]:
			i++
		case a[i] < b[j]:
			j++
		default:
			both++
			i++
			j++
		}
	}
	return both
}

// sortRanks sorts from rare to common.
func sortRanks(set []uint32) {
	slices.SortFunc(set, func(a, b uint32) int { return cmp.Compare(b, a) })
}
