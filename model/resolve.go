package model

import (
	"context"
	"errors"
)

// Step is work that depends on replies, and asks nobody: a pure function of those
// that look finds. It returns the requests whose replies it lacks, of which it may
// learn only from others' replies, and none when it is done. Whoever gets the
// replies runs it again.
type Step func(look Lookup) (missing []Request)

// Resolve gets a step done at once, by asking m for one missing reply after the
// other. The error is that of m, or says that the step asks twice for the same.
func Resolve(ctx context.Context, m Model, step Step) error {
	known := map[Hash]Response{}
	look := func(r Request) (response Response, ok bool) {
		if len(known) > 0 { // as it is not where a step begins
			response, ok = known[r.Hash()]
		}
		return response, ok
	}
	for {
		missing := step(look)
		if len(missing) == 0 {
			return nil
		}
		before := len(known)
		for _, r := range missing {
			hash := r.Hash()
			if _, ok := known[hash]; ok {
				continue
			}
			response, err := m.Ask(ctx, r)
			if err != nil {
				return err
			}
			known[hash] = response
		}
		if len(known) == before {
			return errors.New("model: a step lacks nothing but replies that it was given")
		}
	}
}
