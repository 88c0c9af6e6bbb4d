package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/jsonappend"
)

// Key is the hash by which a store keeps a dataset once.
type Key [sha256.Size]byte

// KeyOf is the key of a dataset: the SHA-256 of what is known about it, which tells
// its prompts from all others; see Dataset.About.
func KeyOf(about []byte) Key { return sha256.Sum256(about) }

// String is the key in hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// MarshalText writes the key as String does.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText wrote. Anything else is an error.
func (k *Key) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(k) {
		return fmt.Errorf("%.80q is no key of a dataset: want %d hex digits", text, 2*len(k))
	}
	copy(k[:], b)
	return nil
}

// Dataset is what a store says of the prompts that runs asked of a dataset.
type Dataset struct {
	// About is JSON that the store does not read. It holds a hash of the prompts, so
	// that other prompts have another key.
	About []byte
	// Prompts is how many there are.
	Prompts int
	// Sum is the Sum of the prompts.
	Sum [sha256.Size]byte
	// Lost is how many of the prompts damage took. They are passed over.
	Lost int
}

// ErrNoDataset means that the store does not hold the dataset.
var ErrNoDataset = errors.New("no such dataset")

// Sum computes the checksum of prompts: the SHA-256 of their JSON, in their order.
type Sum struct{ h hash.Hash }

// NewSum starts a checksum.
func NewSum() Sum { return Sum{sha256.New()} }

// Add adds the next prompt, and appends the JSON of it that was added to a text.
func (s Sum) Add(text []byte, p *orbench.Prompt) []byte {
	at := len(text)
	text = jsonappend.Prompt(text, p, jsonappend.HTML)
	s.h.Write(text[at:])
	return text
}

// Of is the checksum of what was added.
func (s Sum) Of() (sum [sha256.Size]byte) {
	s.h.Sum(sum[:0])
	return sum
}
