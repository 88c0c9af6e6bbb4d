package web

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// lineageRow is a row of a build with its way from the seed to the sets.
type lineageRow struct {
	*benchmark.Record
	Category string
	// Asked are the turns of the prompt.
	Asked []orbench.Message
	Steps []step
	Raw   string
}

// Folded reports whether the page hides the row's text until it is opened.
func (r lineageRow) Folded() bool { return r.Label != orbench.Safe }

// Final is the row's label, or dropped.
func (r lineageRow) Final() string {
	if r.Dropped != benchmark.NotDropped {
		return "dropped"
	}
	return string(r.Label)
}

// step is a stage of a row's way.
type step struct {
	What, By string
	// Text is a text that was replaced, or that the row was made of; it may be toxic.
	Text string
	Said []said
	// Then says what came of it, with a link to another row where there is one.
	Then page.Link
}

// Why reports whether a model gave a reason.
func (s step) Why() bool {
	return slices.ContainsFunc(s.Said, func(w said) bool { return w.Why != "" })
}

// said is what a model said of the row.
type said struct{ Who, Word, Why string }

// lineageRow lays out the way of a row.
func (b *builtRows) lineageRow(name string, r *benchmark.Record) lineageRow {
	q := page.Query{}.With("study", name)
	row := lineageRow{Record: r, Category: table.Category(r.Category), Asked: r.Asked().Messages, Raw: q.With("prompt", string(r.ID)).Address("/raw")}
	add := func(s step) { row.Steps = append(row.Steps, s) }
	other := func(text string, id orbench.PromptID) page.Link {
		return page.Link{Text: text, Address: q.With("prompt", string(id)).Address("/") + "#rows"}
	}
	if seed := b.seeds[r.SeedID]; seed != nil {
		of := step{What: "Seed", By: seed.Generator, Text: seed.Text, Then: other("all rows of this seed", seed.ID)}
		if seed.File != "" {
			of.By = seed.File
		}
		if seed.Round > 0 {
			of.What += fmt.Sprintf(" of round %d, a rewrite that stayed toxic", seed.Round)
		}
		add(of)
	}
	if r.Kind == benchmark.Rewritten {
		of := step{What: "Rewritten", By: r.Rewriter, Text: r.Before}
		if first := brokenFirst(r); len(first) > 0 {
			of.Then.Text = "broke " + listed(first)
		}
		if r.RepairCall != "" {
			of.Then.Text += "; asked for again, it kept all rules"
			if len(r.Broken) > 0 {
				of.Then.Text = strings.TrimSuffix(of.Then.Text, "it kept all rules") + "it broke " + listed(r.Broken)
			}
		}
		add(of)
	}
	if r.Operator != "" && len(r.Parents) > 0 {
		add(step{What: "Search", Then: other(fmt.Sprintf("generation %d, made by %s from another row", r.Generation, r.Operator), r.Parents[0])})
	}
	switch {
	case r.Dropped == benchmark.Duplicate || r.Dropped == benchmark.NearDuplicate:
		add(step{What: "Dropped", Then: other(fmt.Sprintf("%s of another row, similarity %.2f", spaced(string(r.Dropped)), r.Similarity), r.Cluster)})
	case r.Dropped != benchmark.NotDropped:
		add(step{What: "Dropped", Then: page.Link{Text: spaced(string(r.Dropped))}})
	}
	if len(r.Targets) > 0 {
		add(step{What: "Targets", Said: replies(r.Targets)})
	}
	if len(r.Votes) > 0 {
		add(step{What: "Votes", Said: votes(r.Votes), Then: page.Link{Text: "voted " + string(r.Voted)}})
	}
	if c := r.SecondChance; c != nil {
		of := step{What: "Second chance", By: c.Model, Said: votes(c.Votes)}
		switch {
		case c.Missing != "":
			of.Then.Text = "no answer: " + c.Missing
		case c.Readmitted:
			of.Then.Text = "the answer was voted safe: re-admitted"
		default:
			of.Then.Text = "the answer was voted " + string(c.Voted)
		}
		add(of)
	}
	if len(r.Replies) > 0 {
		add(step{What: "Selectors", Said: replies(r.Replies), Then: page.Link{Text: "refused by " + table.Counted(r.RefusedBy(), "family", "families")}})
	}
	if len(r.Sets) > 0 {
		add(step{What: "Sets", Then: page.Link{Text: listed(r.Sets)}})
	}
	return row
}

// listed lists names for people.
func listed[T ~string](names []T) string {
	var all []string
	for _, n := range names {
		all = append(all, spaced(string(n)))
	}
	return strings.Join(all, ", ")
}

func votes(all []benchmark.Vote) (list []said) {
	for _, v := range all {
		word := string(v.Label)
		if v.Label == orbench.Undecided {
			word = "abstains"
		}
		if v.Category != "" {
			word += " (" + string(v.Category) + ")"
		}
		list = append(list, said{v.Moderator, word, v.Explanation})
	}
	return list
}

func replies(all []benchmark.Reply) (list []said) {
	for _, r := range all {
		list = append(list, said{r.Selector, page.ClassName(r.Class), ""})
	}
	return list
}

// callsOfRow lists the calls behind the rows of a build with an ID.
func (s *Server) callsOfRow(ctx context.Context, found *study.Study, id orbench.PromptID) ([]model.Hash, error) {
	b, err := s.builtRows(ctx, found)
	if err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.made == nil {
		return nil, index.ErrGone
	}
	var hashes []model.Hash
	add := func(calls ...string) {
		for _, c := range calls {
			var h model.Hash
			if len(c) != hex.EncodedLen(len(h)) {
				continue
			}
			if _, err := hex.Decode(h[:], []byte(c)); err == nil && !slices.Contains(hashes, h) {
				hashes = append(hashes, h)
			}
		}
	}
	for i := range b.rows {
		if b.rows[i].id != id {
			continue
		}
		r, err := b.made.Row(b.rows[i].place)
		if err != nil {
			return nil, err
		}
		if seed := b.seeds[r.SeedID]; seed != nil {
			add(seed.Call)
		}
		add(r.Call, r.RepairCall, r.TurnsCall)
		of := r.Votes
		if c := r.SecondChance; c != nil {
			add(c.Call)
			of = append(of, c.Votes...)
		}
		for _, v := range of {
			add(v.Call)
		}
		for _, reply := range slices.Concat(r.Targets, r.Replies) {
			add(reply.Call)
		}
	}
	if len(hashes) == 0 {
		return nil, fmt.Errorf("%w: no row of the build has the ID %s", errNotFound, id)
	}
	return hashes, nil
}
