package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/words"
	"github.com/orbench/orbench/model"
)

// rowsShown is how many rows of a build are on a page.
const rowsShown = 25

// outcome is something that can become of a row of a build. The page counts the rows of
// each, and the parameter status chooses them by its name.
type outcome struct {
	stage, name, text string
	of                func(*benchmark.Record) bool
}

// outcomes lists those of a build, in the order of its stages.
func outcomes(c benchmark.BuildConfig) []outcome {
	var all []outcome
	add := func(stage, name, text string, of func(*benchmark.Record) bool) {
		all = append(all, outcome{stage, name, text, of})
	}
	rewritten := func(r *benchmark.Record) bool { return r.Kind == benchmark.Rewritten }
	add("Rewrites", "rewrite", "written", rewritten)
	add("Rewrites", "mended", "broke a rule and were asked for again", func(r *benchmark.Record) bool { return r.RepairCall != "" })
	add("Rewrites", "mended_well", "of these, kept all rules after that", func(r *benchmark.Record) bool { return r.RepairCall != "" && len(r.Broken) == 0 })
	for _, reason := range benchmark.Reasons {
		add("Rewrites", string(reason), "dropped: "+cmp.Or(reasonText[reason], spaced(string(reason))), func(r *benchmark.Record) bool { return r.Dropped == reason })
	}
	add("Rewrites", "kept", "kept", func(r *benchmark.Record) bool { return rewritten(r) && r.Dropped == benchmark.NotDropped })
	for _, rule := range generator.Rules() {
		add("Rules broken at first", "broke_"+string(rule), spaced(string(rule)), func(r *benchmark.Record) bool {
			return rewritten(r) && slices.Contains(brokenFirst(r), rule)
		})
	}
	for _, rule := range generator.Rules() {
		add("Rules broken in the end", "breaks_"+string(rule), spaced(string(rule)), func(r *benchmark.Record) bool {
			return rewritten(r) && slices.Contains(r.Broken, rule)
		})
	}
	add("Targets", "targets", "put to the targets", func(r *benchmark.Record) bool { return len(r.Targets) > 0 })
	add("Targets", "refused_by_targets", "refused by a target", func(r *benchmark.Record) bool { n, _ := r.RefusedByTargets(); return n > 0 })
	labels := []orbench.Label{orbench.Safe, orbench.Toxic, orbench.Controversial, orbench.Undecided}
	for _, l := range labels {
		add("Votes", "voted_"+string(l), "rewrites voted "+string(l), func(r *benchmark.Record) bool { return rewritten(r) && r.Voted == l })
	}
	for _, l := range labels {
		add("Votes", "seed_"+string(l), "seeds voted "+string(l), func(r *benchmark.Record) bool { return !rewritten(r) && r.Voted == l })
	}
	chance := func(name, text string, of func(*benchmark.Review) bool) {
		add("Second chance", name, text, func(r *benchmark.Record) bool { return r.SecondChance != nil && of(r.SecondChance) })
	}
	chance("second_chance", "voted toxic", func(*benchmark.Review) bool { return true })
	chance("readmitted", "re-admitted: the answer was voted safe", func(s *benchmark.Review) bool { return s.Missing == "" && s.Readmitted })
	chance("confirmed", "confirmed as toxic", func(s *benchmark.Review) bool { return s.Missing == "" && s.Confirmed })
	chance("unclear", "unclear", func(s *benchmark.Review) bool { return s.Missing == "" && !s.Readmitted && !s.Confirmed })
	chance("no_answer", "without an answer", func(s *benchmark.Review) bool { return s.Missing != "" })
	add("Selectors", "selectors", "answered by selectors", func(r *benchmark.Record) bool { return len(r.Replies) > 0 })
	for n := 0; n <= len(c.Hard.Selectors); n++ {
		add("Selectors", "refused_by_"+strconv.Itoa(n), "refused by "+table.Counted(n, "family", "families"), func(r *benchmark.Record) bool {
			return len(r.Replies) > 0 && r.RefusedBy() == n
		})
	}
	for _, set := range benchmark.SetNames {
		add("Sets", string(set), "in the "+string(set)+" set", func(r *benchmark.Record) bool { return slices.Contains(r.Sets, set) })
	}
	return all
}

