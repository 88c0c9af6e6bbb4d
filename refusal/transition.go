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

// start gives the state after the one where the machine begins by a symbol, or 0.
func (t *transitions) start(symbol uint16) uint32 { return uint32(t.moves[symbol].to) }

// next gives the state after another, which has a row, by a symbol, or 0.
func (t *transitions) next(from, row uint32, symbol uint16) uint32 {
	if m := t.moves[row+uint32(symbol)]; uint32(m.from) == from {
		return uint32(m.to)
	}
	return 0
}
