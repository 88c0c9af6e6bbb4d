package study

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
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/store"
)

// Dataset names a dataset and what it held.
type Dataset struct {
	// Ref is a name, or an absolute path.
	Ref string `json:"ref"`
	// Options are those that choose and read the prompts.
	dataset.Options
	// SHA256 is the hash of the prompts, in hex.
	SHA256 string `json:"sha256"`
}

// DatasetOf names a dataset that was opened with some options.
func DatasetOf(ref string, o dataset.Options, set *dataset.Dataset) Dataset {
	d := Dataset{Ref: dataset.Absolute(ref), Options: o, SHA256: set.SHA256}
	d.Cache = ""
	if o.Sample == 0 {
		d.SampleSeed = 0
	}
	return d
}

// Read opens the dataset's file, whatever it holds now. answers is true where its prompts
// may end with an answer.
func (d Dataset) Read(ctx context.Context, cache string, answers bool) (*dataset.Dataset, error) {
	o := d.Options
	// What was asked before labels were looked for is shown as it was.
	o.AssumeSafe = d.SHA256 != ""
	o.Answers, o.Cache = answers, cache
	return dataset.Open(ctx, d.Ref, o)
}

// Open is Read for a file that must not have changed.
func (d Dataset) Open(ctx context.Context, cache string, answers bool) (*dataset.Dataset, error) {
	set, err := d.Read(ctx, cache, answers)
	if err != nil {
		return nil, err
	}
	if d.SHA256 != "" && set.SHA256 != d.SHA256 {
		return nil, &orbench.InputError{
			File:    d.Ref,
			Problem: fmt.Sprintf("the dataset has changed since the run: the hash of its prompts was %.12s and is now %.12s", d.SHA256, set.SHA256),
			Hint:    "restore the old file, or evaluate again with orbench eval",
		}
	}
	return set, nil
}

// keptDataset is what a store keeps of a dataset beside the prompts that a study asks of
// it. Its hashes identify the prompts.
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

// KeepDataset has the store keep the prompts of a dataset, the first limit of them or all for
// 0, and gives its key. m is nil where they are not to be kept.
func KeepDataset(ctx context.Context, m store.Keeper, set *dataset.Dataset, limit int, d Dataset) (store.Key, error) {
	about, asked, err := about(set, limit)
	if err != nil {
		return store.Key{}, err
	}
	if m != nil {
		if err := m.PutDataset(ctx, about, asked); err != nil {
			return store.Key{}, fmt.Errorf("keep the prompts of %s: %w", d.Ref, err)
		}
	}
	return store.KeyOf(about), nil
}

// about returns what a store keeps of a dataset: its JSON, and the prompts that are asked.
func about(set *dataset.Dataset, limit int) (about []byte, asked iter.Seq2[orbench.Prompt, error], err error) {
	k := keptDataset{Dataset: *set, Kept: set.Size(limit)}
	if k.Source != builtIn {
		k.Source = ""
	}
	asked = set.First(limit)
	if set.ClusteredBy != "" || set.PairedBy != "" {
		if k.Groups, err = groupsOf(asked); err != nil {
			return nil, nil, err
		}
	}
	about, err = json.Marshal(k)
	return about, asked, err
}

// Without is what the store says of a dataset, about, after so many of its recorded answers
// were forgotten; left has the prompts that stay. was and now are the hashes of the prompts.
func Without(about []byte, forgotten int, left iter.Seq2[orbench.Prompt, error]) (without []byte, was, now string, err error) {
	var k keptDataset
	if err := json.Unmarshal(about, &k); err != nil {
		return nil, "", "", fmt.Errorf("what the store says of recorded answers is damaged: %w", err)
	}
	was = k.SHA256
	if err := k.Recount(left); err != nil {
		return nil, "", "", err
	}
	k.Kept, k.Forgotten = k.Count, k.Forgotten+forgotten
	without, err = json.Marshal(k)
	return without, was, k.SHA256, err
}

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

// Asked says how a study asks the prompts of a kept dataset.
type Asked struct {
	// Limit bounds them, from the start; 0 takes all.
	Limit int
	// Answers is true where they may end with an answer.
	Answers bool
	// Ordered is true where losing one loses the order of all.
	Ordered bool
}

// Recalled is a dataset that a store keeps.
type Recalled struct {
	Set *dataset.Dataset
	// Lost is how many of the prompts damage took.
	Lost int
	// Changed says how the file is no longer what was asked, nil where it is or is gone:
	// the store may have been given to somebody who never had it.
	Changed []string
}

// Recall gives a dataset of the study that the store keeps, the one at a place. The store
// must stay open. Pulled datasets are found in the folder cache.
func (s *Study) Recall(ctx context.Context, m store.Reader, at int, d Dataset, asked Asked, cache string) (r Recalled, err error) {
	noun := s.Kind.Noun()
	kept, err := m.Dataset(ctx, s.Keys[at])
	if err != nil {
		return r, fmt.Errorf("the prompts that %s %s asked of %s: %w", noun, s.Name, d.Ref, err)
	}
	var k keptDataset
	if err := json.Unmarshal(kept.About, &k); err != nil {
		return r, fmt.Errorf("what the store says of %s is damaged: %w", d.Ref, err)
	}
	k.Source = cmp.Or(k.Source, d.Ref)
	if kept.Lost > 0 {
		// The file has them all, as long as it is what was asked.
		set, err := d.Read(ctx, cache, asked.Answers)
		if err == nil {
			var now []byte
			now, _, err = about(set, asked.Limit)
			if err == nil && store.KeyOf(now) == s.Keys[at] {
				return Recalled{Set: set}, nil
			}
		}
		if asked.Ordered {
			return r, &orbench.InputError{
				File: d.Ref, Problem: fmt.Sprintf("damage to the store lost prompts of %s %s, and with them their order", noun, s.Name),
				Hint: "restore the file", Err: err,
			}
		}
		if kept.Lost == kept.Prompts {
			return r, &orbench.InputError{
				File: d.Ref, Problem: fmt.Sprintf("damage to the store lost all prompts that %s %s asked, and the file has other prompts", noun, s.Name),
				Hint: "restore the file", Err: err,
			}
		}
	}
	k.Count -= kept.Lost
	// What was paid for is shown after an interrupt too.
	r = Recalled{Set: dataset.Kept(k.Dataset, m.Prompts(context.WithoutCancel(ctx), s.Keys[at])), Lost: kept.Lost}
	if dataset.IsName(d.Ref) {
		return r, nil
	}
	now, err := d.Read(ctx, cache, asked.Answers)
	switch {
	case ctx.Err() != nil:
		return r, context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		r.Changed = append(r.Changed, fmt.Sprintf("%v; %s %s is shown with the prompts that it asked", err, noun, s.Name))
	case now.SHA256 != d.SHA256:
		r.Changed = append(r.Changed, fmt.Sprintf("%s has changed since %s %s, which is shown with the prompts that it asked: their hash is %.12s, and that of the file is now %.12s",
			d.Ref, noun, s.Name, d.SHA256, now.SHA256))
	}
	return r, nil
}