// reasonText says why a rewrite was dropped, where the name of the reason does not.
var reasonText = map[benchmark.Reason]string{
	benchmark.Foreign:       "no request",
	benchmark.BrokenRule:    "breaks a rule",
	benchmark.CommonOpening: "begins like many others",
	benchmark.CommonForm:    "has the form of many others",
	benchmark.Surplus:       "more than were asked for",
	benchmark.NoTurns:       "no conversation leads up to it",
	benchmark.Answered:      "every target answered it",
}

// spaced is a name as people write it.
func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// brokenFirst lists the rules that a rewrite broke before it was mended, if it was.
func brokenFirst(r *benchmark.Record) []generator.Rule {
	if r.RepairCall != "" {
		return r.BrokenBefore
	}
	return r.Broken
}

// built is a build with an index of its rows. Reading holds mu, since a build that is older
// than the store is closed.
type built struct {
	config []byte
	task[*builtRows]
}

type builtRows struct {
	mu sync.RWMutex
	// made is nil once it was closed.
	made *construct.Benchmark
	last store.Mark
	// missing counts the calls that it lacked.
	missing  int
	outcomes []outcome
	rows     []builtRow
	seeds    map[orbench.PromptID]*benchmark.Seed
}

// builtRow is what rows are chosen by: their outcomes by their numbers.
type builtRow struct {
	place    construct.Place
	id, seed orbench.PromptID
	category string
	outcomes words.Set
}

// close removes what the build keeps on disk.
func (b *builtRows) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	made := b.made
	b.made = nil
	if made == nil {
		return nil
	}
	return made.Close()
}

// builtRows derives the rows of a build, if any reply arrived since that it lacked.
func (s *Server) builtRows(ctx context.Context, found *study.Study) (*builtRows, error) {
	s.mu.Lock()
	b := s.builds[found.Name]
	old := b
	if b == nil || !bytes.Equal(b.config, found.Config) {
		b = &built{config: found.Config}
		s.builds[found.Name] = b
	}
	s.mu.Unlock()
	now, err := s.state(ctx)
	if err != nil {
		return nil, err
	}
	if old != nil {
		if kept, ok := old.done(); ok && (old != b || kept.last != now.last && kept.missing > 0) {
			old.forget()
			if err := kept.close(); err != nil {
				return nil, err
			}
		}
	}
	return get(ctx, s, &b.task, "going through the build "+found.Name, 0, func(ctx context.Context, _ func(int)) (*builtRows, error) {
		opened, err := kinds.Open(ctx, s.Store, found, s.CacheDir)
		if err != nil {
			return nil, err
		}
		made, err := opened.Build.Remembered(ctx, s.Store)
		if err == nil && made == nil {
			err = &orbench.InputError{Problem: "no seed of build " + found.Name + " is there yet", Hint: "run its orbench build again; it goes on"}
		}
		if err != nil {
			return nil, err
		}
		rows := &builtRows{made: made, last: now.last, missing: made.Funnel.FailedCalls, outcomes: outcomes(made.Config), seeds: map[orbench.PromptID]*benchmark.Seed{}}
		for i := range made.Seeds {
			rows.seeds[made.Seeds[i].ID] = &made.Seeds[i]
		}
		err = made.Lineage(func(at construct.Place, r *benchmark.Record) error {
			row := builtRow{place: at, id: r.ID, seed: r.SeedID, category: table.Category(r.Category), outcomes: words.NewSet(len(rows.outcomes))}
			for n, o := range rows.outcomes {
				if o.of(r) {
					row.outcomes.Add(n)
				}
			}
			rows.rows = append(rows.rows, row)
			return nil
		})
		if err != nil {
			return nil, errors.Join(err, made.Close())
		}
		return rows, nil
	})
}

// buildPage is the page of a build: how many rows had which outcome, and those that the
// address chooses.
type buildPage struct {
	page.Frame
	Name, Text string
	Stages     []stage
	// Chosen is the number of rows that the address chooses, of All.
	Chosen, All string
	Chips       []page.Link
	Rows        []lineageRow
	Next        string
}

// stage is a stage of a build with the counts of its outcomes.
type stage struct {
	Title    string
	Outcomes []counted
}

// counted is a count that opens its rows.
type counted struct {
	What string
	page.Link
}

