package address_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	if _, err := address.OpenExisting(t.Context(), path); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("no store there: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("looking for a store has made one")
	}
	for _, open := range []func() (*store.Store, error){
		func() (*store.Store, error) { return address.Open(t.Context(), path) },
		func() (*store.Store, error) { return address.OpenExisting(t.Context(), path) },
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
