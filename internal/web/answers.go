package web

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

//go:embed templates
var pages embed.FS

// functions are those of the templates.
var functions = template.FuncMap{"clamp": clamp}

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

// answersPage is the page of answers.
type answersPage struct {
	page.Answers
}

// answersData is the JSON of the page of answers.
type answersData struct {
	Total        int  `json:"total"`
	TotalIsExact bool `json:"total_is_exact"`
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
	rows   *index.Study
	filter index.Filter
	order  index.Order
}

// answers shows the answers that a query chooses.
func (s *Server) answers(r *http.Request) (response, error) {
	ctx := r.Context()
	q, err := page.ParseQuery(r.URL.Query())
	if err != nil {
		return response{}, err
	}
	said, err := s.Store.Annotations(ctx)
	if err != nil {
		return response{}, err
	}
	words := annotation.NewWords(said)
	studies, err := s.look(ctx, q, words)
	if err != nil {
		return response{}, err
	}
	data := answersData{TotalIsExact: true, Facets: map[string]map[string]int{}, Rows: []answerData{}}
	all := 0
	for _, l := range studies {
		all += l.rows.Answers()
		total, facets, err := l.rows.Count(ctx, l.filter)
		if err != nil {
			return response{}, err
		}
		data.Total += total
		l.addFacets(data.Facets, facets, q)
	}
	found, next, err := findPage(ctx, q, studies)
	if err != nil {
		return response{}, err
	}
	if next != "" {
		data.Next = q.Set("after", next).Address(r.URL.Path)
	}
	bounds := page.InList
	if q.Get("prompt") != "" {
		bounds = page.Alone
	}
	p := answersPage{
		Answers: page.Answers{
			Frame: s.frame(r, "Answers"), Head: of(studies), Query: q, Total: table.Count(data.Total), Facets: facetsOf(q, data.Facets), Next: data.Next,
		},
	}
	person := cmp.Or(personOf(r), s.Person)
	groups, err := s.gather(ctx, studies, found, q.Get("by") == "answer")
	if err != nil {
		return response{}, err
	}
	matched := map[place]bool{}
	if data.Total < all {
		if matched, err = matches(ctx, studies, groups); err != nil {
			return response{}, err
		}
	}
	read := map[place]answerData{}
	for _, g := range groups {
		shown := page.Row{Dataset: g.dataset, ID: g.id, Asked: page.NewAnswer(g.rows[0].AnswerRow, bounds)}
		for i, row := range g.rows {
			l := studies[g.places[i].study]
			a := s.shown(l, row, bounds, words)
			a.Form = s.formAt(l.Name, a.Subject, person)
			a.Matched, a.Otherwise = matched[g.places[i]], !a.AskedLike(shown.Asked)
			read[g.places[i]] = answerData{l.Name, a.Address, a.People, row.AnswerRow}
			shown.Answers = append(shown.Answers, a)
			p.Simulated = p.Simulated || a.Simulated
		}
		p.Rows = append(p.Rows, shown)
	}
	for _, at := range found {
		data.Rows = append(data.Rows, read[at])
	}
	p.links(q, studies)
	if !s.ReadOnly && len(studies) == 1 && q.Get("prompt") == "" {
		p.Views = append(p.Views, page.Link{Text: "label these", Address: q.Without("after", "by", "person").Address("/label")})
	}
	return response{template: "answers", page: p, data: data}, nil
}

// look opens the studies of a query, with its filter and order for each.
func (s *Server) look(ctx context.Context, q page.Query, words annotation.Words) ([]looked, error) {
	names := q["study"]
	if len(names) == 0 {
		names = []string{""}
	}
	var all []looked
	known := len(q["prompt"]) == 0
	for _, name := range names {
		o, err := s.open(ctx, name)
		if err != nil {
			return nil, err
		}
		rows, err := s.study(ctx, o)
		if err != nil {
			return nil, err
		}
		if q.Get("q") != "" {
			if err := s.texts(ctx, o, rows); err != nil {
				return nil, err
			}
		}
		l := looked{opened: o, rows: rows}
		if l.filter, err = filterOf(q, o, rows, words); err != nil {
			return nil, err
		}
		if l.order, err = orderOf(q, rows); err != nil {
			return nil, err
		}
		if prompts := q["prompt"]; len(prompts) > 0 {
			if l.filter.Positions, err = l.positionsOf(ctx, prompts); err != nil {
				return nil, err
			}
			known = known || len(l.filter.Positions) > 0
		}
		all = append(all, l)
	}
	if !known {
		return nil, fmt.Errorf("%w: no answer to the prompt %s", errNotFound, q.Get("prompt"))
	}
	return all, nil
}

