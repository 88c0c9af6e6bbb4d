package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
)

// Drawable lists the answers of the run that a draw may take: of one target, to
// prompts of one label, or of all where either is empty.
func (r *Run) Drawable(ctx context.Context, m store.Reader, target, label string) ([]annotation.Item, error) {
	if target != "" && !slices.Contains(r.Config.TargetNames(), target) {
		return nil, &orbench.InputError{
			Setting: "target", Problem: fmt.Sprintf("the run %s has no target %q", r.Name, target),
			Hint: "it has " + strings.Join(r.Config.TargetNames(), ", "),
		}
	}
	if label != "" && !slices.Contains(orbench.Labels, orbench.Label(label)) {
		return nil, &orbench.InputError{
			Setting: "label", Problem: fmt.Sprintf("%q is no label of prompts", label),
			Hint: "use safe, toxic, controversial or undecided",
		}
	}
	var items []annotation.Item
	err := r.Answers(ctx, m, func(answer Answer) error {
		if (target == "" || answer.Target == target) && (label == "" || string(answer.Label) == label) {
			items = append(items, answer.Item)
		}
		return nil
	})
	return items, err
}

// Drawn lists the drawn answers of the run, each once, and what people say of them.
// A run without any is an *orbench.InputError.
func (r *Run) Drawn(ctx context.Context, m store.Reader) ([]annotation.Entry, annotation.Words, error) {
	all, err := m.Annotations(ctx)
	if err != nil {
		return nil, annotation.Words{}, err
	}
	words := annotation.NewWords(all)
	seen := map[orbench.Subject]bool{}
	var entries []annotation.Entry
	err = r.Answers(ctx, m, func(answer Answer) error {
		if !seen[answer.Subject] && words.Drawn(answer.Cell, answer.Subject) {
			seen[answer.Subject] = true
			entries = append(entries, annotation.Entry{Subject: answer.Subject, Prompt: answer.Prompt.Transcript(), Answer: answer.Text})
		}
		return nil
	})
	if err == nil && len(entries) == 0 {
		err = &orbench.InputError{
			File: r.Name, Problem: "no answer of the run is drawn",
			Hint: "draw some with orbench label draw " + untrusted.Shell(r.Name) + " `size` 100",
		}
	}
	return entries, words, err
}
