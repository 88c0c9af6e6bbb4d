package refusal

import (
	"math"
	"slices"
)

// A trie is a set of sequences of symbols while it is built. Symbols are 1 or more.
type trie struct {
	nodes []node // the first is the root
	most  uint16 // the greatest symbol
}

type node struct {
	next  []branch // by symbol
	depth uint8
}

type branch struct {
	symbol uint16
	node   uint32
}

// newTrie makes an empty trie with room for some nodes: what outgrows it is copied.
func newTrie(room int) *trie { return &trie{nodes: make([]node, 1, room)} }

// add gives the node after another by a symbol, which it makes if there is none.
func (t *trie) add(from uint32, symbol uint16) uint32 {
	next := t.nodes[from].next
	at, ok := slices.BinarySearchFunc(next, symbol, func(b branch, s uint16) int { return int(b.symbol) - int(s) })
	if ok {
		return next[at].node
	}
	to := uint32(len(t.nodes))
	t.nodes[from].next = slices.Insert(next, at, branch{symbol, to})
	t.nodes = append(t.nodes, node{depth: t.nodes[from].depth + 1})
	t.most = max(t.most, symbol)
	return to
}

// A doubleArray is a trie to be followed fast (Aoe, 1989): the move from a place by a
// symbol leads to the place base+symbol, if that one says that it came from there.
// Place 0 is the root.
type doubleArray []place

// A place is a quarter of a cache line, and all that a move needs.
type place struct {
	base, from uint32
	// fail is where to go on when there is no move, and value what the sequence that
	// ends here is worth, each as the owner of the array has it.
	fail, value uint32
}

// nowhere is where no place came from.
const nowhere = math.MaxUint32

// move gives the place after another by a symbol, or 0.
func (d doubleArray) move(from uint32, symbol uint16) uint32 {
	to := d[from].base + uint32(symbol)
	if d[to].from == from {
		return to
	}
	return 0
}

// doubleArray gives the nodes places, breadth first, so that those which are met most
// stand together. It gives the nodes in that order too, and the place of each.
func (t *trie) doubleArray() (d doubleArray, order, places []uint32) {
	d = make(doubleArray, 0, len(t.nodes)+len(t.nodes)/8+int(t.most)+1)
	grow := func(n int) {
		for len(d) < n {
			d = append(d, place{from: nowhere})
		}
	}
	// Past the last place there is room for any symbol, so that no move is out of bounds.
	room := int(t.most) + 1
	grow(room)
	d[0].from = 0
	places = make([]uint32, len(t.nodes))
	order = append(make([]uint32, 0, len(t.nodes)), 0)
	// No place before free is free. The search for several at once goes on where the
	// last one ended, and leaves the gaps to single ones.
	free, several := uint32(room), uint32(0)
	for n := 0; n < len(order); n++ {
		next, at := t.nodes[order[n]].next, places[order[n]]
		if len(next) == 0 {
			continue
		}
		for int(free) < len(d) && d[free].from != nowhere {
			free++
		}
		base := free - uint32(next[0].symbol)
		if len(next) > 1 {
			for base = max(base, several); !d.fits(base, next); {
				base++
			}
			several = base
		}
		grow(int(base) + room)
		d[at].base = base
		for _, b := range next {
			to := base + uint32(b.symbol)
			d[to].from = at
			places[b.node] = to
			order = append(order, b.node)
		}
	}
	return d, order, places
}

// fits reports whether the places of all branches from a base are free.
func (d doubleArray) fits(base uint32, next []branch) bool {
	for _, b := range next {
		if to := int(base) + int(b.symbol); to < len(d) && d[to].from != nowhere {
			return false
		}
	}
	return true
}
