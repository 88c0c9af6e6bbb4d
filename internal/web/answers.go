package web

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/words"
)

//go:embed templates
var pages embed.FS

// pageSize is how many answers a page begins with: fewer where it shows many answers to
// each prompt.
func pageSize(q page.Query, studies []looked) int {
	const most, fewest, shown, ofPrompt = 50, 10, 120, 1000
	switch {
	case q.Get("prompt") != "":
		return ofPrompt
	case q.Get("by") == "answer":
		return most
	}
	beside := 0
	for _, l := range studies {
		beside += len(l.rows.Samples)
	}
	return max(fewest, min(most, shown/max(1, beside)))
}

// answersData is the JSON of the page of answers.
type answersData struct {
	Total int `json:"total"`
	// Facets counts the answers by parameter and value, each without the filter's own
	// values of that parameter.
	Facets map[string]map[string]int `json:"facets"`
	Rows   []answerData              `json:"rows"`
	// Next is the address of the next page, absent at the end.
	Next string `json:"next,omitempty"`
}

// answerData is an answer with its address.
type answerData struct {
	Study   string      `json:"study"`
	Address string      `json:"address"`
	People  []page.Word `json:"people,omitempty"`
	score.AnswerRow
}

// looked is a study as a query looks at it.
type looked struct {
	*opened
	rows  *index.Study
	found *index.Chosen
	order index.Order
	// total is how many are found, and facets what facet.Choice counts beside it.
	total  int
	facets map[string]map[string]int
}

// answers shows the answers that a query chooses.
func (s *Server) answers(r *http.Request) (response, error) {
	ctx := r.Context()
	q, err := page.ParseQuery(r.URL.Query())
	if err != nil {
		return response{}, err
	}
	if found, err := study.Find(ctx, s.Store, q.Get("study")); err == nil && found.Kind == study.Build {
		return s.made(r, found)
	}
	said, err := s.Store.Annotations(ctx)
	if err != nil {
		return response{}, err
	}
	people := annotation.NewWords(said)
	studies, err := s.look(ctx, q)
	if err != nil {
		return response{}, err
	}
	data := answersData{Facets: map[string]map[string]int{}, Rows: []answerData{}}
	all := 0
	for _, l := range studies {
		all += l.rows.Answers()
		data.Total += l.total
		l.addFacets(data.Facets, q)
	}
	after, err := afterOf(q)
	if err != nil {
		return response{}, err
	}
	size := pageSize(q, studies)
	found, err := findPage(ctx, studies, after, size)
	if err != nil {
		return response{}, err
	}
	if after+size < data.Total {
		data.Next = q.Set("after", strconv.Itoa(after+size)).Address(r.URL.Path)
	}
	bounds := page.InList
	if q.Get("prompt") != "" {
		bounds = page.Alone
	}
	p := page.Answers{
		Frame: s.frame(r, "Answers"), Head: of(studies), Query: q, Total: table.Count(data.Total), Facets: q.Facets(data.Facets), Next: data.Next,
	}
	person := cmp.Or(personOf(r), s.Person)
	groups, err := s.gather(ctx, studies, found, q.Get("by") == "answer")
	if err != nil {
		return response{}, err
	}
	read := map[place]answerData{}
	for _, g := range groups {
		var shown page.Row
		for _, row := range *g {
			study := studies[row.study].Name
			a := answerShown(study, row.AnswerRow, row.AnswerRow, bounds, people)
			a.Form = s.formAt(study, a.Subject, person)
			a.Matched = data.Total < all && studies[row.study].found.Has(row.position)
			read[row.place] = answerData{study, a.Address, a.People, row.AnswerRow}
			shown.Add(a)
			p.Simulated = p.Simulated || a.Simulated
		}
		p.Rows = append(p.Rows, shown)
	}
	for _, at := range found {
		data.Rows = append(data.Rows, read[at])
	}
	addLinks(&p, q, studies)
	if len(studies) == 1 {
		rows := studies[0].rows
		p.LinkMost(page.Query{}.With("study", q.Get("study")), rows.Words, rows.Subjects, func(q page.Query) string { return q.Address("/answers") })
	}
	if !s.ReadOnly && len(studies) == 1 && q.Get("prompt") == "" {
		p.Views = append(p.Views, page.Link{Text: "label these", Address: q.Without("after", "by").Address("/label")})
	}
	return response{template: "answers", page: p, data: data}, nil
}

