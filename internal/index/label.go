package index

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
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
			_, err = x.items(ctx, m, r, walked, func(_ int, item annotation.Item, _ *run.Answer) error {
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

// Others counts the answers of a run that another model gave, which nobody labels.
func (x *Index) Others(ctx context.Context, m store.Reader, r *run.Run) (n int, err error) {
	s, err := x.Study(ctx, m, r, nil)
	if err != nil {
		return 0, err
	}
	if s != nil {
		for _, counts := range s.Counts {
			for kind, of := range counts {
				if s.Kinds[kind].Status == score.ServedByOther {
					n += of
				}
			}
		}
		return n, nil
	}
	result, err := r.DeriveTo(ctx, m, evaluate.Sinks{})
	for _, of := range result.Runs {
		n += of.ServedByOther
	}
	return n, err
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
	var drawn []run.Answer
	var positions []int // of those in drawn that are to be read
	rows, err := x.items(ctx, m, r, walked, func(position int, item annotation.Item, answer *run.Answer) error {
		switch {
		case seen[item.Subject] || !words.Drawn(item.Cell, item.Subject):
			return nil
		case answer != nil:
			drawn = append(drawn, *answer)
		default:
			drawn, positions = append(drawn, run.Answer{Item: item}), append(positions, position)
		}
		seen[item.Subject] = true
		return nil
	})
	for at := 0; at < len(positions) && err == nil; at += answersAtOnce {
		var read []score.AnswerRow
		read, err = rows.Read(ctx, m, positions[at:min(at+answersAtOnce, len(positions))])
		for i := range read {
			a := &drawn[at+i]
			a.Prompt, a.Own, a.Text = read[i].Asked(), read[i].Prompt, read[i].Response.Text
		}
	}
	var entries []annotation.Entry
	for _, a := range drawn {
		entry := annotation.Entry{Subject: a.Subject, Prompt: a.Prompt.Transcript(), Answer: a.Text, Chance: words.Chance(a.Cell, a.Subject)}
		if prompts {
			entry = annotation.Entry{Subject: orbench.PromptSubject(a.Own.Messages), Prompt: a.Own.Transcript(), OfPrompt: true}
			if seen[entry.Subject] {
				continue
			}
			seen[entry.Subject] = true
		}
		entries = append(entries, entry)
	}
	if err == nil && len(entries) == 0 {
		err = &orbench.InputError{
			File: r.Name, Problem: "no answer of the run has been drawn",
			Hint: "draw some with orbench label draw " + untrusted.Shell(r.Name) + " `size` 100",
		}
	}
	return entries, words, err
}

// Asked lists what people are asked to label of a run, none if nothing is drawn, and says how
// wide intervals are. walked is as in evaluate.Sinks.
func (x *Index) Asked(ctx context.Context, m store.Reader, r *run.Run, walked func(int)) (entries []annotation.Entry, words annotation.Words, outlook *annotation.Outlook, err error) {
	entries, words, err = x.Drawn(ctx, m, r, false, walked)
	if err == nil || errors.As(err, new(*orbench.InputError)) {
		outlook, err = annotation.NewOutlook(x.Items(ctx, m, r, "", "", walked), words)
	}
	return entries, words, outlook, err
}

// Step draws what labels call for: the second phase of a step, or with a size as many answers
// more. See annotation.DrawStep.
func (x *Index) Step(ctx context.Context, m *store.Store, r *run.Run, size int, walked func(int)) error {
	all, err := m.Annotations(ctx)
	if err != nil {
		return err
	}
	drawn, err := annotation.DrawStep(x.Items(ctx, m, r, "", "", walked), annotation.NewWords(all), size, 1, time.Now().UTC())
	if err != nil {
		return err
	}
	return m.Annotate(ctx, drawn)
}

// relabel counts people's labels of answers anew in the figures of a run that hold but for them,
// by the rows that are kept of it. It reports false where none are.
func (x *Index) relabel(ctx context.Context, m store.Reader, r *run.Run, result *score.Result) (bool, error) {
	all, err := m.Annotations(ctx)
	words := annotation.NewWords(all)
	key, ok := x.keyOf(m, r, "rows")
	if err != nil || !ok {
		return false, err
	}
	result.Unlabel()
	s, err := x.keptStudy(ctx, m, r, key)
	if s == nil || err != nil {
		return false, err
	}
	kinds, err := s.kinds(ctx)
	if err != nil {
		return false, err
	}
	type rate struct {
		*score.RunResult
		*annotation.Tally
	}
	type alike struct {
		rate
		group annotation.Group
		kind  uint32
	}
	drawn, others, rates := map[int]annotation.Item{}, map[alike]int{}, map[annotation.Cell]rate{}
	var wrong error
	err = s.items(ctx, func(position int, item annotation.Item) bool {
		of, ok := rates[item.Cell]
		if !ok {
			kind, sample := &s.Kinds[kinds[position]], &s.Samples[position%len(s.Samples)]
			at := slices.IndexFunc(result.Runs, func(of score.RunResult) bool {
				return of.Target == sample.Target && of.Dataset == kind.Dataset && of.Label == kind.Label
			})
			if at < 0 {
				wrong = errDamaged
				return false
			}
			of = rate{&result.Runs[at], annotation.NewTally(item.Cell, words)}
			rates[item.Cell] = of
		}
		if of.Chance(item.Subject) > 0 {
			drawn[position] = item
		} else if of.Draws() {
			others[alike{of, item.Group, kinds[position]}]++
		}
		return true
	})
	if err = errors.Join(err, wrong); err != nil {
		return false, err
	}
	verdicts := func(kind uint32) (all []orbench.Verdict) {
		for _, v := range s.Kinds[kind].Verdicts {
			all = append(all, orbench.Verdict{Class: v.Class})
		}
		return all
	}
	for _, position := range slices.Sorted(maps.Keys(drawn)) {
		item := drawn[position]
		of := rates[item.Cell]
		of.AddLabels(of.Tally, words, item.Subject, item.Group, verdicts(kinds[position]))
	}
	for of, n := range others {
		of.AddOthers(n, of.group, verdicts(of.kind)...)
	}
	for _, of := range rates {
		if of.Draws() {
			result.Label(of.RunResult, of.Tally)
		}
	}
	return true, nil
}

// answersAtOnce is how many answers are read together.
const answersAtOnce = 256

// items hands each the answers of a run that people may look at, in the order of the walk:
// those of rows with their positions, or where no rows can be kept those of a walk.
func (x *Index) items(ctx context.Context, m store.Reader, r *run.Run, walked func(int), each func(position int, item annotation.Item, answer *run.Answer) error) (*Study, error) {
	s, err := x.Study(ctx, m, r, walked)
	if err != nil {
		return nil, err
	}
	if s != nil {
		// Once answers are handed out, no walk can take their place.
		if err := s.verify(ctx, kindColumn, subjectColumn, promptColumn); err != nil {
			x.fail(ctx, err)
			s = nil
		}
	}
	if s == nil {
		return nil, r.Answers(ctx, m, walked, func(a run.Answer) error { return each(0, a.Item, &a) })
	}
	var wanted error
	err = s.items(ctx, func(position int, item annotation.Item) bool {
		wanted = each(position, item, nil)
		return wanted == nil
	})
	return s, errors.Join(wanted, err)
}
