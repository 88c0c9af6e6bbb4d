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
	// prefixes are those of all records, by their first 16 bits; see Reader.Prefixes.
	prefixes *[1 << 16][]uint64
	// asked is set once the store was asked.
	asked *atomic.Bool
}

// leastFiltered is how many lookups are worth a filter: fewer take no time.
const leastFiltered = 10_000

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
	all, err := m.Prefixes(ctx)
	if err != nil {
		return nil, err
	}
	f := filtered{m, new([1 << 16][]uint64), new(atomic.Bool)}
	for _, prefix := range all {
		f.prefixes[prefix>>48] = append(f.prefixes[prefix>>48], prefix)
	}
	return f, nil
}

// Get implements Reader. The first hash of all is looked up anyway, so that a damaged store is
// found.
func (f filtered) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	var likely []model.Hash
	for _, h := range hashes {
		if prefix := prefixOf(h[:]); slices.Contains(f.prefixes[prefix>>48], prefix) || !f.asked.Swap(true) {
			likely = append(likely, h)
		}
	}
	if len(likely) == 0 {
		return nil, nil
	}
	return f.Reader.Get(ctx, likely)
}

// prefixOf is the first 64 bits of a hash.
func prefixOf(hash []byte) uint64 { return binary.BigEndian.Uint64(hash) }
