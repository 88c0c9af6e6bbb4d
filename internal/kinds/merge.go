package kinds

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Conflict is a name by which two stores mean different things.
type Conflict struct {
	// Run is the name of a run with other settings, and Differ says which; both are
	// empty for a call with another answer.
	Run    string   `json:"run,omitempty"`
	Differ []string `json:"differ,omitempty"`
	// Model and Prompt say which call has another answer; Prompt is its last message.
	Model  string `json:"model,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	// Renamed is how the other run is called now, where both were kept.
	Renamed string `json:"renamed,omitempty"`
}

// Merged is what came of a merge.
type Merged struct {
	Counts
	// Conflicts are where the stores disagree: all the runs, and MostShown calls.
	Conflicts []Conflict `json:"conflicts"`
	// Answers counts the calls with another answer.
	Answers int `json:"conflicting_answers"`
	// Judged names the runs whose judges come from both stores.
	Judged []string `json:"judges_from_both"`
	// Lost counts the datasets that were left out because damage took prompts of them.
	Lost int `json:"lost_datasets"`
}

// MostShown is how many calls with conflicting answers are listed.
const MostShown = 5

// Disagree reports whether there is any conflict.
func (m Merged) Disagree() bool { return m.Answers > 0 || len(m.Conflicts) > 0 }

// Plus is the merge together with that of another store.
func (m Merged) Plus(other Merged) Merged {
	m.Counts = Counts{m.Runs + other.Runs, m.Calls + other.Calls, m.Failures + other.Failures, m.Datasets + other.Datasets, m.Annotations + other.Annotations}
	m.Answers += other.Answers
	m.Conflicts = append(m.Conflicts, other.Conflicts...)
	m.Judged = append(m.Judged, other.Judged...)
	m.Lost += other.Lost
	return m
}

// Merge copies all that a store holds into another. A run that both hold is one, with
// the judges of both. Where the stores disagree nothing is written, unless first is set:
// then the answer that is there already stays, and the other run gets another name.
func Merge(ctx context.Context, into store.Backend, from store.Reader, first bool) (Merged, error) {
	done, runs, err := compare(ctx, into, from)
	if err != nil || done.Disagree() && !first {
		return done, err
	}
	before, err := into.Count(ctx)
	if err != nil {
		return done, err
	}
	if err := inPieces(from.AllRecords(ctx), func(records []store.Record) error { return into.Put(ctx, records) }); err != nil {
		return done, err
	}
	after, err := into.Count(ctx)
	if err != nil {
		return done, err
	}
	done.Calls = after - before
	if err := copyRest(ctx, into, from, &done); err != nil {
		return done, err
	}
	if err := copyBatches(ctx, into, from); err != nil {
		return done, err
	}
	done.Runs, err = growth(ctx, into.Runs, func() error {
		for _, r := range runs {
			for _, key := range r.Datasets {
				if _, err := into.Dataset(ctx, key); errors.Is(err, store.ErrNoDataset) {
					r.Datasets = []store.Key{} // its files are read again
				} else if err != nil {
					return err
				}
			}
			if err := into.SaveRun(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

// recordsAtOnce is how many calls are copied in one transaction.
const recordsAtOnce = 1024

// inPieces passes a sequence on in groups of recordsAtOnce. The last group has the rest,
// which may be nothing.
func inPieces[T any](all iter.Seq2[T, error], do func([]T) error) error {
	var piece []T
	for one, err := range all {
		if err != nil {
			return err
		}
		if piece = append(piece, one); len(piece) == recordsAtOnce {
			if err := do(piece); err != nil {
				return err
			}
			piece = piece[:0]
		}
	}
	return do(piece)
}

// growth returns how many entries a list of a store gains.
func growth[T any](ctx context.Context, list func(context.Context) ([]T, error), do func() error) (int, error) {
	before, err := list(ctx)
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := list(ctx)
	return len(after) - len(before), err
}

// copyRest copies failures, datasets and annotations.
func copyRest(ctx context.Context, into store.Backend, from store.Reader, done *Merged) error {
	failures, err := from.AllFailures(ctx)
	if err != nil {
		return err
	}
	if done.Failures, err = growth(ctx, into.AllFailures, func() error { return into.PutFailures(ctx, failures) }); err != nil {
		return err
	}
	keys, err := from.Datasets(ctx)
	if err != nil {
		return err
	}
	if done.Datasets, done.Lost, err = copyDatasets(ctx, from, into, keys); err != nil {
		return err
	}
	annotations, err := from.Annotations(ctx)
	if err != nil {
		return err
	}
	done.Annotations, err = growth(ctx, into.Annotations, func() error { return into.Annotate(ctx, annotations) })
	return err
}

// copyBatches copies what is out with a provider, so that it can be collected into either
// store. A batch that one of them has collected is over: its answers are copied too.
func copyBatches(ctx context.Context, into store.Backend, from store.Reader) error {
	batches, err1 := from.Batches(ctx)
	had, err2 := into.Batches(ctx)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	for _, b := range batches {
		if b.Open && slices.ContainsFunc(had, func(own store.Batch) bool { return own.ID == b.ID }) {
			continue
		}
		put := func(calls []store.BatchCall) error { return into.PutBatch(ctx, b, calls) }
		if err := inPieces(from.AllBatchCalls(ctx, b.ID), put); err != nil {
			return err
		}
	}
	return nil
}

// compare finds where two stores disagree, and which runs the first lacks or has to change
// because of the second.
func compare(ctx context.Context, into, from store.Reader) (found Merged, runs []store.Run, err error) {
	found.Conflicts, found.Judged = []Conflict{}, []string{}
	others, err1 := from.Runs(ctx)
	own, err2 := into.Runs(ctx)
	if err := cmp.Or(err1, err2); err != nil {
		return found, nil, err
	}
	named := map[string]store.Run{}
	for _, r := range own {
		named[r.Name] = r
	}
	// The one saved last comes first; oldest first they keep their order in time.
	slices.Reverse(others)
	for _, other := range others {
		was, ok := named[other.Name]
		if !ok {
			runs = append(runs, other)
			continue
		}
		one, differ, err := Union(was, other)
		switch {
		case err != nil:
			return found, nil, err
		case len(differ) > 0:
			c := Conflict{Run: other.Name, Differ: differ, Renamed: free(other.Name, named, others)}
			found.Conflicts = append(found.Conflicts, c)
			other.Name = c.Renamed
			named[other.Name] = other
			runs = append(runs, other)
		case !reflect.DeepEqual(one, was):
			if !bytes.Equal(one.Config, was.Config) {
				found.Judged = append(found.Judged, one.Name)
			}
			runs = append(runs, one)
		}
	}
	return found, runs, compareAnswers(ctx, into, from, &found)
}

// free is a name for a run that neither store has.
func free(name string, named map[string]store.Run, others []store.Run) string {
	for n := 2; ; n++ {
		other := fmt.Sprintf("%s-%d", name, n)
		_, taken := named[other]
		if !taken && !slices.ContainsFunc(others, func(r store.Run) bool { return r.Name == other }) {
			return other
		}
	}
}

// compareAnswers finds the calls that have another answer in each store.
func compareAnswers(ctx context.Context, into, from store.Reader, found *Merged) error {
	return inPieces(from.AllRecords(ctx), func(records []store.Record) error {
		was, err := into.Get(ctx, table.RowsOf(records, func(r store.Record) model.Hash { return r.Hash }))
		if err != nil {
			return err
		}
		for _, r := range records {
			response, ok := was[r.Hash]
			if !ok || same(response, r.Response) {
				continue
			}
			if found.Answers++; found.Answers <= MostShown {
				found.Conflicts = append(found.Conflicts, callOf(r))
			}
		}
		return nil
	})
}

// same reports whether two responses say the same. How long they took, what they cost
// and what the provider called them may differ.
func same(a, b model.Response) bool {
	said := func(r model.Response) model.Response {
		return model.Response{Text: r.Text, Finish: r.Finish, Block: r.Block}
	}
	return reflect.DeepEqual(said(a), said(b))
}

// callOf names a call.
func callOf(r store.Record) Conflict {
	var request model.Request
	if err := json.Unmarshal(r.Request, &request); err != nil {
		return Conflict{Model: "unreadable", Prompt: r.Hash.String()}
	}
	ref := model.Ref{Provider: request.Provider, Endpoint: request.Endpoint, Model: request.Model}
	c := Conflict{Model: ref.String()}
	if n := len(request.Messages); n > 0 {
		c.Prompt = request.Messages[n-1].Content
	}
	return c
}
