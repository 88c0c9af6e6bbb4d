package audit

import (
	"context"
	"os"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// The sets of prompts of a built benchmark that a sample can be drawn from.
const (
	// Voted is every rewrite that moderators voted on.
	Voted = "voted"
	// Full is what passed as safe.
	Full = "full"
)

// Population returns the prompts to draw from. If source is the folder of a
// built benchmark, from chooses the set; empty means Voted. Otherwise source is
// a dataset, by name or as a file, which is read with the options. All of its
// prompts are returned; from does not apply.
func Population(ctx context.Context, source, from string, options dataset.Options) ([]Item, error) {
	var items []Item
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		build, err := OpenBuild(source)
		if err != nil {
			return nil, err
		}
		for _, it := range build.Items {
			if from != Full && it.Rewrite || from == Full && it.Full {
				items = append(items, it)
			}
		}
		return items, nil
	}
	if from != "" {
		return nil, &orbench.InputError{Setting: "from", Problem: "a file has one set of prompts", Hint: "leave it out"}
	}
	set, err := dataset.Open(ctx, source, options)
	if err != nil {
		return nil, err
	}
	for p, err := range set.Prompts() {
		if err != nil {
			return nil, err
		}
		items = append(items, Item{ID: p.ID, Prompt: p.Transcript(), Category: p.Category})
	}
	return items, nil
}
