package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
)

// opened is a run of the store as pages read it. Its rows and the words of its texts are
// made once, by whoever needs them first.
type opened struct {
	// config is what the store kept of the run when it was opened.
	config []byte
	*run.Run
	rows  task[*index.Study]
	words task[bool]
	sum   task[summed]
	// report is the page of the run as it was shown last, and figures the hash of the
	// figures that it shows. mu guards both.
	mu      sync.Mutex
	report  string
	figures [sha256.Size]byte
}

// open opens a run by its name; the empty name is the newest. A run that was saved anew is
// opened anew.
func (s *Server) open(ctx context.Context, name string) (*opened, error) {
	found, err := run.Find(ctx, s.Store, name)
	if err != nil {
		return nil, fmt.Errorf("%w: the store %w", errNotFound, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.runs[found.Name]; kept != nil && bytes.Equal(kept.config, found.Study.Config) {
		return kept, nil
	}
	r, err := found.Open(ctx, s.Store, s.CacheDir)
	if err != nil {
		return nil, err
	}
	o := &opened{config: found.Study.Config, Run: r}
	s.runs[found.Name] = o
	return o, nil
}

// openRows opens a run by its name, with its rows.
func (s *Server) openRows(ctx context.Context, name string) (l looked, err error) {
	if l.opened, err = s.open(ctx, name); err == nil {
		l.rows, err = s.study(ctx, l.opened)
	}
	return l, err
}

// study gives the rows of a run, and makes them where they are not there or no longer hold.
// A page that need not wait gets a waiting error meanwhile.
func (s *Server) study(ctx context.Context, o *opened) (*index.Study, error) {
	if rows, ok := o.rows.done(); ok && rows != nil {
		holds, err := rows.Holds(ctx, s.Store)
		if err != nil {
			return nil, err
		}
		if !holds {
			o.rows.forget()
			o.words.forget()
		}
	}
	total := o.Prompts() * o.AnswersPerPrompt()
	rows, err := get(ctx, s, &o.rows, "reading the answers of "+o.Name, total, func(ctx context.Context, walked func(int)) (*index.Study, error) {
		return s.Index.Study(ctx, s.Store, o.Run, walked)
	})
	if err == nil && rows == nil {
		return nil, &orbench.InputError{
			Setting: o.Name, Problem: "its answers cannot be listed: too many calls are missing, or the index cannot be written",
			Hint: "ask what is missing, or see what orbench serve printed about the index",
		}
	}
	return rows, err
}

// texts makes the words of a run's texts ready for a search.
func (s *Server) texts(ctx context.Context, o *opened, rows *index.Study) error {
	ready, err := get(ctx, s, &o.words, "listing the words of "+o.Name, rows.Answers(), func(ctx context.Context, walked func(int)) (bool, error) {
		return rows.Texts(ctx, s.Store, walked)
	})
	if err == nil && !ready {
		return &orbench.InputError{Setting: "q", Problem: "the texts cannot be searched, because the index cannot be written", Hint: "see what orbench serve printed about the index"}
	}
	return err
}

// built is a build of the store as pages read it.
type built struct {
	// config is what the store kept of the build when it was opened.
	config []byte
	task[builtRows]
}

// builtRows is a build with its rows, as they were when the store had so much. The rows lack
// single votes and answers, which take most of their memory.
type builtRows struct {
	*construct.Benchmark
	rows []*benchmark.Record
	// Table counts the rows, with what they were dropped by as their status. kinds
	// are the numbers of their kinds.
	facet.Table
	kinds []int
	// voted are the prompts that moderators voted on, without the votes.
	voted []audit.Item
	last  store.Mark
	// said counts the annotations of the store, which the figures follow from too.
	said int
}

// built derives a build with its rows. It does so again if the build lacked replies and any
// arrived since.
func (s *Server) built(ctx context.Context, found *study.Study) (builtRows, error) {
	now, err := s.state(ctx)
	if err != nil {
		return builtRows{}, err
	}
	s.mu.Lock()
	b := s.builds[found.Name]
	if b == nil || !bytes.Equal(b.config, found.Config) {
		b = &built{config: found.Config}
		s.builds[found.Name] = b
	}
	s.mu.Unlock()
	if kept, ok := b.done(); ok && (kept.said != now.said || kept.last != now.last && kept.Funnel.FailedCalls > 0) {
		b.forget()
	}
	return get(ctx, s, &b.task, "going through the build "+found.Name, 0, func(ctx context.Context, _ func(int)) (all builtRows, err error) {
		opened, err := kinds.Open(ctx, s.Store, found, s.CacheDir)
		if err != nil {
			return all, err
		}
		made, err := opened.Build.Made(ctx, s.Store)
		if err != nil {
			return all, err
		}
		all = builtRows{Benchmark: made, Table: facet.Table{Samples: make([]facet.Sample, 1)}, last: now.last, said: now.said}
		all.voted, err = made.Voted()
		for i := range all.voted {
			all.voted[i].Votes = nil
		}
		if err != nil {
			return all, errors.Join(err, made.Close())
		}
		err = made.Lineage(func(r *benchmark.Record) {
			r.Votes, r.Replies, r.Targets = nil, nil, nil
			if r.SecondChance != nil {
				r.SecondChance.Votes = nil
			}
			row := score.AnswerRow{Prompt: orbench.Prompt{Category: r.Category, Label: r.Label}, Status: score.Status(cmp.Or(r.Dropped, "nothing"))}
			all.rows, all.kinds = append(all.rows, r), append(all.kinds, all.Add(0, &row))
		})
		return all, errors.Join(err, made.Close())
	})
}

// task is something that is made once and then kept. The zero value is not begun.
type task[T any] struct {
	mu     sync.Mutex
	begun  chan struct{} // closed when it is done; nil before it begins
	value  T
	err    error
	walked atomic.Int64
}

// done gives the value, and whether it is there.
func (t *task[T]) done() (value T, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun == nil {
		return value, false
	}
	select {
	case <-t.begun:
		return t.value, t.err == nil
	default:
		return value, false
	}
}

// forget has it made anew the next time.
func (t *task[T]) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = nil
}

// impatience is how long a page waits before it says how far something is.
const impatience = 700 * time.Millisecond

// get makes a value in the background, for all who wait for it, and gives it. walked counts
// up to total, 0 where that is not counted. A request that is not patient gets a waiting error after a while.
func get[T any](ctx context.Context, s *Server, t *task[T], what string, total int, build func(ctx context.Context, walked func(int)) (T, error)) (value T, err error) {
	t.mu.Lock()
	if t.begun == nil {
		begun := make(chan struct{})
		t.begun = begun
		t.walked.Store(0)
		s.busy.Go(func() {
			value, err := build(s.ctx, func(n int) { t.walked.Store(int64(n)) })
			t.mu.Lock()
			defer t.mu.Unlock()
			t.value, t.err = value, err
			if err != nil && t.begun == begun {
				t.begun = nil // the next request tries again
			}
			close(begun)
		})
	}
	begun := t.begun
	t.mu.Unlock()
	var late <-chan time.Time
	if ctx.Value(patient{}) == nil {
		late = time.After(impatience)
	}
	select {
	case <-begun:
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.value, t.err
	case <-late:
		w := waiting{what: what}
		if total > 0 {
			w.progress = table.Count(int(t.walked.Load())) + " of " + table.Count(total) + " answers"
		}
		return value, w
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}
