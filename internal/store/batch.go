package store

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/orbench/orbench/model"
)

// BatchID names a batch.
type BatchID [sha256.Size]byte

// String is the start of the ID in hex digits, enough to tell the batches of a store apart.
func (id BatchID) String() string { return hex.EncodeToString(id[:6]) }

// Batch is calls that are, or are about to be, out with a provider together: paid for,
// perhaps, and not answered yet.
type Batch struct {
	ID BatchID
	// About is JSON that the store does not read: where the calls are out, and how far
	// that is.
	About []byte
	// Open is false once nothing more is to come of it.
	Open bool
}

// BatchCall is a call of a batch.
type BatchCall struct {
	Hash model.Hash
	// Request is the canonical form that Hash was computed from.
	Request []byte
}
