package transition

import "math"

// A Table has the moves of a machine from state to state by symbols. Each state has
// a row, which overlaps with those of others in one array: the move from a state by a
// symbol stands at row+symbol, if the one there says that it is of that state (row
// displacement; Tarjan and Yao, 1979). States are numbered from 0, where every
// machine begins and to which no move leads. Its row is the first, and overlaps with
// no other. Symbols are 1 or more. The owner of the machine keeps the rows, beside what
// else it has of each state.
type Table struct {
	// Moves are those of all states; in places that are free From is Nowhere.
	Moves []Move
	// Most is the greatest symbol: past the last move there is room for any, so that
	// none is out of bounds.
	Most uint16
	// No place before Free is free. The search for several at once goes on where the
	// last one ended, and leaves the gaps to single ones.
	Free, Several uint32
}

// A Move stands in the row of the state that it leads from.
type Move struct{ From, To uint16 }

// Nowhere is where no move leads from. All states have smaller numbers.
const Nowhere = math.MaxUint16

// A Branch is a move of a state whose row is being added.
type Branch struct{ Symbol, To uint16 }

// New makes a table of symbols up to the greatest.
func New(most uint16) Table {
	t := Table{Most: most, Free: uint32(most) + 1}
	t.grow(int(t.Free))
	return t
}

// Add gives a state its moves, in the order of their symbols, and returns its row, by
// which Next finds them. A state is added once, and is below Nowhere.
func (t *Table) Add(state uint32, next []Branch) (row uint32) {
	if state == 0 || len(next) == 0 {
		for _, b := range next {
			t.Moves[b.Symbol] = Move{0, b.To}
		}
		return 0
	}
	for int(t.Free) < len(t.Moves) && t.Moves[t.Free].From != Nowhere {
		t.Free++
	}
	row = t.Free - uint32(next[0].Symbol)
	if len(next) > 1 {
		for row = max(row, t.Several); !t.fits(row, next); {
			row++
		}
		t.Several = row
	}
	t.grow(int(row) + int(t.Most) + 1)
	for _, b := range next {
		t.Moves[row+uint32(b.Symbol)] = Move{uint16(state), b.To}
	}
	return row
}

// grow makes room for n moves.
func (t *Table) grow(n int) {
	for len(t.Moves) < n {
		t.Moves = append(t.Moves, Move{From: Nowhere})
	}
}

// fits reports whether the places of all branches in a row are free.
func (t *Table) fits(row uint32, next []Branch) bool {
	for _, b := range next {
		if to := int(row) + int(b.Symbol); to < len(t.Moves) && t.Moves[to].From != Nowhere {
			return false
		}
	}
	return true
}

// Start gives the state after the one where the machine begins by a symbol, or 0.
func (t *Table) Start(symbol uint16) uint32 { return uint32(t.Moves[symbol].To) }

// Next gives the state after another, which has a row, by a symbol, or 0.
func (t *Table) Next(from, row uint32, symbol uint16) uint32 {
	if m := t.Moves[row+uint32(symbol)]; uint32(m.From) == from {
		return uint32(m.To)
	}
	return 0
}
