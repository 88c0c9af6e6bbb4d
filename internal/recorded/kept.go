package recorded

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/judge"
)

// Open opens a file of recorded answers for judges; see dataset.OpenRecording.
// goldRefusal lists the values of the gold column that mean a refusal; nil if
// columns names no gold column. A value that no row has is an
// *orbench.InputError.
func Open(ctx context.Context, path string, columns dataset.RecordingOptions, goldRefusal []string, judges []judge.Judge) (*Judged, error) {
	recording, err := dataset.OpenRecording(ctx, path, columns)
	if err != nil {
		return nil, err
	}
	if err := checkGold(recording, columns.Gold, goldRefusal); err != nil {
		return nil, err
	}
	return &Judged{Recording: recording, Judges: judges, GoldRefusal: goldRefusal}, nil
}

// config is the judging of a file of recorded answers as the store keeps it. It
// is enough to derive the figures again.
type config struct {
	Kind study.Kind `json:"kind"`
	// Responses is the file as it was named. Its answers are identified by
	// their hash.
	Responses string `json:"responses"`
	dataset.Recorded
	// GoldRefusal is nil if there is no gold column.
	GoldRefusal []string `json:"gold_refusal"`
	// Reading is the date of the reading of its answers; empty for the first.
	Reading string `json:"reading,omitempty"`
	// Blocks is as in reply.Reading.
	Blocks []string   `json:"blocks,omitempty"`
	Judges []run.Spec `json:"judges"`
}

// Study returns the judging of the file as a store keeps it. If name is empty,
// the name is made from the file. Its judges were made by clients with
// maxTokens; for anew see run.Revise.
func (r *Judged) Study(name string, maxTokens int, clients *client.Set, anew string) (*study.Study, error) {
	f, answers := r.Recording, r.Recording.Recorded
	var err error
	if answers.Kept, err = sumOf(f.ToKeep()); err != nil {
		return nil, err
	}
	c := config{Kind: study.Judge, Responses: f.Path, Recorded: answers, GoldRefusal: r.GoldRefusal, Judges: run.SpecsOf(r.Judges, maxTokens, clients), Reading: cmp.Or(r.Reading.Date, reply.Present), Blocks: r.Reading.Blocks}
	if err := run.Revise(r.Judges, c.Judges, nil, anew); err != nil {
		return nil, err
	}
	s, err := study.New(study.Judge, name, c, []any{answers, c.GoldRefusal})
	if err != nil {
		return nil, err
	}
	s.Adopt = func(kept *study.Study) error {
		var was config
		err := kept.Settings(&was)
		if err == nil {
			err = run.Revise(r.Judges, c.Judges, was.Judges, anew)
		}
		if err != nil {
			return err
		}
		if !r.Anew {
			c.Reading, r.Reading.Date = was.Reading, cmp.Or(was.Reading, reply.First)
		}
		s.Config, err = json.Marshal(c)
		return err
	}
	s.Keep = func(ctx context.Context, m store.Keeper) ([]store.Key, error) {
		about, err := json.Marshal(answers)
		if err != nil {
			return nil, err
		}
		if err := m.PutDataset(ctx, about, f.ToKeep()); err != nil {
			return nil, fmt.Errorf("keep the answers of %s: %w", f.Path, err)
		}
		return []store.Key{store.KeyOf(about)}, nil
	}
	s.Redefines = func(_ context.Context, kept *study.Study) []string { return c.redefines(kept) }
	return s, nil
}

// Reread has a kept judging read by the present reading.
func (r *Judged) Reread(s *study.Study) error {
	var c config
	if err := json.Unmarshal(s.Config, &c); err != nil {
		return err
	}
	c.Reading, r.Reading.Date = reply.Present, reply.Present
	var err error
	s.Config, err = json.Marshal(c)
	return err
}

// Without is what a store says of judged answers, about, after some of these were forgotten.
// left has the others, in the form in which they are kept.
func Without(about []byte, left iter.Seq2[orbench.Prompt, error]) ([]byte, error) {
	var answers dataset.Recorded
	if err := json.Unmarshal(about, &answers); err != nil {
		return nil, fmt.Errorf("what the store says of judged answers is damaged: %w", err)
	}
	answers, err := answers.Without(left)
	if err != nil {
		return nil, err
	}
	if answers.Kept, err = sumOf(left); err != nil {
		return nil, err
	}
	return json.Marshal(answers)
}