// rowsShown is how many rows of a build are on a page.
const rowsShown = 50

// made shows a build as its command prints it and, chosen as answers are, its rows.
func (s *Server) made(r *http.Request, found *study.Study) (response, error) {
	b, err := s.built(r.Context(), found)
	if err != nil {
		return response{}, err
	}
	q, err1 := page.ParseQuery(r.URL.Query())
	after, err2 := afterOf(q)
	printed, err3 := s.studyPage(r, found, b.Document())
	if err := cmp.Or(err1, err2, err3); err != nil {
		return response{}, err
	}
	choice := b.Choose(facet.Terms(q))
	_, all := choice.Count(b.Counts)
	facets := map[string]map[string]int{"label": all["label"], "category": all["category"], "status": all["status"]}
	delete(facets["label"], "") // of what was dropped
	p := page.Answers{Frame: printed.Frame, Head: found.Name, Printed: printed.Text, Query: q, Facets: q.Facets(facets)}
	p.Simulated = b.Simulated
	for i := range p.Facets {
		if f := &p.Facets[i]; f.Name == "status" {
			f.Title = "Dropped by"
		}
	}
	rows, total := []*benchmark.Record{}, 0
	for i, row := range b.rows {
		if !choice.Has(0, b.kinds[i]) || len(q["prompt"]) > 0 && !q.Has("prompt", string(row.ID)) {
			continue
		}
		if total++; total > after && total <= after+rowsShown {
			asked := score.AnswerRow{Prompt: row.Asked()}
			asked.Prompt.Category, asked.Prompt.Label = row.Category, row.Label
			shown := page.Row{Dataset: found.Name, ID: row.ID, Asked: page.NewAnswer(asked, page.InList), Made: row}
			if row.Cluster != "" && (row.Cluster != row.ID || row.Dropped == benchmark.Duplicate) {
				shown.Like = page.Query{}.With("study", found.Name, "prompt", string(row.Cluster)).Address("/answers") + "#rows"
			}
			rows, p.Rows = append(rows, row), append(p.Rows, shown)
		}
	}
	data := b.Data().(map[string]any)
	data["total"], data["facets"], data["rows"] = total, facets, rows
	if next := after + rowsShown; next < total {
		p.Next, data["next"] = q.Set("after", strconv.Itoa(next)).Address("/answers"), q.Set("after", strconv.Itoa(next)).Address("/answers.json")
	}
	p.Total = table.Count(total)
	addLinks(&p, q, nil)
	p.Worth, p.Sorts, p.Views = nil, nil, nil
	of := page.Query{}.With("study", found.Name)
	for _, reason := range benchmark.Reasons {
		if n := b.Funnel.Rewrites.Dropped[reason]; n > 0 {
			p.Worth = append(p.Worth, page.Link{Text: table.Count(n) + " " + page.Spaced(reason), Address: of.With("status", string(reason)).Address("/answers") + "#rows"})
		}
	}
	if !s.ReadOnly {
		p.Views = []page.Link{{Text: "label prompts that were put to the vote", Address: of.Address("/label")}}
	}
	return response{template: "answers", page: p, data: data}, nil
}

// look opens the studies of a query, with its filter and order for each.
func (s *Server) look(ctx context.Context, q page.Query) (all []looked, err error) {
	names := q["study"]
	if len(names) == 0 {
		names = []string{""}
	}
	known := len(q["prompt"]) == 0
	for _, name := range names {
		l, err := s.openRows(ctx, name)
		if err != nil {
			return nil, err
		}
		wanted, err := wantedOf(q, l.opened, l.rows)
		if err != nil {
			return nil, err
		}
		if l.order, err = orderOf(q, l.rows); err != nil {
			return nil, err
		}
		var some words.Set
		if q.Get("q") != "" {
			if err := s.texts(ctx, l.opened, l.rows); err != nil {
				return nil, err
			}
			if some, err = l.rows.Search(ctx, q.Get("q")); err != nil {
				return nil, err
			}
		}
		for _, person := range q["differs"] {
			of, _, err := l.rows.Differ(ctx, s.Store, person, judgeOf(q, 0, l.rows))
			if err != nil {
				return nil, err
			}
			some = some.And(of)
		}
		if len(q["prompt"]) > 0 {
			of, err := l.rows.OfPrompts(ctx, q["prompt"])
			if err != nil {
				return nil, err
			}
			known = known || !of.Empty()
			some = some.And(of)
		}
		if l.found, err = l.rows.Choose(ctx, wanted, some); err != nil {
			return nil, err
		}
		l.total, l.facets = l.found.Count()
		all = append(all, l)
	}
	if !known {
		return nil, fmt.Errorf("%w: no answer to the prompt %s", errNotFound, q.Get("prompt"))
	}
	return all, nil
}

