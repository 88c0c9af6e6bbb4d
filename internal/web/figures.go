package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/facet"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// summed is the figures of a run as they were when the store had so much.
type summed struct {
	result score.Result
	// reasons says why calls failed.
	reasons []reason
	last    store.Mark
	said    int
	failed  int
}

// figuresRow is the figures of a run in the list of studies.
type figuresRow struct {
	Study   string          `json:"study"`
	Judge   string          `json:"judge"`
	Targets []targetFigures `json:"targets"`
	// Of counts the answers that were asked for, and Counts what became of them.
	Of     int       `json:"of"`
	Counts []countOf `json:"counts"`
	// Reasons says why calls failed, as far as they depend on no reply.
	Reasons []reason `json:"reasons,omitempty"`
	// Waiting says how far the figures are where they are not counted.
	Waiting string `json:"waiting,omitempty"`
	// Cost is that of the whole run.
	Cost string   `json:"-"`
	USD  *float64 `json:"usd"`
}

// countOf is how many answers have a status, as the parameter of that name has it.
type countOf struct {
	Status  string `json:"status"`
	N       int    `json:"n"`
	Address string `json:"-"`
}

// Word is the status for people.
func (c countOf) Word() string {
	switch score.Status(c.Status) {
	case score.ServedByOther:
		return "answered by another model"
	case score.Blocked:
		return "withheld"
	case facet.Cut:
		return "of them cut"
	}
	return c.Status
}

// targetFigures are both rates of a target, nil where there is none.
type targetFigures struct {
	// Target is its name, with the dataset where there are several.
	Target    string     `json:"target"`
	Safe      *rateShown `json:"safe"`
	Toxic     *rateShown `json:"toxic"`
	Simulated bool       `json:"simulated"`
}

// rateShown is a rate by people's labels, from as many on as replace the judge's, or by the first
// judge.
type rateShown struct {
	Rate float64 `json:"rate"`
	// Lo and Hi are the range for a new model, with the judge's error where it is known.
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
	N  int     `json:"n"`
	// Labels is how many labels it is by, 0 for a judge's.
	Labels int `json:"labels,omitempty"`
	// Range is the range for people, or why there is none.
	Range string `json:"-"`
}

// Text is the rate for people, in per cent.
func (r rateShown) Text() string { return table.Percent(r.Rate) }

// mostTargets is how many targets of a run the list shows.
const mostTargets = 6

// figures gives the figures of a run for the list of studies.
func (s *Server) figures(r *http.Request) (response, error) {
	q, err := page.ParseQuery(r.URL.Query())
	if err != nil {
		return response{}, err
	}
	one, err := study.Find(r.Context(), s.Store, q.Get("study"))
	if err != nil {
		return response{}, fmt.Errorf("%w: the store %w", errNotFound, err)
	}
	row, err := listed(one)
	if err != nil {
		return response{}, err
	}
	row.Shown, row.Waiting, err = s.figuresNow(r.Context(), one.Name)
	if err != nil {
		return response{}, err
	}
	data := cmp.Or(row.Shown, &figuresRow{Study: row.Name, Waiting: row.Waiting})
	return response{template: "figures", page: row, data: data}, nil
}

// figuresNow gives the figures of a run, or how far they are where they are not counted.
func (s *Server) figuresNow(ctx context.Context, name string) (shown *figuresRow, wait string, err error) {
	o, err := s.open(ctx, name)
	if err != nil {
		return nil, "", err
	}
	sum, err := s.sum(ctx, o)
	if w, ok := err.(waiting); ok {
		return nil, w.progress, nil
	}
	if err != nil {
		return nil, "", err
	}
	row := figuresOf(o.Name, sum.result)
	row.Reasons = sum.reasons
	return &row, "", nil
}

// sum derives the figures of a run, if anything arrived since they were derived last.
func (s *Server) sum(ctx context.Context, o *opened) (summed, error) {
	now, err := s.state(ctx)
	if err != nil {
		return summed{}, err
	}
	if kept, ok := o.sum.done(); ok && (kept.last != now.last || kept.said != now.said || kept.failed != now.failed) {
		o.sum.forget()
	}
	return get(ctx, s, &o.sum, "counting the answers of "+o.Name, o.Prompts()*o.AnswersPerPrompt(), func(ctx context.Context, walked func(int)) (summed, error) {
		// One at a time: the list asks for those of all runs.
		s.summing.Lock()
		defer s.summing.Unlock()
		of, err := s.state(ctx)
		if err == nil {
			of.result, err = run.Derive(ctx, s.Store, []*run.Run{o.Run}, evaluate.Sinks{Walked: walked}, s.Index.Figures)
		}
		if err == nil && slices.ContainsFunc(of.result.Runs, func(r score.RunResult) bool { return r.Failed > 0 }) {
			of.reasons, err = s.reasons(ctx, o)
		}
		return of, err
	})
}

