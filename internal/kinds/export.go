package kinds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Counts are what a copy added to a store.
type Counts struct {
	Runs        int `json:"runs"`
	Calls       int `json:"calls"`
	Failures    int `json:"failures"`
	Datasets    int `json:"datasets"`
	Annotations int `json:"annotations"`
}

// Export copies studies of a store to another, which holds none of their names: every call
// that their figures rest on, of targets, defenses and judges, the prompts, the
// failures, and what people say of their prompts and answers. The studies must have been
// opened from the store.
func Export(ctx context.Context, from store.Reader, studies []*Opened, to store.Backend) (done Counts, err error) {
	before, err1 := to.Count(ctx)
	annotations, err2 := from.Annotations(ctx)
	if err := cmp.Or(err1, err2); err != nil {
		return done, err
	}
	through := &tap{Reader: from, to: to}
	about := seen{}
	for _, a := range annotations {
		about[a.Subject] = false
	}
	for _, s := range studies {
		if err := walk(ctx, s, through, about); err != nil {
			return done, err
		}
		saved, err := from.Run(ctx, s.Name)
		if err != nil {
			return done, err
		}
		n, lost, err := copyDatasets(ctx, from, to, saved.Datasets)
		if err != nil {
			return done, err
		}
		if lost > 0 {
			return done, &orbench.InputError{
				Problem: "damage to the store lost prompts of run " + saved.Name,
				Hint:    "run the same orbench eval with the file",
			}
		}
		done.Datasets += n
		if err := to.SaveRun(ctx, saved); err != nil {
			return done, err
		}
		done.Runs++
	}
	// A plan goes where answers of a drawing go that it is for.
	drawn := map[string]bool{}
	for _, a := range annotations {
		drawn[a.Design] = drawn[a.Design] || a.Design != "" && about[a.Subject]
	}
	kept := func(name string) bool {
		return slices.ContainsFunc(studies, func(s *Opened) bool { return s.Name == name })
	}
	annotations = slices.DeleteFunc(annotations, func(a orbench.Annotation) bool {
		if a.Plan != nil {
			return !slices.ContainsFunc(a.Plan.Designs, func(design string) bool { return drawn[design] })
		}
		if a.Kin != nil {
			return !kept(a.Kin.Sides[0].Run) || !kept(a.Kin.Sides[1].Run)
		}
		return !about[a.Subject]
	})
	if err := to.Annotate(ctx, annotations); err != nil {
		return done, err
	}
	after, err := to.Count(ctx)
	if err != nil {
		return done, err
	}
	failures, err := to.AllFailures(ctx)
	done.Calls, done.Failures, done.Annotations = after-before, len(failures), len(annotations)
	return done, err
}

// walk looks up all that a study rests on, and notes what annotations are about.
func walk(ctx context.Context, s *Opened, through *tap, about seen) error {
	if s.Run != nil {
		_, err := s.Run.Derive(ctx, through, func(row score.AnswerRow) error {
			about.see(orbench.PromptSubject(row.Prompt.Messages))
			about.see(orbench.PromptSubject(row.Asked().Messages))
			about.see(row.Subject())
			return nil
		})
		return err
	}
	for _, key := range s.Keys {
		for p, err := range through.Prompts(ctx, key) {
			if err != nil {
				return err
			}
			about.see(orbench.PromptSubject(p.Messages))
		}
	}
	lacking := func(yield func(model.Hash, error) bool) {
		for call, err := range s.Job.All(ctx, through) {
			if (err != nil || !call.Remembered) && !yield(call.Hash, err) {
				return
			}
		}
	}
	return inPieces(lacking, func(hashes []model.Hash) error {
		_, err := through.Failures(ctx, hashes)
		return err
	})
}

// seen records which subjects of annotations were met.
type seen map[orbench.Subject]bool

func (s seen) see(subject orbench.Subject) {
	if _, ok := s[subject]; ok {
		s[subject] = true
	}
}

// tap is a store that copies everything that is looked up in it.
type tap struct {
	store.Reader
	to store.Backend
}

// Get copies the records that it finds.
func (t *tap) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	found, err := t.Reader.Get(ctx, hashes)
	if err != nil || len(found) == 0 {
		return found, err
	}
	records, err := t.Reader.Records(ctx, slices.Collect(maps.Keys(found)))
	if err != nil {
		return nil, err
	}
	return found, t.to.Put(ctx, records)
}

// Failures copies the failures that it finds.
func (t *tap) Failures(ctx context.Context, hashes []model.Hash) (map[model.Hash]store.Failure, error) {
	found, err := t.Reader.Failures(ctx, hashes)
	if err != nil || len(found) == 0 {
		return found, err
	}
	return found, t.to.PutFailures(ctx, slices.Collect(maps.Values(found)))
}

// copyDatasets copies datasets that the other store does not have, or has lost prompts of,
// and counts them. Those of which damage took prompts are left out.
func copyDatasets(ctx context.Context, from store.Reader, to store.Backend, keys []store.Key) (n, lost int, err error) {
	for _, key := range keys {
		has, err := to.Dataset(ctx, key)
		there := err == nil
		if err != nil && !errors.Is(err, store.ErrNoDataset) {
			return n, lost, err
		}
		if there && has.Lost == 0 {
			continue
		}
		d, err := from.Dataset(ctx, key)
		switch {
		case errors.Is(err, store.ErrDamaged) || d.Lost > 0:
			if !there {
				lost++
			}
			continue
		case err != nil:
			return n, lost, fmt.Errorf("the prompts of a run: %w", err)
		}
		if err := to.PutDataset(ctx, d.About, whole(d, from.Prompts(ctx, key))); err != nil {
			return n, lost, err
		}
		n++
	}
	return n, lost, nil
}

// whole yields the prompts of a dataset, and an error at the end if they are not what was
// kept.
func whole(d store.Dataset, prompts iter.Seq2[orbench.Prompt, error]) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		sum, text := store.NewSum(), []byte(nil)
		for p, err := range prompts {
			if err == nil {
				text = sum.Add(text[:0], &p)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
		if sum.Of() != d.Sum {
			yield(orbench.Prompt{}, &orbench.InputError{
				Problem: "the prompts of a dataset are not those that were kept", Hint: "count what is lost with orbench store check",
			})
		}
	}
}
