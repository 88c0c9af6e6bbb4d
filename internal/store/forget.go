package store

import (
	"context"
	"crypto/sha256"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Forgetting is what is taken out of a store in one transaction.
type Forgetting struct {
	// Datasets come in place of those that lose prompts.
	Datasets []Replacement
	// Runs come in place of those of their names. Their Saved is set.
	Runs []Run
	// Calls are removed with what failed of them, Failures alone.
	Calls, Failures []model.Hash
	// Annotations are the IDs of those to be removed.
	Annotations [][sha256.Size]byte
}

// Replacement is a dataset with fewer prompts.
type Replacement struct {
	// Old is the key of the dataset that it replaces. About and Prompts are as in PutDataset.
	Old     Key
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
		replaced := slices.ContainsFunc(f.Datasets, func(r Replacement) bool { return r.Old == key })
		for hash := range chunks.Each() {
			stays[[sha256.Size]byte(hash)] = stays[[sha256.Size]byte(hash)] || !replaced
		}
	}
	return t.Transact(ctx, func(exec func(string, ...any) error) error {
		for _, d := range f.Datasets {
			if err := exec(`DELETE FROM datasets WHERE key = $1`, d.Old[:]); err != nil {
				return err
			}
			cut, err := insertDataset(exec, d.About, d.Prompts)
			if err != nil {
				return err
			}
			for hash := range cut.Each() {
				stays[[sha256.Size]byte(hash)] = true
			}
		}
		for _, r := range f.Runs {
			do, err := saveRun(r)
			if err == nil {
				err = exec(do.Query, do.Args...)
			}
			if err != nil {
				return err
			}
		}
		var failed error
		remove := func(from string, key [sha256.Size]byte) {
			if failed == nil {
				failed = exec(`DELETE FROM `+from+` = $1`, key[:])
			}
		}
		for hash, stay := range stays {
			if !stay {
				remove(`pieces WHERE hash`, hash)
			}
		}
		for _, hash := range f.Calls {
			remove(`calls WHERE hash`, hash)
		}
		for _, hash := range slices.Concat(f.Calls, f.Failures) {
			remove(`failures WHERE hash`, hash)
		}
		for _, id := range f.Annotations {
			remove(`annotations WHERE id`, id)
		}
		return failed
	})
}
