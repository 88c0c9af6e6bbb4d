package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"iter"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Forgetting is what is taken out of a store in one transaction.
type Forgetting struct {
	// Datasets come in place of those that lose prompts, whose keys they have here.
	Datasets map[Key]Replacement
	// Runs come in place of those of their names. Their Saved is set.
	Runs []Run
	// Calls are removed with what failed of them.
	Calls []model.Hash
	// Annotations are the IDs of those to be removed.
	Annotations [][sha256.Size]byte
}

// Replacement is a dataset with fewer prompts. Its fields are as in PutDataset.
type Replacement struct {
	About   []byte
	Prompts iter.Seq2[orbench.Prompt, error]
}

// Forget takes something out of the store, all or nothing. Its bytes may stay in the files
// until they are packed; see Vacuum of the backends.
func (t *Tables) Forget(ctx context.Context, f Forgetting) error {
	keys, err := t.Datasets(ctx)
	if err != nil {
		return err
	}
	// stays has the pieces of all datasets, false for those that only replaced ones have.
	stays := map[[sha256.Size]byte]bool{}
	for _, key := range keys {
		_, chunks, err := t.chunks(ctx, key)
		if err != nil {
			return err
		}
		_, replaced := f.Datasets[key]
		for hash := range chunks.Each() {
			stays[[sha256.Size]byte(hash)] = stays[[sha256.Size]byte(hash)] || !replaced
		}
	}
	return t.Transact(ctx, func(exec func(string, ...any) error) (failed error) {
		do := func(query string, args ...any) {
			if failed == nil {
				failed = exec(query, args...)
			}
		}
		for old, d := range f.Datasets {
			do(`DELETE FROM datasets WHERE key = $1`, old[:])
			cut, err := insertDataset(exec, d.About, d.Prompts)
			failed = cmp.Or(failed, err)
			for hash := range cut.Each() {
				stays[[sha256.Size]byte(hash)] = true
			}
		}
		for _, r := range f.Runs {
			saved, err := saveRun(r)
			failed = cmp.Or(failed, err)
			do(saved.Query, saved.Args...)
		}
		for hash, stay := range stays {
			if !stay {
				do(`DELETE FROM pieces WHERE hash = $1`, hash[:])
			}
		}
		for _, hash := range f.Calls {
			do(`DELETE FROM calls WHERE hash = $1`, hash[:])
			do(`DELETE FROM failures WHERE hash = $1`, hash[:])
		}
		for _, id := range f.Annotations {
			do(`DELETE FROM annotations WHERE id = $1`, id[:])
		}
		return failed
	})
}
