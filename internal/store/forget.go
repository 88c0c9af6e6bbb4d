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
	pieces, err := t.piecesWithout(ctx, f.Datasets)
	if err != nil {
		return err
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
				delete(pieces, [sha256.Size]byte(hash))
			}
		}
		var changes []Statement
		for _, r := range f.Runs {
			do, err := saveRun(r)
			if err != nil {
				return err
			}
			changes = append(changes, do)
		}
		remove := func(from string, key [sha256.Size]byte) {
			changes = append(changes, Statement{`DELETE FROM ` + from + ` = $1`, []any{key[:]}})
		}
		for hash := range pieces {
			remove(`pieces WHERE hash`, hash)
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
		for _, do := range changes {
			if err := exec(do.Query, do.Args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// piecesWithout lists the pieces that only datasets to be replaced have.
func (t *Tables) piecesWithout(ctx context.Context, replaced []Replacement) (map[[sha256.Size]byte]bool, error) {
	keys, err := t.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	only, shared := map[[sha256.Size]byte]bool{}, map[[sha256.Size]byte]bool{}
	for _, key := range keys {
		_, chunks, err := t.chunks(ctx, key)
		if err != nil {
			return nil, err
		}
		into := shared
		if slices.ContainsFunc(replaced, func(r Replacement) bool { return r.Old == key }) {
			into = only
		}
		for hash := range chunks.Each() {
			into[[sha256.Size]byte(hash)] = true
		}
	}
	for hash := range shared {
		delete(only, hash)
	}
	return only, nil
}
