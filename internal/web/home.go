package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
)

// studyRow is a study in the list of all.
type studyRow struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Saved string   `json:"saved"`
	Asked []string `json:"asked"`
	About []string `json:"about"`
	// Progress is how far it is, nil unless somebody fills it.
	Progress *progress `json:"progress,omitempty"`
	// Address is that of its page. Answers is that of its answers and Figures that of its
	// figures, both empty if it is no run.
	Address string `json:"-"`
	Answers string `json:"-"`
	Figures string `json:"-"`
	// Shown is the figures of a run; nil until they are counted.
	Shown *figuresRow `json:"figures,omitempty"`
	// Waiting says how far the figures are where they are not counted.
	Waiting string `json:"-"`
}

// Targets are the lines of the study in the list: one for each model that is asked, with
// figures where it has some.
func (r studyRow) Targets() []targetFigures {
	if r.Shown != nil && len(r.Shown.Targets) > 0 {
		return r.Shown.Targets[:min(mostTargets, len(r.Shown.Targets))]
	}
	if len(r.Asked) == 0 {
		return []targetFigures{{}}
	}
	return table.RowsOf(r.Asked[:min(mostTargets, len(r.Asked))], func(name string) targetFigures { return targetFigures{Target: name} })
}

// Left is how many more targets there are.
func (r studyRow) Left() int {
	all := len(r.Asked)
	if r.Shown != nil {
		all = max(all, len(r.Shown.Targets))
	}
	return max(0, all-mostTargets)
}

// listed is a study in the list, without figures.
func listed(one *study.Study) (studyRow, error) {
	asked, about, err := kinds.Summary(one)
	if err != nil {
		return studyRow{}, err
	}
	row := studyRow{Name: one.Name, Kind: string(one.Kind), Saved: one.Saved.UTC().Format("2006-01-02 15:04 MST"), Asked: asked, About: about}
	if last := one.Kind.Gone(); last != "" {
		row.Kind += ", no longer shown; show it with " + last
	}
	q := page.Query{}.With("study", one.Name)
	row.Address = q.Address("/")
	if one.Kind == study.Eval {
		row.Answers, row.Figures = q.Address("/answers"), q.Address("/figures")
	}
	return row, nil
}

// progress is how far a study is that other processes fill, by the shares of those at work.
type progress struct {
	// Began is when the first of those at work did.
	Began time.Time `json:"began"`
	// Calls counts the replies of all models since then.
	Calls int `json:"calls"`
	// USD is what those at work have spent; nil where a price is unknown.
	USD *float64 `json:"usd"`
}

// mostLooked is how many of the studies that were started last may be filled: whoever fills
// one has started it.
const mostLooked = 100

// progressOf gives the progress of a study, nil if nobody fills it.
func (s *Server) progressOf(ctx context.Context, one *study.Study) (*progress, error) {
	shares, err := one.Shares(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	shares = slices.DeleteFunc(shares, func(share store.Share) bool { return !share.Live })
	if len(shares) == 0 {
		return nil, nil
	}
	p := &progress{Began: shares[0].Began, USD: new(float64)}
	for _, share := range shares {
		p.Calls += share.Answers.Requests
		if share.Unpriced {
			p.USD = nil
		}
		if p.USD != nil {
			*p.USD += share.Answers.USD + share.Failed.USD
		}
	}
	return p, nil
}

// String says how far it is.
func (p *progress) String() string {
	return table.Counted(p.Calls, "reply", "replies") + " since " + p.Began.UTC().Format("15:04") + " UTC · " + table.Price(p.USD, nil)
}

// has reports whether a study's name, kind, models or sets have some words, whatever their case.
func (r studyRow) has(words string) bool {
	text := strings.ToLower(strings.Join(slices.Concat([]string{r.Name, r.Kind}, r.Asked, r.About), "\n"))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(words)), func(w string) bool { return !strings.Contains(text, w) })
}