// of names the studies whose answers a page shows.
func of(studies []looked) string {
	var names []string
	for _, l := range studies {
		names = append(names, l.Name)
	}
	if len(names) == 1 {
		return "Study " + names[0]
	}
	return "Studies " + strings.Join(names, ", ")
}

// place is a row of one of the studies of a query.
type place struct{ study, position int }

// findPage finds the answers that a page begins with, from all studies in turn, and where
// the next page begins.
func findPage(ctx context.Context, q page.Query, studies []looked) (found []place, next string, err error) {
	first, after, err := parseAfter(q.Get("after"), len(studies))
	if err != nil {
		return nil, "", err
	}
	size := pageSize(q, studies)
	for n := first; n < len(studies); n++ {
		positions, left, err := studies[n].rows.Page(ctx, studies[n].filter, studies[n].order, after, size-len(found))
		if err != nil {
			return nil, "", err
		}
		for _, at := range positions {
			found = append(found, place{n, at})
		}
		switch {
		case left != nil:
			return found, fmt.Sprintf("%d.%d.%d", n, left.Rank, left.Position), nil
		case len(found) == size && n+1 < len(studies):
			return found, fmt.Sprintf("%d", n+1), nil
		}
		after = nil
	}
	return found, "", nil
}

// parseAfter reads where a page begins: the number of the study, and a key in it.
func parseAfter(text string, studies int) (study int, key *index.Key, err error) {
	if text == "" {
		return 0, nil, nil
	}
	var k index.Key
	switch n, _ := fmt.Sscanf(text, "%d.%d.%d", &study, &k.Rank, &k.Position); n {
	case 1:
	case 3:
		key = &k
	default:
		study = -1
	}
	if study < 0 || study >= studies {
		return 0, nil, &orbench.InputError{Setting: "after", Problem: fmt.Sprintf("%q is no place where a page begins", text), Hint: "take the one that the page before gives"}
	}
	return study, key, nil
}

// positionsOf gives the positions of all answers to some prompts.
func (l looked) positionsOf(ctx context.Context, prompts []string) ([]int, error) {
	var ids []orbench.PromptID
	for _, id := range prompts {
		ids = append(ids, orbench.PromptID(id))
	}
	positions := []int{}
	for _, dataset := range l.rows.Datasets {
		found, err := l.rows.FindPrompts(ctx, dataset, ids)
		if err != nil {
			return nil, err
		}
		for _, at := range found {
			first, answers := l.rows.Prompt(at)
			for i := range answers {
				positions = append(positions, first+i)
			}
		}
	}
	return positions, nil
}

// targets lists the targets of a study that a query chooses; nil for all.
func (o *opened) targets(q page.Query) []string {
	if len(q["target"]) == 0 && len(q["variant"]) == 0 {
		return nil
	}
	names := slices.Clone(q["variant"])
	for _, t := range o.Targets {
		if q.Has("target", t.Name) || q.Has("target", cmp.Or(t.Base, t.Name)) {
			if len(q["variant"]) == 0 || q.Has("variant", t.Name) {
				names = append(names, t.Name)
			}
		}
	}
	return append(names, "") // so that an unknown name chooses nothing
}

// group is a prompt with answers to it.
type group struct {
	dataset string
	id      orbench.PromptID
	places  []place
	rows    []index.PlacedRow
}

