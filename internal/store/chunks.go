package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/jsonappend"
)

// piecePrompts is how many prompts are kept and read together: a row for each of them
// would cost as much as the row of its answer.
const piecePrompts = 512

// Chunks are the prompts of a dataset as stores keep them: cut into chunks, each named by
// the SHA-256 of its text. Datasets that begin alike share chunks.
type Chunks struct {
	// Prompts is how many prompts there are, and Sum their Sum.
	Prompts int
	Sum     [sha256.Size]byte
	// Hashes are those of the chunks, one after another. One of zeros is a chunk that
	// damage took.
	Hashes []byte
}

// CutChunks cuts prompts into chunks and hands each to put. An error of the prompts, or of
// put, ends it.
func CutChunks(prompts iter.Seq2[orbench.Prompt, error], put func(hash, text []byte) error) (p Chunks, err error) {
	sum, hashes, text := NewSum(), []byte{}, []byte(nil)
	end := func() error {
		hash := sha256.Sum256(text)
		err := put(hash[:], text)
		hashes, text = append(hashes, hash[:]...), text[:0]
		return err
	}
	for prompt, err := range prompts {
		if err != nil {
			return p, err
		}
		text = sum.Add(text, &prompt)
		if p.Prompts++; p.Prompts%piecePrompts == 0 {
			if err := end(); err != nil {
				return p, err
			}
		}
	}
	if len(text) > 0 {
		if err := end(); err != nil {
			return p, err
		}
	}
	p.Sum, p.Hashes = sum.Of(), hashes
	return p, nil
}

// Each lists the hashes of the chunks that are not lost.
func (p Chunks) Each() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for hashes := p.Hashes; len(hashes) >= sha256.Size; hashes = hashes[sha256.Size:] {
			if hash := hashes[:sha256.Size]; !lostChunk(hash) && !yield(hash) {
				return
			}
		}
	}
}

// Lost is how many of the prompts are in chunks that are lost.
func (p Chunks) Lost() (n int) {
	for i := range len(p.Hashes) / sha256.Size {
		if lostChunk(p.Hashes[i*sha256.Size:][:sha256.Size]) {
			n += min(piecePrompts, p.Prompts-i*piecePrompts)
		}
	}
	return n
}

// Checksum is that of the row of a dataset.
func (p Chunks) Checksum(key, about []byte) int64 {
	return Checksum(key, about, strconv.AppendInt(nil, int64(p.Prompts), 10), p.Sum[:], p.Hashes)
}

// intact gives the text of a chunk, which must be what was cut.
func intact(hash []byte, text func(hash []byte) ([]byte, error)) ([]byte, error) {
	chunk, err := text(hash)
	if err == nil && sha256.Sum256(chunk) != [sha256.Size]byte(hash) {
		err = Damage("a part of a dataset's prompts does not match its hash")
	}
	return chunk, err
}

// lostChunk reports whether a hash in a list stands for a chunk that is lost.
func lostChunk(hash []byte) bool { return [sha256.Size]byte(hash) == [sha256.Size]byte{} }

// Read streams the prompts of the chunks that are not lost, in their order. text finds
// that of a chunk by its hash. What is not what was cut is ErrDamaged.
func (p Chunks) Read(text func(hash []byte) ([]byte, error)) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		fail := func(err error) { yield(orbench.Prompt{}, err) }
		if len(p.Hashes) != (p.Prompts+piecePrompts-1)/piecePrompts*sha256.Size {
			fail(Damage("the list of the pieces of a dataset is cut"))
			return
		}
		left := p.Prompts - p.Lost()
		for hash := range p.Each() {
			chunk, err := intact(hash, text)
			if err != nil {
				fail(err)
				return
			}
			for d := jsontext.NewDecoder(bytes.NewBuffer(chunk), jsontext.AllowInvalidUTF8(true)); d.PeekKind() != 0; left-- {
				var prompt orbench.Prompt
				if err := json.UnmarshalDecode(d, &prompt); err != nil {
					fail(Damage("the prompts of a dataset: " + err.Error()))
					return
				}
				if !yield(prompt, nil) {
					return
				}
			}
		}
		if left != 0 {
			fail(Damage(fmt.Sprintf("%d prompts of a dataset are missing", left)))
		}
	}
}

// At reads the prompts that have some places, each before the next. text is as in Read.
func (p Chunks) At(at []int, text func(hash []byte) ([]byte, error)) ([]orbench.Prompt, error) {
	found := make([]orbench.Prompt, 0, len(at))
	for len(at) > 0 {
		n := at[0] / piecePrompts
		if at[0] < 0 || at[0] >= p.Prompts || len(p.Hashes) < (n+1)*sha256.Size || lostChunk(p.Hashes[n*sha256.Size:][:sha256.Size]) {
			return nil, Damage(fmt.Sprintf("prompt %d of a dataset is missing", at[0]))
		}
		hash := p.Hashes[n*sha256.Size:][:sha256.Size]
		chunk, err := intact(hash, text)
		if err != nil {
			return nil, err
		}
		d := jsontext.NewDecoder(bytes.NewBuffer(chunk), jsontext.AllowInvalidUTF8(true))
		for i := n * piecePrompts; len(at) > 0 && at[0] < (n+1)*piecePrompts; i++ {
			if i < at[0] {
				err = d.SkipValue()
			} else {
				var prompt orbench.Prompt
				err = json.UnmarshalDecode(d, &prompt)
				found, at = append(found, prompt), at[1:]
			}
			if err != nil {
				return nil, Damage("the prompts of a dataset: " + err.Error())
			}
		}
	}
	return found, nil
}

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