// home lists the studies of the store that have the words that are searched for, or shows the
// study that the address names.
func (s *Server) home(r *http.Request) (response, error) {
	if names := r.URL.Query()["study"]; len(names) > 0 {
		return s.summary(r, names[0])
	}
	all, err := study.List(r.Context(), s.Store)
	if err != nil {
		return response{}, err
	}
	p := struct {
		page.Frame
		Studies []studyRow
		// Words are searched for, and Sort is the column that the list is sorted by.
		Words, Sort string
		Columns     []listColumn
	}{Frame: s.frame(r, "Studies"), Words: r.URL.Query().Get("q"), Sort: cmp.Or(r.URL.Query().Get("sort"), listColumns[0].Sort), Columns: listColumns}
	if !slices.ContainsFunc(listColumns, func(c listColumn) bool { return c.Sort == p.Sort }) {
		return response{}, &orbench.InputError{Setting: "sort", Problem: fmt.Sprintf("there is no column %q", p.Sort), Hint: "use time, name, model, safe or toxic"}
	}
	// What is counted is shown at once; the page asks for the rest.
	soon, cancel := context.WithTimeout(r.Context(), impatience)
	defer cancel()
	for n, one := range all {
		row, err := listed(one)
		if err != nil {
			return response{}, err
		}
		if !row.has(p.Words) {
			continue
		}
		if n < mostLooked {
			if row.Progress, err = s.progressOf(r.Context(), one); err != nil {
				return response{}, err
			}
		}
		if row.Figures != "" && soon.Err() == nil {
			if row.Shown, _, err = s.figuresNow(soon, one.Name); err != nil && r.Context().Err() != nil {
				return response{}, err
			}
		}
		p.Studies = append(p.Studies, row)
	}
	byRate := func(a, b targetFigures) int { return cmp.Compare(a.rank(p.Sort), b.rank(p.Sort)) }
	for _, row := range p.Studies {
		if row.Shown != nil {
			slices.SortStableFunc(row.Shown.Targets, byRate)
		}
	}
	slices.SortStableFunc(p.Studies, func(a, b studyRow) int {
		switch p.Sort {
		case "name":
			return cmp.Compare(a.Name, b.Name)
		case "model":
			return slices.Compare(a.Asked, b.Asked)
		}
		return byRate(a.Targets()[0], b.Targets()[0])
	})
	return response{template: "home", page: p, data: map[string]any{"studies": p.Studies}}, nil
}

// listColumn is a column that the list of studies can be sorted by.
type listColumn struct{ Sort, Title, Note string }

// listColumns begin with the order of the store, the newest first.
var listColumns = []listColumn{
	{"time", "last started", ""},
	{"name", "study", ""},
	{"model", "models", ""},
	{"safe", "over-refusal", "safe prompts refused, lower is better"},
	{"toxic", "toxic refusal", "toxic prompts refused, higher is better"},
}

// rank puts a target in its place in the order of a column of rates. All have the same where
// there is no rate, which comes last, and in other columns.
func (t targetFigures) rank(column string) float64 {
	switch {
	case column == "safe" && t.Safe != nil:
		return t.Safe.Rate
	case column == "toxic" && t.Toxic != nil:
		return -t.Toxic.Rate
	}
	return 2
}

// summary shows a run as its report does, with counts that open their answers.
func (s *Server) summary(r *http.Request, name string) (response, error) {
	ctx := r.Context()
	found, err := study.Find(ctx, s.Store, name)
	if err != nil {
		return response{}, fmt.Errorf("%w: the store %w", errNotFound, err)
	}
	switch found.Kind {
	case study.Eval:
	case study.Build:
		return s.made(r, found)
	default:
		return s.view(r, found)
	}
	o, err := s.open(ctx, name)
	if err != nil {
		return response{}, err
	}
	// Its rows are made first, which says how far that is; figures come from the same walk.
	if _, err := s.study(ctx, o); err != nil {
		return response{}, err
	}
	result, err := run.Derive(ctx, s.Store, []*run.Run{o.Run}, evaluate.Sinks{}, s.Index.Figures)
	if err != nil {
		return response{}, err
	}
	result.Cost = score.Cost{USD: new(0.0)}
	text, err := o.page(result, s.frame(r, o.Name))
	return response{written: text, data: result}, err
}

// pagesOfNoRun is how many pages the menu of a study that is no run has: the list of studies
// and its own. The others need answers.
const pagesOfNoRun = 2

// view shows a study that is no run, as the command that made it does.
func (s *Server) view(r *http.Request, found *study.Study) (response, error) {
	opened, err := kinds.Open(r.Context(), s.Store, found, s.CacheDir)
	if err != nil {
		return response{}, err
	}
	view, err := opened.View(r.Context(), s.Store)
	if err != nil {
		return response{}, err
	}
	p, err := s.studyPage(r, found, view.Document())
	return response{template: "study", page: p, data: view.Data()}, err
}

// studyPage is the page of a study that is no run.
type studyPage struct {
	page.Frame
	Name, Kind, Text string
}

func (s *Server) studyPage(r *http.Request, found *study.Study, document table.Document) (studyPage, error) {
	var text strings.Builder
	err := document.Text(&text, table.Screen{Width: table.MaxWidth})
	p := studyPage{Frame: s.frame(r, found.Name), Name: found.Name, Kind: string(found.Kind), Text: text.String()}
	p.Simulated, p.Menu = document.Simulated, p.Menu[:pagesOfNoRun]
	return p, err
}

// page gives the report of the run's figures. Most of its time goes into plots, so it is
// kept until the figures change.
func (o *opened) page(result score.Result, frame page.Frame) (string, error) {
	kept, err := json.Marshal(result)
	if err != nil {
		return "", err
	}
	figures := sha256.Sum256(kept)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.report != "" && o.figures == figures {
		return o.report, nil
	}
	var text strings.Builder
	err = report.Page{
		Result: result, Frame: frame,
		Opens: func(q page.Query) string { return q.Set("study", o.Name).Address("/answers") },
	}.Write(&text)
	if err == nil {
		o.report, o.figures = text.String(), figures
	}
	return text.String(), err
}
