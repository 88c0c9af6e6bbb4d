package measurement

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// labelDrawShared draws the same prompts for several runs.
func (a app) labelDrawShared(ctx context.Context, at string, names []string, f labelDrawFlags) (err error) {
	if f.size <= 0 {
		return command.InputError("--size", "the number of answers to draw is missing", "give a number, for all runs together")
	}
	memory, err := a.OpenExisting(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	runs, err := a.OpenRuns(ctx, memory, at, names)
	if err != nil {
		return err
	}
	prompts, most, err := a.promptsOf(ctx, memory, runs, f)
	if err != nil {
		return err
	}
	earlier, err := memory.Annotations(ctx)
	if err != nil {
		return err
	}
	drawn, strata, err := annotation.DrawShared(prompts, annotation.NewWords(earlier), max(1, f.size/most), f.seed, time.Now().UTC())
	if err != nil {
		return err
	}
	if err := memory.Annotate(ctx, drawn); err != nil {
		return err
	}
	if err := annotation.PrintStrata(a.Stdout, "prompts drawn", strata); err != nil {
		return err
	}
	if n := annotation.MissingLabels(strata); n > 0 {
		a.Infof("with so few labels for each rate, intervals can be too narrow; --size %d is enough", n*most)
	}
	kept := a.OpenIndex(ctx, at, memory)
	defer kept.Close()
	result, err := run.Derive(ctx, memory, runs, evaluate.Sinks{}, kept.Figures)
	if err != nil {
		return err
	}
	if note := report.NotApart(result); note != "" {
		a.Infof("%s", untrusted.Terminal(note))
	}
	var label []string
	for _, r := range runs {
		label = append(label, "orbench label "+untrusted.Shell(r.Name))
	}
	a.Infof("up to %s; label them with: %s", table.Labels(len(drawn)), strings.Join(label, "; "))
	return nil
}

// promptsOf returns the answers of runs, prompt by prompt, and the most that one
// prompt has. It returns an error if no prompt has answers of two runs.
func (a app) promptsOf(ctx context.Context, memory store.Reader, runs []*run.Run, f labelDrawFlags) (prompts [][]annotation.Item, most int, err error) {
	type key struct {
		id    orbench.PromptID
		label orbench.Label
	}
	index := map[key]int{}
	shared := false
	walked, end := a.Walking(runs...)
	defer end()
	for _, r := range runs {
		if err := r.CheckAnswers(f.target, f.label); err != nil {
			return nil, 0, err
		}
		before := len(prompts)
		err := r.Answers(ctx, memory, walked, func(answer run.Answer) error {
			if f.target != "" && answer.Target != f.target || f.label != "" && string(answer.Label) != f.label {
				return nil
			}
			k := key{answer.Own.ID, answer.Label}
			i, ok := index[k]
			if !ok {
				i = len(prompts)
				index[k], prompts = i, append(prompts, nil)
			}
			shared = shared || i < before
			for _, it := range prompts[i] {
				if it.Cell == answer.Cell && it.Subject == answer.Subject {
					return nil
				}
			}
			prompts[i] = append(prompts[i], answer.Item)
			most = max(most, len(prompts[i]))
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	if !shared {
		return nil, 0, command.InputError("label draw", "the runs have no answers to the same prompts", "draw from each by itself")
	}
	return prompts, most, nil
}