// Judging is the configuration of a study of the kind judge, for the answers of which the
// store says about.
func Judging(settings, about []byte) ([]byte, error) {
	var c config
	err := json.Unmarshal(settings, &c)
	c.Recorded = dataset.Recorded{}
	if err := errors.Join(err, json.Unmarshal(about, &c.Recorded)); err != nil {
		return nil, fmt.Errorf("the configuration of a judged file is damaged: %w", err)
	}
	return json.Marshal(c)
}

// sumOf is the hash of everything that a store keeps of answers.
func sumOf(kept iter.Seq2[orbench.Prompt, error]) (string, error) {
	sum := store.NewSum()
	var text []byte
	for p, err := range kept {
		if err != nil {
			return "", err
		}
		text = sum.Add(text[:0], &p)
	}
	of := sum.Of()
	return hex.EncodeToString(of[:]), nil
}

// redefines lists the settings of the kept judging of a file that would change.
// Judging the file again does not make it another study.
func (c config) redefines(kept *study.Study) []string {
	var was config
	if err := json.Unmarshal(kept.Config, &was); err != nil {
		return []string{err.Error()}
	}
	var changes []string
	if was.Kept != c.Kept {
		changes = append(changes, fmt.Sprintf("it judges %s of %.8s, now %s of %.8s", was.Responses, was.Kept, c.Responses, c.Kept))
	}
	if !slices.Equal(was.GoldRefusal, c.GoldRefusal) {
		changes = append(changes, fmt.Sprintf("refusals were labeled %q, now %q", was.GoldRefusal, c.GoldRefusal))
	}
	return changes
}

// OpenKept opens the judging of a file that a store keeps. The store must stay
// open.
func OpenKept(ctx context.Context, m store.Reader, s *study.Study) (*Judged, error) {
	var c config
	if err := json.Unmarshal(s.Config, &c); err != nil {
		return nil, fmt.Errorf("the configuration of study %s is damaged: %w", s.Name, err)
	}
	if len(s.Keys) != 1 {
		return nil, fmt.Errorf("the store does not say which answers study %s judges", s.Name)
	}
	kept, err := m.Dataset(ctx, s.Keys[0])
	if err != nil {
		return nil, fmt.Errorf("the answers that study %s judges: %w", s.Name, err)
	}
	if kept.Lost > 0 {
		return nil, &orbench.InputError{
			File: c.Responses, Problem: fmt.Sprintf("damage to the store lost %d of the %d answers that study %s judges", kept.Lost, kept.Prompts, s.Name),
			Hint: "name the file with `responses` and judge it again",
		}
	}
	// What was paid for is shown even after an interrupt.
	r := &Judged{Recording: dataset.KeptRecording(c.Responses, c.Recorded, m.Prompts(context.WithoutCancel(ctx), s.Keys[0])), GoldRefusal: c.GoldRefusal, Reading: reply.Reading{Date: cmp.Or(c.Reading, reply.First), Blocks: c.Blocks}}
	for _, spec := range c.Judges {
		j, err := spec.Judge()
		if err != nil {
			return nil, err
		}
		r.Judges = append(r.Judges, j)
	}
	return r, nil
}

// checkGold checks that the gold values that mean a refusal occur in the file.
func checkGold(r *dataset.Recording, column string, refusal []string) error {
	switch {
	case column == "" && refusal == nil:
		return nil
	case column == "":
		return &orbench.InputError{Setting: "gold-refusal", Problem: "no gold column is named", Hint: "name it with `gold-column`"}
	case refusal == nil:
		return &orbench.InputError{
			Setting: "gold-column", Problem: "no value is named as a refusal",
			Hint: "list them with `gold-refusal`; the column holds " + valuesOf(r.GoldValues),
		}
	}
	for _, v := range annotation.Strangers(refusal, r.GoldValues) {
		return &orbench.InputError{
			Setting: "gold-refusal", Problem: "no row has the gold value " + v,
			Hint: "the column holds " + valuesOf(r.GoldValues) + "; where none of them means a refusal, give an empty list",
		}
	}
	return nil
}

// valuesOf lists the values of a column with their counts, in their order.
func valuesOf(counts map[string]int) string {
	const most = 12
	var parts []string
	for i, v := range slices.Sorted(maps.Keys(counts)) {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(counts)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%.40q (%d)", v, counts[v]))
	}
	return strings.Join(parts, ", ")
}