// reason is why calls failed.
type reason struct {
	Kind model.Kind `json:"kind"`
	N    int        `json:"n"`
	// Example is what one of them said.
	Example string `json:"example"`
}

// Word is the kind for people.
func (r reason) Word() string {
	if r.Kind == model.Transient {
		return "may work if asked again"
	}
	return page.Spaced(r.Kind)
}

// Said is the example without the model and the kind, cut to a line.
func (r reason) Said() string {
	said := r.Example
	if _, after, ok := strings.Cut(said, string(r.Kind)+": "); ok {
		said = after
	}
	return untrusted.Excerpt(said, 100)
}

// reasons counts by kind why calls of a run failed that depend on no reply, the most
// frequent first.
func (s *Server) reasons(ctx context.Context, o *opened) ([]reason, error) {
	failures, err := s.Store.AllFailures(ctx)
	if err != nil {
		return nil, err
	}
	failed := map[model.Hash]store.Failure{}
	for _, f := range failures {
		failed[f.Hash] = f
	}
	opened, err := kinds.Open(ctx, s.Store, o.Study, s.CacheDir)
	if err != nil || opened.Job.Fixed == nil {
		return nil, err
	}
	var all []reason
	for request, err := range opened.Job.Fixed(ctx) {
		if err != nil {
			return nil, err
		}
		h := request.Hash()
		if f, ok := failed[h]; ok {
			delete(failed, h) // a call may be known twice
			table.Entry(&all, reason{Kind: f.Kind, Example: f.Message}, func(r reason) bool { return r.Kind == f.Kind }).N++
		}
	}
	slices.SortStableFunc(all, func(a, b reason) int { return b.N - a.N })
	return all, nil
}

// state is how much the store has.
func (s *Server) state(ctx context.Context) (now summed, err error) {
	marks, err := s.Store.Marks(ctx, []int64{math.MaxInt64})
	if err != nil {
		return now, err
	}
	said, err := s.Store.Annotations(ctx)
	if err != nil {
		return now, err
	}
	failures, err := s.Store.AllFailures(ctx)
	if err != nil {
		return now, err
	}
	return summed{last: marks[0], said: len(said), failed: len(failures)}, nil
}

// figuresOf lays out the figures of a run.
func figuresOf(name string, result score.Result) figuresRow {
	row := figuresRow{Study: name, Targets: []targetFigures{}}
	counts := []countOf{{Status: string(score.Answered)}, {Status: facet.Cut}, {Status: string(score.Blocked)}, {Status: string(score.ServedByOther)}, {Status: string(score.Failed)}, {Status: string(score.Unanswered)}}
	for _, of := range result.Runs {
		row.Of += of.N
		for i, n := range []int{of.Answered, of.Truncated, of.Blocked, of.ServedByOther, of.Failed, of.Unanswered} {
			counts[i].N += n
		}
	}
	for _, c := range counts {
		if c.N > 0 {
			c.Address = page.Query{}.With("study", name, "status", c.Status).Address("/answers")
			row.Counts = append(row.Counts, c)
		}
	}
	if made := result.Provenance.Runs; len(made) == 1 {
		row.USD, row.Cost = made[0].Cost.USD, table.Price(made[0].Cost.USD, nil)
	}
	if judges := result.Judges(); len(judges) > 0 {
		row.Judge = judges[0]
	}
	for _, p := range result.Pairs() {
		if p.Judge == row.Judge {
			row.Targets = append(row.Targets, targetFigures{p.Name, rateOf(p.Safe), rateOf(p.Toxic), p.Simulated})
		}
	}
	return row
}

func rateOf(s *score.Side) *rateShown {
	if !s.Defined() {
		return nil
	}
	f := s.Run.Rate(&s.Judge)
	if best, ok := s.Run.Best(); ok && best.Judge == "" {
		f = best
	}
	e := f.Shown()
	shown := &rateShown{Rate: e.Value, Lo: e.Lo, Hi: e.Hi, N: f.N, Range: table.Interval(&[2]float64{e.Lo, e.Hi})}
	switch {
	case f.Judge == "":
		shown.Labels, shown.Range = f.Labels, shown.Range+" by "+table.Counted(f.Labels, "label", "labels")
	case f.Rare():
		shown.Range = "not known"
	case f.Range == nil:
		shown.Range = "not checked"
	}
	return shown
}
