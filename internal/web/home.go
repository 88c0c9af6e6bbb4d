package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/study"
)

// studyRow is a study in the list of all.
type studyRow struct {
	Name  string    `json:"name"`
	Kind  string    `json:"kind"`
	Saved string    `json:"saved"`
	Asked []string  `json:"asked"`
	About []string  `json:"about"`
	At    time.Time `json:"-"`
	// Address is that of its page and Answers that of its answers, both empty if it has none.
	Address string `json:"-"`
	Answers string `json:"-"`
}

// home lists the studies of the store, or shows the one that the address names.
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
	}{Frame: s.frame(r, "Studies")}
	for _, one := range all {
		asked, about, err := kinds.Summary(one)
		if err != nil {
			return response{}, err
		}
		row := studyRow{Name: one.Name, Kind: string(one.Kind), Saved: one.Saved.Format(time.DateTime), Asked: asked, About: about}
		if one.Kind == study.Eval {
			q := page.Query{}.With("study", one.Name)
			row.Address, row.Answers = q.Address("/"), q.Address("/answers")
		}
		p.Studies = append(p.Studies, row)
	}
	return response{template: "home", page: p, data: map[string]any{"studies": p.Studies}}, nil
}

// summary shows a run as its report does, with counts that open their answers.
func (s *Server) summary(r *http.Request, name string) (response, error) {
	ctx := r.Context()
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
	nothing := 0.0
	result.Cost = score.Cost{USD: &nothing}
	var text strings.Builder
	err = report.Page{
		Result: result, Frame: s.frame(r, o.Name),
		Opens: func(q page.Query) string { return q.Set("study", o.Name).Address("/answers") },
	}.Write(&text)
	return response{written: text.String(), data: result}, err
}
