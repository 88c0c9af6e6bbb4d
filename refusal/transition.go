package refusal

import "math"

// transitions are the moves of a machine from state to state by symbols, in one array that
// is small and quick to look up. Each state has
// a row, which overlaps with those of others in one array: the move from a state by a
// symbol stands at row+symbol, if the one there says that it is of that state (row
// displacement; Tarjan and Yao, 1979). States are numbered from 0, where every
// machine begins and to which no move leads. Its row is the first, and overlaps with
// no other. Symbols are 1 or more. The owner of the machine keeps the rows, beside what
// else it has of each state.
type transitions struct {
	// moves are those of all states; in places that are free from is nowhere.
	moves []move
	// most is the greatest symbol: past the last move there is room for any, so that
	// none is out of bounds.
	most uint16
	// No place before free is free. The search for several at once goes on where the
	// last one ended, and leaves the gaps to single ones.
	free, several uint32
}

// A move stands in the row of the state that it leads from.
type move struct{ from, to uint16 }

// nowhere is where no move leads from. All states have smaller numbers.
const nowhere = math.MaxUint16

// A branch is a move of a state whose row is being added.
type branch struct{ symbol, to uint16 }

// newTransitions makes a table of symbols up to the greatest.
func newTransitions(most uint16) transitions {
	t := transitions{most: most, free: uint32(most) + 1}
	t.grow(int(t.free))
	return t
}

// add gives a state its moves, in the order of their symbols, and returns its row, by
// which next finds them. A state is added once, and is below nowhere.
func (t *transitions) add(state uint32, next []branch) (row uint32) {
	if state == 0 || len(next) == 0 {
		for _, b := range next {
			t.moves[b.symbol] = move{0, b.to}
		}
		return 0
	}
	for int(t.free) < len(t.moves) && t.moves[t.free].from != nowhere {
		t.free++
	}
	row = t.free - uint32(next[0].symbol)
	if len(next) > 1 {
		for row = max(row, t.several); !t.fits(row, next); {
			row++
		}
		t.several = row
	}
	t.grow(int(row) + int(t.most) + 1)
	for _, b := range next {
		t.moves[row+uint32(b.symbol)] = move{uint16(state), b.to}
	}
	return row
}

// grow makes room for n moves.
func (t *transitions) grow(n int) {
	for len(t.moves) < n {
		t.moves = append(t.moves, move{from: nowhere})
	}
}

// fits reports whether the places of all branches in a row are free.
func (t *transitions) fits(row uint32, next []branch) bool {
	for _, b := range next {
		if to := int(row) + int(b.symbol); to < len(t.moves) && t.moves[to].from != nowhere {
			return false
		}
	}
	return true
}

// start gives the state after the one where the machine begins by a symbol, or 0.
func (t *transitions) start(symbol uint16) uint32 { return uint32(t.moves[symbol].to) }

// next gives the state after another, which has a row, by a symbol, or 0.
func (t *transitions) next(from, row uint32, symbol uint16) uint32 {
	if m := t.moves[row+uint32(symbol)]; uint32(m.from) == from {
		return uint32(m.to)
	}
	return 0
}
