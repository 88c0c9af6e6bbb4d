package store

import (
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/orbench/orbench/model"
)

// filtered is a Reader that looks up only what its store seems to have.
type filtered struct {
	Reader
	// prefixes are those of all records, in ascending order; see Reader.Prefixes. Those that begin
	// with the bits of n are from starts[n] on.
	prefixes []uint64
	starts   []uint32
	// asked is set once the store was asked.
	asked *atomic.Bool
}

const (
	// leastFiltered is how many lookups are worth a filter: fewer take no time.
	leastFiltered = 10_000
	// startBits is by how many bits prefixes are found: of millions, a few have the same.
	startBits = 20
)

// Filtered gives a Reader for somebody who looks up so many hashes that the store may not have.
// Not finding one takes eight times as long as reading the hash of a record, so all hashes are
// read first, unless the store has far more records. m may be nil.
func Filtered(ctx context.Context, m Reader, lookups int) (Reader, error) {
	if m == nil || lookups < leastFiltered {
		return m, nil
	}
	n, err := m.Count(ctx)
	if err != nil || n > 4*lookups {
		return m, err
	}
	f := filtered{Reader: m, starts: make([]uint32, 1<<startBits+1), asked: new(atomic.Bool)}
	if f.prefixes, err = m.Prefixes(ctx); err != nil {
		return nil, err
	}
	slices.Sort(f.prefixes)
	for _, prefix := range f.prefixes {
		f.starts[startOf(prefix)+1]++
	}
	for i := range f.starts[1:] {
		f.starts[i+1] += f.starts[i]
	}
	return f, nil
}

// Get implements Reader. The first hash of all is looked up anyway, so that a damaged store is
// found.
func (f filtered) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	var likely []model.Hash
	for _, h := range hashes {
		prefix := prefixOf(h[:])
		at := startOf(prefix)
		if slices.Contains(f.prefixes[f.starts[at]:f.starts[at+1]], prefix) || !f.asked.Load() {
			f.asked.Store(true)
			likely = append(likely, h)
		}
	}
	if len(likely) == 0 {
		return nil, nil
	}
	return f.Reader.Get(ctx, likely)
}

// prefixOf is the first 64 bits of a hash, and startOf its place among the starts.
func prefixOf(hash []byte) uint64 { return binary.BigEndian.Uint64(hash) }

func startOf(prefix uint64) int { return int(prefix >> (64 - startBits)) }
