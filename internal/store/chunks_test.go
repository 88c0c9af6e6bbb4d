package store_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
)

// prompts streams so many, and then an error if there is one.
func prompts(n int, err error) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		for i := range n {
			if !yield(orbench.Prompt{ID: orbench.PromptID(fmt.Sprint(i))}, nil) {
				return
			}
		}
		if err != nil {
			yield(orbench.Prompt{}, err)
		}
	}
}

// texts are the texts of chunks by their hash.
type texts map[string][]byte

func (s texts) put(hash, text []byte) error {
	s[string(hash)] = slices.Clone(text)
	return nil
}

func (s texts) get(hash []byte) ([]byte, error) {
	if text, ok := s[string(hash)]; ok {
		return text, nil
	}
	return nil, errors.New("no such piece")
}

// read reads all prompts of chunks, as "FROM-TO" for each run of consecutive ones.
func read(p store.Chunks, s texts) (string, error) {
	var runs []string
	from, next := 0, 0
	end := func() {
		if next > from {
			runs = append(runs, fmt.Sprintf("%d-%d", from, next-1))
		}
	}
	for prompt, err := range p.Read(s.get) {
		if err != nil {
			return strings.Join(runs, " "), err
		}
		n := 0
		fmt.Sscan(string(prompt.ID), &n)
		if n != next {
			end()
			from = n
		}
		next = n + 1
	}
	end()
	return strings.Join(runs, " "), nil
}

func TestPieces(t *testing.T) {
	t.Parallel()
	s := texts{}
	cut := map[int]store.Chunks{}
	for n, want := range map[int]struct {
		chunks int
		read   string
	}{0: {0, ""}, 1: {1, "0-0"}, 512: {1, "0-511"}, 513: {2, "0-512"}, 1100: {3, "0-1099"}} {
		p, err := store.CutChunks(prompts(n, nil), s.put)
		if err != nil || p.Prompts != n || len(p.Hashes) != want.chunks*sha256.Size || len(slices.Collect(p.Each())) != want.chunks || p.Lost() != 0 {
			t.Errorf("%d prompts are cut into %+v, %v", n, p, err)
		}
		if got, err := read(p, s); got != want.read || err != nil {
			t.Errorf("of %d prompts %q are read, %v; want %q", n, got, err, want.read)
		}
		cut[n] = p
	}
	// The last chunks of four, and the first two of 1,100.
	if len(s) != 5 {
		t.Errorf("there are %d pieces, want 5", len(s))
	}
	for _, at := range [][]int{{}, {0}, {511, 512}, {0, 1, 513, 1099}} {
		some, err := cut[1100].At(at, s.get)
		var got []int
		for _, p := range some {
			n := -1
			fmt.Sscan(string(p.ID), &n)
			got = append(got, n)
		}
		if err != nil || !slices.Equal(got, at) {
			t.Errorf("at %v are %v, %v", at, got, err)
		}
	}
	for range cut[513].Each() {
		break
	}
	for range cut[513].Read(s.get) {
		break
	}
	for i, want := range []struct {
		lost int
		read string
	}{{512, "512-1099"}, {512, "0-511 1024-1099"}, {76, "0-1023"}} {
		p := cut[1100]
		p.Hashes = slices.Clone(p.Hashes)
		clear(p.Hashes[i*sha256.Size:][:sha256.Size])
		if got, err := read(p, s); p.Lost() != want.lost || got != want.read || err != nil {
			t.Errorf("without piece %d %d are lost and %q are read, %v; want %d and %q", i, p.Lost(), got, err, want.lost, want.read)
		}
	}
}

func TestPieceFaults(t *testing.T) {
	t.Parallel()
	broken := errors.New("line 7 is broken")
	for _, n := range []int{0, 512, 513} {
		if _, err := store.CutChunks(prompts(n, broken), texts{}.put); !errors.Is(err, broken) {
			t.Errorf("after %d prompts: %v", n, err)
		}
	}
	for _, n := range []int{1, 512} {
		if _, err := store.CutChunks(prompts(n, nil), func(_, _ []byte) error { return broken }); !errors.Is(err, broken) {
			t.Errorf("%d prompts that are not kept: %v", n, err)
		}
	}
	s := texts{}
	whole, err := store.CutChunks(prompts(3, nil), s.put)
	if err != nil {
		t.Fatal(err)
	}
	no := []byte(`{"id":`)
	hash := sha256.Sum256(no)
	s[string(hash[:])] = no
	for want, p := range map[string]store.Chunks{
		"the list of the pieces of a dataset is cut": {Prompts: 513, Hashes: whole.Hashes},
		"1 prompts of a dataset are missing":         {Prompts: 4, Hashes: whole.Hashes},
		"-1 prompts of a dataset are missing":        {Prompts: 2, Hashes: whole.Hashes},
		"the prompts of a dataset: ":                 {Prompts: 1, Hashes: hash[:]},
	} {
		if _, err := read(p, s); !errors.Is(err, store.ErrDamaged) || !strings.HasPrefix(err.Error(), want) || errors.Is(err, store.ErrNoRun) {
			t.Errorf("got %v, want damage: %s", err, want)
		}
	}
	if _, err := read(store.Chunks{Prompts: 1, Hashes: make([]byte, sha256.Size-1)}, s); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("half a hash: %v", err)
	}
	if _, err := read(whole, texts{}); err == nil || err.Error() != "no such piece" {
		t.Errorf("without its piece: %v", err)
	}
	if _, err := read(whole, texts{string(whole.Hashes): no}); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "does not match its hash") {
		t.Errorf("with another piece: %v", err)
	}
}

// The sum tells apart what the same bytes in other columns would not.
func TestChecksum(t *testing.T) {
	t.Parallel()
	// The CRC-32C of the empty text is 0, and that of the length 0 in eight bytes 0x8c28b28a.
	if empty, one := store.Checksum(), store.Checksum(nil); empty != 0 || one != 0x8c28b28a {
		t.Errorf("%x, %x", empty, one)
	}
	if store.Checksum([]byte("ab"), []byte("c")) == store.Checksum([]byte("a"), []byte("bc")) {
		t.Error("a column's end moves unnoticed")
	}
}