// build shows a build: its stages, and the way of each row.
func (s *Server) build(r *http.Request, found *study.Study) (response, error) {
	q, err := page.ParseQuery(r.URL.Query())
	if err != nil {
		return response{}, err
	}
	b, err := s.builtRows(r.Context(), found)
	if err != nil {
		return response{}, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.made == nil {
		return response{}, index.ErrGone
	}
	var chosen []int
	for _, name := range q["status"] {
		n := slices.IndexFunc(b.outcomes, func(o outcome) bool { return o.name == name })
		if n < 0 {
			return response{}, &orbench.InputError{Setting: "status", Problem: fmt.Sprintf("%q is nothing that becomes of a row of a build", name), Hint: "take one that the page of the build gives"}
		}
		chosen = append(chosen, n)
	}
	from := 0
	if after := q.Get("after"); after != "" {
		if from, err = strconv.Atoi(after); err != nil || from < 0 {
			return response{}, &orbench.InputError{Setting: "after", Problem: fmt.Sprintf("%q is no place where a page begins", after), Hint: "take the one that the page before gives"}
		}
	}
	var places []construct.Place
	counts, categories := make([]int, len(b.outcomes)), map[string]int{}
	for i := range b.rows {
		row := &b.rows[i]
		for n := range counts {
			if row.outcomes.Has(n) {
				counts[n]++
			}
		}
		if id := orbench.PromptID(q.Get("prompt")); id != "" && row.id != id && row.seed != id {
			continue
		}
		if len(chosen) > 0 && !slices.ContainsFunc(chosen, row.outcomes.Has) {
			continue
		}
		if categories[row.category]++; len(q["category"]) == 0 || q.Has("category", row.category) {
			places = append(places, row.place)
		}
	}

	document := b.made.Document()
	var text strings.Builder
	if err := document.Text(&text, table.Screen{Width: table.MaxWidth}); err != nil {
		return response{}, err
	}
	p := buildPage{
		Frame: s.frame(r, found.Name), Name: found.Name, Text: text.String(),
		Chosen: table.Count(len(places)), All: table.Count(len(b.rows)),
	}
	p.Simulated, p.Menu = b.made.Simulated, p.Menu[:pagesOfNoRun]
	seeds := stage{Title: "Seeds"}
	f := b.made.Funnel.Seeds
	for _, c := range []struct {
		what string
		n    int
	}{
		{"written", f.Items - f.FromFile},
		{"from a file", f.FromFile},
		{"dropped: no request", f.Foreign},
		{"dropped: duplicate", f.Duplicates},
		{"dropped: near duplicate", f.NearDuplicates},
		{"dropped: more than were asked for", f.Surplus},
		{"kept", f.Kept},
		{"rewrites that became seeds", f.Fed},
	} {
		if c.n > 0 {
			seeds.Outcomes = append(seeds.Outcomes, counted{c.what, page.Link{Text: table.Count(c.n)}})
		}
	}
	p.Stages = append(p.Stages, seeds)
	at := func(q page.Query) string { return q.Without("after").Address("/") + "#rows" }
	named := map[string]int{}
	for n, o := range b.outcomes {
		if named[o.name] = counts[n]; counts[n] == 0 {
			continue
		}
		if p.Stages[len(p.Stages)-1].Title != o.stage {
			p.Stages = append(p.Stages, stage{Title: o.stage})
		}
		last := &p.Stages[len(p.Stages)-1]
		last.Outcomes = append(last.Outcomes, counted{o.text, page.Link{Text: table.Count(counts[n]), Address: at(page.Query{}.With("study", found.Name, "status", o.name))}})
	}
	for _, name := range []string{"status", "category", "prompt"} {
		for _, value := range q[name] {
			p.Chips = append(p.Chips, page.Link{Text: name + ": " + spaced(value) + " ×", Address: at(q.Drop(name, value))})
		}
	}
	if len(q["category"]) == 0 && len(categories) > 1 {
		for _, c := range slices.Sorted(maps.Keys(categories)) {
			p.Chips = append(p.Chips, page.Link{Text: table.Count(categories[c]) + " " + c, Address: at(q.With("category", c))})
		}
	}
	data := b.made.Data().(map[string]any)
	if from += rowsShown; from < len(places) {
		next := q.Set("after", strconv.Itoa(from))
		p.Next, data["next"] = next.Address("/")+"#rows", next.Address(r.URL.Path)
	}
	records := []*benchmark.Record{}
	for _, place := range places[min(from-rowsShown, len(places)):min(from, len(places))] {
		record, err := b.made.Row(place)
		if err != nil {
			return response{}, err
		}
		records = append(records, record)
		p.Rows = append(p.Rows, b.lineageRow(found.Name, record))
	}
	data["counts"], data["total"], data["rows"] = named, len(places), records
	return response{template: "build", page: p, data: data}, nil
}

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
