package index

import (
	"context"
	"errors"
	"iter"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
)

// Items lists the answers of a run that people may look at, in the order of the walk: of one
// target, to prompts of one label, or of all where either is empty. They come from the rows,
// or from a walk where no rows can be kept. walked is as in evaluate.Sinks.
func (x *Index) Items(ctx context.Context, m store.Reader, r *run.Run, target, label string, walked func(int)) iter.Seq2[annotation.Item, error] {
	return func(yield func(annotation.Item, error) bool) {
		err := r.CheckAnswers(target, label)
		if err == nil {
			err = x.answers(ctx, m, r, walked, func(item annotation.Item, _ func() (run.Answer, error)) error {
				if (target == "" || item.Target == target) && (label == "" || string(item.Label) == label) && !yield(item, nil) {
					return errStop
				}
				return nil
			})
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(annotation.Item{}, err)
		}
	}
}

// Drawn lists the drawn answers of a run, each once, and what people say of them; with
// prompts, the prompts of these answers instead. A run without any is an
// *orbench.InputError. walked is as in evaluate.Sinks.
func (x *Index) Drawn(ctx context.Context, m store.Reader, r *run.Run, prompts bool, walked func(int)) ([]annotation.Entry, annotation.Words, error) {
	all, err := m.Annotations(ctx)
	if err != nil {
		return nil, annotation.Words{}, err
	}
	words := annotation.NewWords(all)
	seen := map[orbench.Subject]bool{}
	var entries []annotation.Entry
	err = x.answers(ctx, m, r, walked, func(item annotation.Item, read func() (run.Answer, error)) error {
		if seen[item.Subject] || !words.Drawn(item.Cell, item.Subject) {
			return nil
		}
		seen[item.Subject] = true
		answer, err := read()
		entry := annotation.Entry{Subject: item.Subject, Prompt: answer.Prompt.Transcript(), Answer: answer.Text, Chance: words.Chance(item.Cell, item.Subject)}
		if prompts {
			entry = annotation.Entry{Subject: orbench.PromptSubject(answer.Own.Messages), Prompt: answer.Own.Transcript(), OfPrompt: true}
			if seen[entry.Subject] {
				return err
			}
			seen[entry.Subject] = true
		}
		entries = append(entries, entry)
		return err
	})
	if err == nil && len(entries) == 0 {
		err = &orbench.InputError{
			File: r.Name, Problem: "no answer of the run has been drawn",
			Hint: "draw some with orbench label draw " + untrusted.Shell(r.Name) + " `size` 100",
		}
	}
	return entries, words, err
}

// answers hands each the answers of a run that people may look at, in the order of the walk,
// and a way to read them.
func (x *Index) answers(ctx context.Context, m store.Reader, r *run.Run, walked func(int), each func(item annotation.Item, read func() (run.Answer, error)) error) error {
	s, err := x.Study(ctx, m, r, walked)
	if err != nil {
		return err
	}
	if s != nil {
		// Once answers are handed out, no walk can take their place.
		if err := s.verify(ctx, kindColumn, subjectColumn, promptColumn); err != nil {
			x.fail(ctx, err)
			s = nil
		}
	}
	if s == nil {
		return r.Answers(ctx, m, walked, func(a run.Answer) error {
			return each(a.Item, func() (run.Answer, error) { return a, nil })
		})
	}
	var wanted error
	err = s.items(ctx, func(position int, item annotation.Item) bool {
		wanted = each(item, func() (run.Answer, error) {
			rows, err := s.Read(ctx, m, []int{position})
			if err != nil {
				return run.Answer{}, err
			}
			return run.Answer{Item: item, Prompt: rows[0].Asked(), Own: rows[0].Prompt, Text: rows[0].Response.Text}, nil
		})
		return wanted == nil
	})
	return errors.Join(wanted, err)
}
