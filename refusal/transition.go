package refusal

// transitions are the moves of a machine from state to state by symbols, in one array
// that is small and quick to look up. Each state has a row, and rows overlap in the
// array. The move from a state by a symbol is at row+symbol, if the entry there names
// that state (row displacement; Tarjan and Yao, 1979). States are numbered from 0. Every
// machine begins in state 0, and no move leads to it. Its row is the first and overlaps
// with no other. Symbols are 1 or more. The owner of the machine keeps the rows, together
// with its other data for each state.
type transitions struct {
	// moves are the moves of all states. In free places from is math.MaxUint16: all states have
	// smaller numbers.
	moves []move
	// most is the highest symbol. After the last move there is room for any symbol, so
	// that none is out of bounds.
	most uint16
	// No place before free is free. The search for several places at once continues where
	// the last one ended, and leaves the gaps to single ones.
	free, several uint32
}

// A move is in the row of the state that it starts from.
type move struct{ from, to uint16 }

// start gives the state that a symbol leads to from the state where the machine begins,
// or 0.
func (t *transitions) start(symbol uint16) uint32 { return uint32(t.moves[symbol].to) }

// next gives the state that a symbol leads to from another state with the given row, or
// 0.
func (t *transitions) next(from, row uint32, symbol uint16) uint32 {
	if m := t.moves[row+uint32(symbol)]; uint32(m.from) == from {
		return uint32(m.to)
	}
	return 0
}
