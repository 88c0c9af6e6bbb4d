package store

import (
	"context"
	"crypto/sha256"

	"github.com/orbench/orbench/model"
)

// unusedPieces deletes the pieces that no dataset has. A dataset has the hashes of its pieces
// one after the other, each of 32 bytes.
const unusedPieces = `DELETE FROM pieces WHERE hash NOT IN (
	WITH RECURSIVE used(hash, others) AS (
		SELECT substr(pieces, 1, 32), substr(pieces, 33) FROM datasets WHERE length(pieces) > 0
		UNION ALL SELECT substr(others, 1, 32), substr(others, 33) FROM used WHERE length(others) > 0
	) SELECT hash FROM used)`

// Forget implements Backend. The bytes may stay in the files until they are packed; see Vacuum
// of the backends.
func (t *Tables) Forget(ctx context.Context, datasets []Key, calls []model.Hash, annotations [][sha256.Size]byte) error {
	var all []Statement
	remove := func(query string, hash []byte) { all = append(all, Statement{query, []any{hash}}) }
	for _, key := range datasets {
		remove(`DELETE FROM datasets WHERE key = $1`, key[:])
	}
	for _, hash := range calls {
		remove(`DELETE FROM calls WHERE hash = $1`, hash[:])
		remove(`DELETE FROM failures WHERE hash = $1`, hash[:])
	}
	for _, id := range annotations {
		remove(`DELETE FROM annotations WHERE id = $1`, id[:])
	}
	return t.Write(ctx, append(all, Statement{Query: unusedPieces}))
}