// gather reads the chosen answers, each alone, or with all others to its prompt: those of
// its own study and those of the others, in the order of studies.
func (s *Server) gather(ctx context.Context, studies []looked, chosen []place, alone bool) ([]*group, error) {
	places, seen := chosen, map[place]bool{}
	if !alone {
		places = nil
		for _, at := range chosen {
			first, n := studies[at.study].rows.Prompt(at.position)
			for i := range n {
				if p := (place{at.study, first + i}); !seen[p] {
					seen[p] = true
					places = append(places, p)
				}
			}
		}
	}
	rows, err := s.read(ctx, studies, places)
	if err != nil {
		return nil, err
	}
	type name struct {
		dataset string
		id      orbench.PromptID
	}
	var groups []*group
	byName := map[name]*group{}
	asked := map[string][]orbench.PromptID{}
	for i, row := range rows {
		of := name{row.Dataset, row.Prompt.ID}
		g := byName[of]
		if g == nil || alone {
			g = &group{dataset: row.Dataset, id: row.Prompt.ID}
			groups, byName[of] = append(groups, g), g
			asked[row.Dataset] = append(asked[row.Dataset], row.Prompt.ID)
		}
		g.places, g.rows = append(g.places, places[i]), append(g.rows, row)
	}
	if alone || len(studies) == 1 {
		return groups, nil
	}
	places = nil
	for n, l := range studies {
		for _, dataset := range l.rows.Datasets {
			found, err := l.rows.FindPrompts(ctx, dataset, asked[dataset])
			if err != nil {
				return nil, err
			}
			for _, at := range found {
				first, answers := l.rows.Prompt(at)
				for i := range answers {
					if p := (place{n, first + i}); !seen[p] {
						seen[p] = true
						places = append(places, p)
					}
				}
			}
		}
	}
	if rows, err = s.read(ctx, studies, places); err != nil {
		return nil, err
	}
	for i, row := range rows {
		g := byName[name{row.Dataset, row.Prompt.ID}]
		g.places, g.rows = append(g.places, places[i]), append(g.rows, row)
	}
	for _, g := range groups {
		sort.Sort(byPlace{g})
	}
	return groups, nil
}

// matches tells which of the answers on a page the filter chooses. Those of a prompt stand
// together, also where another page begins with one of them.
func matches(ctx context.Context, studies []looked, groups []*group) (map[place]bool, error) {
	matched := map[place]bool{}
	for n, l := range studies {
		var shown []int
		for _, g := range groups {
			for _, at := range g.places {
				if at.study == n {
					shown = append(shown, at.position)
				}
			}
		}
		positions, err := l.rows.Chosen(ctx, l.filter, shown)
		if err != nil {
			return nil, err
		}
		for _, position := range positions {
			matched[place{n, position}] = true
		}
	}
	return matched, nil
}

// byPlace sorts the answers of a group by study and position.
type byPlace struct{ *group }

func (b byPlace) Len() int { return len(b.places) }
func (b byPlace) Less(i, j int) bool {
	x, y := b.places[i], b.places[j]
	return cmp.Or(cmp.Compare(x.study, y.study), cmp.Compare(x.position, y.position)) < 0
}

func (b byPlace) Swap(i, j int) {
	b.places[i], b.places[j] = b.places[j], b.places[i]
	b.rows[i], b.rows[j] = b.rows[j], b.rows[i]
}

// read reads rows of several studies, in their order.
func (s *Server) read(ctx context.Context, studies []looked, places []place) ([]index.PlacedRow, error) {
	positions := make([][]int, len(studies))
	for _, at := range places {
		positions[at.study] = append(positions[at.study], at.position)
	}
	read := make([][]index.PlacedRow, len(studies))
	for n, some := range positions {
		if len(some) == 0 {
			continue
		}
		var err error
		if read[n], err = studies[n].rows.Read(ctx, s.Store, some); err != nil {
			return nil, err
		}
	}
	all := make([]index.PlacedRow, len(places))
	for i, at := range places {
		all[i], read[at.study] = read[at.study][0], read[at.study][1:]
	}
	return all, nil
}

// shown prepares an answer for a page.
func (s *Server) shown(l looked, row index.PlacedRow, most page.Bounds, words annotation.Words) page.Shown {
	return answerShown(l.Name, row.AnswerRow, row.Address(), most, words)
}

// answerShown is an answer of a study at an address of its own.
func answerShown(study string, row score.AnswerRow, at index.Address, most page.Bounds, words annotation.Words) page.Shown {
	address := addressOf(study, at)
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

// addressOf is the query of one answer.
func addressOf(study string, a index.Address) page.Query {
	q := page.Query{}.With("study", study, "dataset", a.Dataset, "prompt", string(a.Prompt), "variant", a.Target)
	if a.Sample > 0 {
		q = q.With("sample", strconv.Itoa(a.Sample))
	}
	return q
}

// clamp is the start of a text for a cell that can be opened.
func clamp(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	if len(line) > 160 {
		return line[:strings.LastIndexByte(line[:161], ' ')+1] + "…"
	}
	return line
}
