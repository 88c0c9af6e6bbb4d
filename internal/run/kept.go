package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/store"
)

// keptDataset is what a store keeps of a dataset beside the prompts that a run asks of
// it. Its hashes tell the prompts from any others.
type keptDataset struct {
	// Dataset is as it was opened, without the path of its file.
	dataset.Dataset
	// Kept is how many of the prompts are kept, from the first.
	Kept int `json:"kept"`
	// Groups is the hash of the clusters and pairs, in hex; see groupsOf. SHA256 does
	// not cover them.
	Groups string `json:"groups_sha256,omitempty"`
}

// builtIn is the Source of datasets that are part of the program.
const builtIn = "built in"

// keep has the store keep what the run asks of a dataset, and gives its key.
func (r *Run) keep(ctx context.Context, m store.Keeper, set *dataset.Dataset, d Dataset) (store.Key, error) {
	about, asked, err := r.about(set)
	if err != nil {
		return store.Key{}, err
	}
	if err := m.PutDataset(ctx, about, asked); err != nil {
		return store.Key{}, fmt.Errorf("keep the prompts of %s: %w", d.Ref, err)
	}
	return store.KeyOf(about), nil
}

// about is what a store keeps of a dataset: JSON of it, and the prompts that the run asks.
func (r *Run) about(set *dataset.Dataset) (about []byte, asked iter.Seq2[orbench.Prompt, error], err error) {
	k := keptDataset{Dataset: *set, Kept: set.Size(r.Limit)}
	if k.Source != builtIn {
		k.Source = ""
	}
	asked = func(yield func(orbench.Prompt, error) bool) {
		for piece, err := range set.Pieces(r.Limit, keptAtOnce) {
			if err != nil {
				yield(orbench.Prompt{}, err)
				return
			}
			for _, p := range piece {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
	if set.ClusteredBy != "" || set.PairedBy != "" {
		if k.Groups, err = groupsOf(asked); err != nil {
			return nil, nil, err
		}
	}
	about, err = json.Marshal(k)
	return about, asked, err
}

// keptAtOnce is how many prompts are handed to the store together.
const keptAtOnce = 256

// groupsOf hashes the clusters and pairs of prompts.
func groupsOf(prompts iter.Seq2[orbench.Prompt, error]) (string, error) {
	h := sha256.New()
	for p, err := range prompts {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %q\n", p.Cluster, p.Pair)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// recall gives a run the datasets that the store keeps of it, and notes which of their
// files have changed. Files that are gone do not matter: the store may have been given
// to somebody who never had them.
func (s Stored) recall(ctx context.Context, m store.Reader, r *Run, cache string) error {
	for i, d := range s.Config.Datasets {
		kept, err := m.Dataset(ctx, s.datasets[i])
		if err != nil {
			return fmt.Errorf("the prompts that run %s asked of %s: %w", s.Name, d.Ref, err)
		}
		var k keptDataset
		if err := json.Unmarshal(kept.About, &k); err != nil {
			return fmt.Errorf("what the store says of %s is damaged: %w", d.Ref, err)
		}
		k.Source = cmp.Or(k.Source, d.Ref)
		if kept.Lost > 0 {
			// The file has them all, as long as it is what was asked.
			set, err := d.read(ctx, cache, r.Targets)
			if err == nil {
				var about []byte
				about, _, err = r.about(set)
				if err == nil && store.KeyOf(about) == s.datasets[i] {
					r.Datasets, r.lost = append(r.Datasets, set), append(r.lost, 0)
					continue
				}
			}
			if s.Config.Ends() {
				return &orbench.InputError{
					File: d.Ref, Problem: fmt.Sprintf("the store lost prompts of run %s to damage, and with them the order in which it asked", s.Name),
					Hint: "put the file back as it was", Err: err,
				}
			}
			if kept.Lost == kept.Prompts {
				return &orbench.InputError{
					File: d.Ref, Problem: fmt.Sprintf("the store lost all prompts that run %s asked of it to damage, and the file is not what was asked", s.Name),
					Hint: "put the file back as it was", Err: err,
				}
			}
		}
		k.Count -= kept.Lost
		r.lost = append(r.lost, kept.Lost)
		// What was paid for is shown after an interrupt too.
		prompts := m.Prompts(context.WithoutCancel(ctx), s.datasets[i])
		r.Datasets = append(r.Datasets, dataset.Kept(k.Dataset, prompts))
		if dataset.IsName(d.Ref) {
			continue
		}
		now, err := d.read(ctx, cache, r.Targets)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			r.Changed = append(r.Changed, fmt.Sprintf("%v; run %s is shown with the prompts that it asked", err, s.Name))
		case now.SHA256 != d.SHA256:
			r.Changed = append(r.Changed, fmt.Sprintf("%s has changed since run %s, which is shown with the prompts that it asked: their hash is %.12s, and that of the file is now %.12s",
				d.Ref, s.Name, d.SHA256, now.SHA256))
		}
	}
	return nil
}
