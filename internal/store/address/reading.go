package address

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/model"
)

// OpenReading is OpenExisting for a command that shows what is there. Where the store is
// damaged, all that is good of it is read, from a copy that is deleted in the end, and
// tell is told of the rest, as LeftOut is from then on. Of a database nothing is left out:
// what is damaged is store.ErrDamaged.
func OpenReading(ctx context.Context, address string, tell func(store.Health)) (store.ReadCloser, error) {
	if !IsFile(address) {
		return OpenExisting(ctx, address)
	}
	if _, err := os.Stat(address); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", address, store.ErrNoStore)
	}
	r := &reading{address: address, tell: tell}
	s, err := sqlite.OpenExisting(ctx, address)
	if err == nil {
		r.all, r.last = []*sqlite.Store{s}, s
		// A row that its table has no longer cannot be missed by who lists them.
		err = s.Verify(ctx, "runs", "datasets", "annotations", "failures")
	}
	if err != nil {
		_, err = r.heal(ctx, s, err)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.Tables = r.last.Tables
	r.Query = r.query
	return r, nil
}

var (
	_ store.Reader = (*reading)(nil)
	_ store.Keeper = (*reading)(nil)
)

// reading is a store that goes on with a repaired copy where it is found to be damaged.
type reading struct {
	store.Tables
	address string
	tell    func(store.Health)

	mu sync.Mutex
	// last is the store that is read now, and all has every one that was.
	last *sqlite.Store
	all  []*sqlite.Store
	// verified is true once the index of calls was compared with them.
	verified bool
	// dir is the folder of the repaired copy, and found what it lacks.
	dir   string
	found store.Health
}

// heal gives the repaired copy, where an error of reading a store tells of damage.
func (r *reading) heal(ctx context.Context, from *sqlite.Store, failed error) (*sqlite.Store, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !errors.Is(failed, store.ErrDamaged):
		return nil, failed
	case r.last != from:
		return r.last, nil // another has done so
	case r.dir != "":
		return nil, failed
	}
	dir, err := os.MkdirTemp("", "orbench-repaired-")
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	r.dir = dir
	copied := filepath.Join(dir, "store.db")
	if r.found, err = sqlite.Check(context.WithoutCancel(ctx), r.address, copied); err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, copied)
	if err != nil {
		return nil, err
	}
	r.all, r.last = append(r.all, s), s
	r.tell(r.found)
	return s, nil
}

// verify compares the index of calls with them, once: where a call is not found, it may
// be the index that is damaged.
func (r *reading) verify(ctx context.Context, s *sqlite.Store) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verified || r.dir != "" {
		return nil
	}
	r.verified = true
	return s.Verify(ctx, "calls")
}

// read reads from the store, and again from the repaired copy where it is damaged.
func read[T any](ctx context.Context, r *reading, do func(*sqlite.Store) (T, error)) (T, error) {
	r.mu.Lock()
	s := r.last
	r.mu.Unlock()
	found, err := do(s)
	if err == nil {
		return found, nil
	}
	if s, err = r.heal(ctx, s, err); err != nil {
		return found, err
	}
	return do(s)
}

// query is that of the store, and again that of the repaired copy.
func (r *reading) query(ctx context.Context, begin func(), row func(store.Scan) error, query string, args ...any) error {
	_, err := read(ctx, r, func(s *sqlite.Store) (struct{}, error) { return struct{}{}, s.Query(ctx, begin, row, query, args...) })
	return err
}

// Get finds the responses of those hashes that are present.
func (r *reading) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	return read(ctx, r, func(s *sqlite.Store) (map[model.Hash]model.Response, error) {
		found, err := s.Get(ctx, hashes)
		if err == nil && len(found) < len(hashes) {
			err = r.verify(ctx, s)
		}
		return found, err
	})
}

// Has finds which hashes are present.
func (r *reading) Has(ctx context.Context, hashes []model.Hash) (map[model.Hash]bool, error) {
	return read(ctx, r, func(s *sqlite.Store) (map[model.Hash]bool, error) { return s.Has(ctx, hashes) })
}

// Dataset reads all prompts too: how many there are must be known before the first.
func (r *reading) Dataset(ctx context.Context, key store.Key) (store.Dataset, error) {
	return read(ctx, r, func(s *sqlite.Store) (store.Dataset, error) {
		d, err := s.Dataset(ctx, key)
		if err == nil {
			err = s.VerifyPrompts(ctx, key)
		}
		return d, err
	})
}

// PromptsAt reads some prompts of a dataset.
func (r *reading) PromptsAt(ctx context.Context, key store.Key, at []int) ([]orbench.Prompt, error) {
	return read(ctx, r, func(s *sqlite.Store) ([]orbench.Prompt, error) { return s.PromptsAt(ctx, key, at) })
}

// LeftOut tells what a repaired copy lacks.
func (r *reading) LeftOut() store.Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.found
}

// Notes are those of the store that was opened first.
func (r *reading) Notes() []string {
	if len(r.all) == 0 {
		return nil
	}
	return r.all[0].Notes()
}

// What is derived of an older store, it keeps: a reading is a store.Keeper. Else nothing is
// written.

func (r *reading) PutDataset(ctx context.Context, about []byte, prompts iter.Seq2[orbench.Prompt, error]) error {
	_, err := read(ctx, r, func(s *sqlite.Store) (struct{}, error) { return struct{}{}, s.PutDataset(ctx, about, prompts) })
	return err
}

func (r *reading) SaveRun(ctx context.Context, run store.Run) error {
	_, err := read(ctx, r, func(s *sqlite.Store) (struct{}, error) { return struct{}{}, s.SaveRun(ctx, run) })
	return err
}

// Close closes all stores that were read, and deletes the copy.
func (r *reading) Close() error {
	var err error
	for _, s := range r.all {
		err = errors.Join(err, s.Close())
	}
	if r.dir != "" {
		err = errors.Join(err, os.RemoveAll(r.dir))
	}
	return err
}
