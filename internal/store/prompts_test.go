package store_test

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
)

func TestKey(t *testing.T) {
	t.Parallel()
	key := store.KeyOf([]byte("about"))
	text, err := key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	var read store.Key
	if err := read.UnmarshalText(text); err != nil || read != key {
		t.Errorf("%s is read as %s, %v", text, read, err)
	}
	for _, wrong := range []string{"", "ab", string(text) + "ab", strings.Repeat("x", 64)} {
		if err := read.UnmarshalText([]byte(wrong)); err == nil || !strings.HasSuffix(err.Error(), "is no key of a dataset: want 64 hex digits") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	sum := store.NewSum()
	var all bytes.Buffer
	for _, id := range []orbench.PromptID{"a", "b"} {
		written := sum.Add(nil, &orbench.Prompt{ID: id})
		if !bytes.Contains(written, []byte(id)) {
			t.Errorf("the prompt %s is added as %s", id, written)
		}
		all.Write(written)
	}
	if sum.Of() != sha256.Sum256(all.Bytes()) {
		t.Error("the sum is not that of what was added")
	}
}