// of names the studies whose answers a page shows.
func of(studies []looked) string {
	names := table.RowsOf(studies, func(l looked) string { return l.Name })
	if len(names) == 1 {
		return "Study " + names[0]
	}
	return "Studies " + strings.Join(names, ", ")
}

// place is a row of one of the studies of a query.
type place struct{ study, position int }

// findPage finds the answers of a page, from all studies in turn, after some.
func findPage(ctx context.Context, studies []looked, after, size int) (found []place, err error) {
	for n, l := range studies {
		if len(found) == size {
			break
		}
		positions, err := l.found.Page(ctx, l.order, min(after, l.total), size-len(found))
		if err != nil {
			return nil, err
		}
		for _, at := range positions {
			found = append(found, place{n, at})
		}
		after = max(0, after-l.total)
	}
	return found, nil
}

// placedRow is a row with its place.
type placedRow struct {
	place
	score.AnswerRow
}

// gather reads the chosen answers, each alone, or with all others to its prompt: those of
// its own study and those of the others, in the order of studies.
func (s *Server) gather(ctx context.Context, studies []looked, chosen []place, alone bool) (groups []*[]placedRow, err error) {
	type name struct {
		dataset string
		id      orbench.PromptID
	}
	byName, asked, seen := map[name]*[]placedRow{}, map[string][]orbench.PromptID{}, map[place]bool{}
	// read adds answers of a study to their groups: some, each with the others to its prompt.
	read := func(n int, some []int) error {
		var positions []int
		for _, position := range some {
			first, answers := position, 1
			if !alone {
				first, answers = studies[n].rows.Prompt(position)
			}
			for at := first; at < first+answers; at++ {
				if !seen[place{n, at}] {
					seen[place{n, at}], positions = true, append(positions, at)
				}
			}
		}
		rows, err := studies[n].rows.Read(ctx, s.Store, positions)
		for i, row := range rows {
			of := name{row.Dataset, row.Prompt.ID}
			g := byName[of]
			if g == nil || alone {
				g = &[]placedRow{}
				groups, byName[of] = append(groups, g), g
				asked[row.Dataset] = append(asked[row.Dataset], row.Prompt.ID)
			}
			*g = append(*g, placedRow{place{n, positions[i]}, row})
		}
		return err
	}
	for n := range studies {
		var some []int
		for _, at := range chosen {
			if at.study == n {
				some = append(some, at.position)
			}
		}
		if err := read(n, some); err != nil {
			return nil, err
		}
	}
	if alone || len(studies) == 1 {
		return groups, nil
	}
	for n, l := range studies {
		for _, dataset := range l.rows.Datasets {
			found, err := l.rows.FindPrompts(ctx, dataset, asked[dataset])
			if err == nil {
				err = read(n, slices.Sorted(maps.Values(found)))
			}
			if err != nil {
				return nil, err
			}
		}
	}
	for _, g := range groups {
		slices.SortFunc(*g, func(a, b placedRow) int {
			return cmp.Or(cmp.Compare(a.study, b.study), cmp.Compare(a.position, b.position))
		})
	}
	return groups, nil
}

// answerShown is an answer of a study at an address of its own, which is that of a row.
func answerShown(study string, row, at score.AnswerRow, most page.Bounds, words annotation.Words) page.Shown {
	address := page.Query{}.With("study", study, "dataset", at.Dataset, "prompt", string(at.Prompt.ID), "variant", page.ShownTarget(at))
	if at.Sample > 0 {
		address = address.With("sample", strconv.Itoa(at.Sample))
	}
	a := page.Shown{
		Answer: page.NewAnswer(row, most), Study: study, Address: address.Address("/answers"), Raw: address.Address("/raw"),
		Elsewhere: "the answer's own page",
	}
	if most == page.Alone {
		a.Elsewhere = "the store"
	}
	if row.Status == score.Answered || row.Status == score.Blocked {
		subject := row.Subject()
		a.Subject, a.People = subject.String(), peopleOn(words, subject)
	}
	return a
}
