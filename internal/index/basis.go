package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// maxMissing is how many calls a run may lack for its rows to be kept. Looking up more
// takes longer than deriving the rows again.
const maxMissing = 200_000

// basis is the part of what derived rows depend on that can change: the calls that they
// lack, and which of these have failed. Stored answers do not change.
type basis struct {
	// lacking are the hashes of the missing calls, in order, each once.
	lacking []byte
	// failed is the digest of the failures of these calls; see failedOf.
	failed []byte
}

// collector finds the basis of the rows of a walk.
type collector struct {
	hashes []model.Hash
	many   bool
	// failures are those from before the walk: one that came during it changes the digest.
	failures []store.Failure
}

// newCollector begins before a walk, and takes what its rows lack.
func newCollector(ctx context.Context, m store.Reader, sinks *evaluate.Sinks) (*collector, error) {
	failures, err := m.AllFailures(ctx)
	c := &collector{failures: failures}
	sinks.Missing = func(hashes []model.Hash) {
		if c.many = c.many || len(c.hashes)+len(hashes) > maxMissing; !c.many {
			c.hashes = append(c.hashes, hashes...)
		}
	}
	return c, err
}

// basis is that of the rows; ok is false where they lack too much to be kept.
func (c *collector) basis() (b basis, ok bool) {
	slices.SortFunc(c.hashes, func(a, b model.Hash) int { return bytes.Compare(a[:], b[:]) })
	c.hashes = slices.Compact(c.hashes)
	for i := range c.hashes {
		b.lacking = append(b.lacking, c.hashes[i][:]...)
	}
	b.failed = failedOf(c.hashes, c.failures)
	return b, !c.many
}

// failedOf is the digest of the failures that belong to the given calls.
func failedOf(calls []model.Hash, failures []store.Failure) []byte {
	of := make(map[model.Hash]*store.Failure, len(failures))
	for i := range failures {
		of[failures[i].Hash] = &failures[i]
	}
	h := sha256.New()
	for i := range calls {
		if f := of[calls[i]]; f != nil {
			sum := digest(f.Hash, f.Kind, f.Message)
			h.Write(sum[:])
		}
	}
	return h.Sum(nil)
}

// holds reports whether nothing has changed since: no missing call has been answered, has
// failed, or has failed in another way.
func (b basis) holds(ctx context.Context, m store.Reader) (bool, error) {
	if len(b.lacking) == 0 {
		return true, nil
	}
	var calls []model.Hash
	for hash := range slices.Chunk(b.lacking, len(model.Hash{})) {
		calls = append(calls, model.Hash(hash))
	}
	failures, err := m.AllFailures(ctx)
	if err != nil || !bytes.Equal(b.failed, failedOf(calls, failures)) {
		return false, err
	}
	for some := range slices.Chunk(calls, 4096) {
		found, err := m.Has(ctx, some)
		if err != nil || len(found) > 0 {
			return false, err
		}
	}
	return true, nil
}
