package refusal

import (
	"math/rand/v2"
	"testing"
)

// TestNext adds random moves, and finds them and no others.
func TestTransitions(t *testing.T) {
	const seed, states, most = 1, 400, 60
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	table := newTransitions(most)
	rows, moves := make([]uint32, states), make([]map[uint16]uint32, states)
	for state := range states {
		moves[state] = map[uint16]uint32{}
		var next []branch
		for symbol := uint16(1); symbol <= most; symbol++ {
			if random.IntN(20) == 0 {
				to := uint16(1 + random.IntN(states-1))
				next = append(next, branch{symbol, to})
				moves[state][symbol] = uint32(to)
			}
		}
		rows[state] = table.add(uint32(state), next)
	}
	for state := range states {
		for symbol := uint16(1); symbol <= most; symbol++ {
			got := table.next(uint32(state), rows[state], symbol)
			if state == 0 {
				got = table.start(symbol)
			}
			if want := moves[state][symbol]; got != want {
				t.Errorf("state %d by %d: %d, want %d", state, symbol, got, want)
			}
		}
	}
}
