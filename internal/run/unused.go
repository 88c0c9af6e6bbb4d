package run

import (
	"context"
	"slices"
	"time"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Unused is what a kept run has of the calls that another would make: servers that run weights
// answered them for the kept run alone.
type Unused struct {
	// Run is the kept run, which has N of the Calls. It is the run itself where that asks again.
	Run      string
	N, Calls int
	// Made is when its answers were made, and Latency how long all of them took.
	Made    price.Span
	Latency time.Duration
}

// Unused finds the kept run that has most of the calls that this one makes and does not count
// there. N is 0 where no run has any. m may be nil.
func (r *Run) Unused(ctx context.Context, m store.Reader) (most Unused, err error) {
	kept, err := undamaged(ctx, m)
	if err != nil {
		return most, err
	}
	// The revisions of each run's answers, by model.
	revisions := make([]map[model.Ref]string, len(kept))
	differ := false
	for n := range kept {
		revisions[n] = map[model.Ref]string{}
		for _, t := range r.Targets {
			if was := answersOf(kept, n, t); was != nil && was.Revision != t.Revision && asksSame(kept[n].Config.Targets, t, was.Revision) {
				revisions[n][t.Ref()], differ = was.Revision, true
			}
		}
	}
	if fixed := r.Job().Fixed; differ && fixed != nil {
		found := make([]Unused, len(kept))
		for piece, err := range job.Pieces(fixed(ctx), chunkSize) {
			if err != nil {
				return most, err
			}
			if err := count(ctx, m, piece, revisions, found); err != nil {
				return most, err
			}
		}
		for n, u := range found {
			if u.N > most.N || u.N == most.N && u.N > 0 && kept[n].Name == r.Name {
				most, most.Run = u, kept[n].Name
			}
		}
	}
	return most, nil
}

// asksSame reports whether one of several targets makes calls of another, had that a revision.
func asksSame(all []evaluate.Target, of evaluate.Target, revision string) bool {
	of.Revision = revision
	return slices.ContainsFunc(all, func(was evaluate.Target) bool {
		always, perhaps := was.SameCalls(of)
		return always || perhaps
	})
}

// chunkSize is how many requests are looked up together.
const chunkSize = 256

// count adds what kept runs, by their revisions, have of requests that are lacking.
func count(ctx context.Context, m store.Reader, piece []model.Request, revisions []map[model.Ref]string, found []Unused) error {
	hashes := table.RowsOf(piece, model.Request.Hash)
	own, err := m.Get(ctx, hashes)
	if err != nil {
		return err
	}
	for n := range found {
		var theirs []model.Hash
		for i, q := range piece {
			if _, there := own[hashes[i]]; there {
				continue
			}
			found[n].Calls++
			if revision, ok := revisions[n][job.RefOf(q)]; ok {
				q.Revision = revision
				theirs = append(theirs, q.Hash())
			}
		}
		if len(theirs) == 0 {
			continue
		}
		replies, err := m.Get(ctx, theirs)
		if err != nil {
			return err
		}
		for _, reply := range replies {
			found[n].N++
			found[n].Made = found[n].Made.And(price.SpanOf(reply.Made))
			found[n].Latency += reply.Latency
		}
	}
	return nil
}
