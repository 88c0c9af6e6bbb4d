package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
)

// rowsShown is how many rows of a build are on a page.
const rowsShown = 50

// built is a build of the store as pages read it.
type built struct {
	// config is what the store kept of the build when it was opened.
	config []byte
	task[builtRows]
}

// builtRows is a build with its rows, as they were when the store had so much.
type builtRows struct {
	*construct.Benchmark
	rows []builtRow
	// voted are the prompts that moderators voted on, without the votes.
	voted []audit.Item
	last  store.Mark
	// said counts the annotations of the store, which the figures follow from too.
	said int
}

// builtRow is a row of the lineage without single votes and answers, which take most of its
// memory.
type builtRow struct{ *benchmark.Record }

// Status is why the row was dropped, or the label of a row that was kept.
func (r builtRow) Status() string { return cmp.Or(string(r.Dropped), string(r.Label)) }

// Folded reports whether the page hides the text until it is opened.
func (r builtRow) Folded() bool { return r.Label != orbench.Safe }

// Like is the row that a duplicate is like; empty for any other row.
func (r builtRow) Like() orbench.PromptID {
	if r.Cluster == r.ID && r.Dropped != benchmark.Duplicate {
		return ""
	}
	return r.Cluster
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
		all = builtRows{Benchmark: made, last: now.last, said: now.said}
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
			all.rows = append(all.rows, builtRow{r})
		})
		return all, errors.Join(err, made.Close())
	})
}

// votedQueue is the queue of a person over the drawn prompts of a build.
func (s *Server) votedQueue(ctx context.Context, a asked, found *study.Study) (*queue, error) {
	if a.filtered() || a.queue == sentQueue {
		return nil, &orbench.InputError{Setting: "queue", Problem: "of a build the drawn prompts are labeled, or those on which people differ", Hint: "leave out queue, or use disputes"}
	}
	b, err := s.built(ctx, found)
	if err != nil {
		return nil, err
	}
	said, err := s.Store.Annotations(ctx)
	if err != nil {
		return nil, err
	}
	words := annotation.NewWords(said)
	q := &queue{asked: a, study: found.Name, ofPrompt: true}
	entries := audit.Entries(b.voted, words)
	q.open(entries, words)
	if len(entries) == 0 && a.queue == drawnQueue {
		q.voted, q.next = b.voted, min(audit.Usual, len(b.voted))
	}
	return q, nil
}

// builtPage is the rows of a build that an address chooses.
type builtPage struct {
	Total string
	// Chips count the rows by their status. Each leads to its rows.
	Chips []page.Link
	Rows  []builtRow
	Next  string
}

// build shows a build as its command does, and below that its rows.
func (s *Server) build(r *http.Request, found *study.Study) (response, error) {
	q, err := page.ParseQuery(r.URL.Query())
	if err != nil {
		return response{}, err
	}
	from, err := afterOf(q)
	if err != nil {
		return response{}, err
	}
	b, err := s.built(r.Context(), found)
	if err != nil {
		return response{}, err
	}
	has := func(name, value string) bool { return len(q[name]) == 0 || q.Has(name, value) }
	counts, rows := map[string]int{}, []builtRow{}
	for _, row := range b.rows {
		counts[row.Status()]++
		if has("status", row.Status()) && has("prompt", string(row.ID)) && has("category", table.Category(row.Category)) {
			rows = append(rows, row)
		}
	}
	p, err := s.studyPage(r, found, b.Document())
	if err != nil {
		return response{}, err
	}
	p.Simulated, p.Built = b.Simulated, &builtPage{Total: table.Count(len(rows))}
	chip := func(n int, text, status string) {
		if n > 0 {
			address := page.Query{}.With("study", found.Name, "status", status).Address("/") + "#rows"
			p.Built.Chips = append(p.Built.Chips, page.Link{Text: table.Count(n) + " " + text, Address: address, Here: q.Has("status", status) || status == "" && len(rows) == len(b.rows)})
		}
	}
	chip(len(b.rows), "in all", "")
	for _, reason := range benchmark.Reasons {
		chip(counts[string(reason)], "dropped: "+spaced(reason), string(reason))
	}
	for _, label := range orbench.Labels {
		chip(counts[string(label)], string(label), string(label))
	}
	data := b.Data().(map[string]any)
	data["counts"], data["total"] = counts, len(rows)
	if rows = rows[min(from, len(rows)):]; len(rows) > rowsShown {
		next := q.Set("after", strconv.Itoa(from+rowsShown))
		rows, p.Built.Next, data["next"] = rows[:rowsShown], next.Address("/")+"#rows", next.Address(r.URL.Path)
	}
	p.Built.Rows, data["rows"] = rows, rows
	return response{template: "study", page: p, data: data}, nil
}
