package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/store"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	if _, err := store.OpenExisting(t.Context(), path); !errors.Is(err, memo.ErrNoStore) {
		t.Errorf("no store there: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("looking for a store has made one")
	}
	for _, open := range []func() (*memo.Memo, error){
		func() (*memo.Memo, error) { return store.Open(t.Context(), path) },
		func() (*memo.Memo, error) { return store.OpenExisting(t.Context(), path) },
	} {
		m, err := open()
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
