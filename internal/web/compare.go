package web

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
)

// The values of the parameter flip of the page that compares.
const (
	newlyRefused  = "newly_refused"
	newlyAnswered = "newly_answered"
)

// comparePage is the page of two sides compared.
type comparePage struct {
	page.Frame
	Said compare.Result
	// Ages says when the answers of both runs were made, in UTC.
	Ages    string
	Metrics []comparedMetric
	// Chosen is the number of flips that the address chooses, of All. Chips choose others.
	Chosen, All string
	Chips       []page.Link
	Groups      []flipGroup
	Next        string
	// Swapped is the address of the comparison the other way round.
	Swapped string
	// Left is how many more flips a file has, in Beside; empty on a page that is served.
	Left, Beside string
}

// comparedMetric is a rate of both sides, in all and by category.
type comparedMetric struct {
	Label orbench.Label
	// Word is the first word of the verdict, and Rest the others.
	Word, Rest string
	Account    string
	All        comparedRow
	Categories []comparedRow
}

// comparedRow is a row of figures.
type comparedRow struct {
	Name                               string
	N, Base, Candidate, Difference, CI string
	// Range is that with the judge's error, of a whole metric alone, and Holm
	// the corrected p-value, of a category alone.
	Range, P, Holm string
	// Flips count the newly refused and the newly answered, with the address of each; both are
	// without one where nothing is paired.
	Flips [2]page.Link
}

// flipGroup is flips of one label and direction.
type flipGroup struct {
	Title, Anchor string
	Rows          []page.Row
}

// compared is a comparison that an address asks for.
type compared struct {
	// studies are those of the sides, and sides their runs with the one target that is
	// compared.
	studies        [2]*opened
	sides          [2]*run.Run
	judge, against string
}

// comparedKey identifies a comparison that was made: rows that are derived anew are others.
type comparedKey struct {
	rows           [2]*index.Study
	targets        [2]string
	judge, against string
	// said is how many annotations the store had.
	said int
}

// mostCompared is how many comparisons are kept.
const mostCompared = 4

// compare compares two studies, or two targets of one, or two judges.
func (s *Server) compare(r *http.Request) (response, error) {
	ctx := r.Context()
	values := r.URL.Query()
	if values.Get("base") == "last" {
		// The list of studies has the newest first, which is not the base.
		values.Del("base")
		slices.Reverse(values["study"])
		return response{redirect: page.Query(values).Address("/compare")}, nil
	}
	flip := values.Get("flip")
	values.Del("flip")
	q, err := page.ParseQuery(values)
	if err != nil {
		return response{}, err
	}
	if flip != "" && flip != newlyRefused && flip != newlyAnswered {
		return response{}, &orbench.InputError{Setting: "flip", Problem: fmt.Sprintf("%q is no way in which prompts flip", flip), Hint: "use " + newlyRefused + " or " + newlyAnswered}
	}
	q = q.With("flip", flip)
	after, err := afterOf(q)
	if err != nil {
		return response{}, err
	}
	of, choice, err := s.sides(ctx, q)
	if err != nil {
		return response{}, err
	}
	if choice != nil {
		choice.Frame = s.frame(r, "Compare")
		return response{template: "choose", page: choice, data: map[string]any{"choices": choice.Sides}}, nil
	}
	result, err := s.result(ctx, of)
	if err != nil {
		return response{}, err
	}
	in := func(name, value string) bool { return len(q[name]) == 0 || q.Has(name, value) }
	var chosen []compare.Flip
	for _, f := range result.Flips.Shown {
		if in("flip", flipOf(f)) && in("label", string(f.Prompt.Label)) && in("category", table.Category(f.Prompt.Category)) {
			chosen = append(chosen, f)
		}
	}
	all := q.Without("after", "flip", "label", "category")
	p := newComparePage(result, func(flip, label, category string) string {
		return all.With("flip", flip, "label", label, "category", category).Address("/compare") + "#flips"
	})
	p.Frame, p.Chosen = s.frame(r, "Compare"), table.Count(len(chosen))
	p.Simulated = result.Simulated
	swapped := all.With()
	for _, values := range swapped {
		slices.Reverse(values)
	}
	p.Swapped = swapped.Address("/compare")
	p.chips(result, q)
	more := ""
	if last := after + compare.ShownFlips; last < len(chosen) {
		more = q.Set("after", strconv.Itoa(last)).Address(r.URL.Path)
		p.Next = more + "#flips"
	}
	shown := chosen[min(after, len(chosen)):]
	shown = slices.Clone(shown[:min(compare.ShownFlips, len(shown))])
	said, err := s.Store.Annotations(ctx)
	if err != nil {
		return response{}, err
	}
	if p.Groups, err = groupFlips(ctx, s.Store, of, result, shown, annotation.NewWords(said)); err != nil {
		return response{}, err
	}
	if err := compare.AddAnswers(ctx, s.Store, of.sides, shown); err != nil {
		return response{}, err
	}
	result.Flips.Shown = shown
	data := struct {
		compare.Result
		Next string `json:"next,omitempty"`
	}{result.Data().(compare.Result), more}
	return response{template: "compare", page: p, data: data}, nil
}

// sides opens what a query compares. choice is what it leaves open; nil for nothing.
func (s *Server) sides(ctx context.Context, q page.Query) (of compared, choice *choosePage, err error) {
	names, targets, judges := q["study"], q["target"], q["judge"]
	if len(names) > 2 || len(targets) > 2 || len(judges) > 2 {
		return of, nil, &orbench.InputError{Setting: "study", Problem: "two sides are compared", Hint: "name at most two studies, targets and judges"}
	}
	if len(names) == 2 && names[0] == names[1] && len(judges) < 2 {
		names = names[:1]
	}
	if len(names) == 0 {
		choice, err = s.chooseStudies(ctx, "")
		return of, choice, err
	}
	if len(judges) > 0 {
		of.judge = judges[0]
	}
	if len(judges) == 2 {
		of.against = judges[1]
	}
	open := false
	for i := range of.sides {
		if of.studies[i], err = s.open(ctx, names[min(i, len(names)-1)]); err != nil {
			return of, nil, err
		}
		one := of.studies[i].Run
		has := one.Config.TargetNames()
		switch {
		case len(targets) > 0:
			name := targets[min(i, len(targets)-1)]
			all := one
			if one = all.Only(name); one == nil {
				return of, nil, &orbench.InputError{Setting: "target", Problem: fmt.Sprintf("%s has no target %q", all.Name, name), Hint: "it has " + strings.Join(has, ", ")}
			}
		case len(one.Targets) > 1:
			open = true
		}
		of.sides[i] = one
	}
	alone := len(names) == 1 && of.against == ""
	switch {
	case alone && len(targets) < 2 && len(of.studies[0].Run.Targets) < 2:
		choice, err = s.chooseStudies(ctx, of.studies[0].Name)
		return of, choice, err
	case open, alone && len(targets) < 2:
		return of, chooseTargets(of.studies, names), nil
	}
	return of, nil, nil
}

// result compares, or finds what was compared before.
func (s *Server) result(ctx context.Context, of compared) (compare.Result, error) {
	said, err := s.Store.Annotations(ctx)
	if err != nil {
		return compare.Result{}, err
	}
	key := comparedKey{judge: of.judge, against: of.against, said: len(said)}
	for i, o := range of.studies {
		if key.rows[i], err = s.study(ctx, o); err != nil {
			return compare.Result{}, err
		}
		key.targets[i] = of.sides[i].Targets[0].Name
	}
	s.mu.Lock()
	if s.compared[key] == nil && len(s.compared) >= mostCompared {
		clear(s.compared)
	}
	t := table.At(s.compared, key)
	s.mu.Unlock()
	what := "comparing " + of.sides[0].Name + " and " + of.sides[1].Name
	total := of.sides[0].Prompts() + of.sides[1].Prompts()
	return get(ctx, s, t, what, total, func(ctx context.Context, walked func(int)) (compare.Result, error) {
		c, err := compare.Between(of.sides, of.judge, of.against)
		if err != nil {
			return compare.Result{}, err
		}
		result, err := c.Runs(ctx, s.Store, of.sides, compare.Options{Seed: 1, Walked: walked}, s.Index.OfTarget)
		if err == nil {
			result.Provenance.Program = s.Program
		}
		return result, err
	})
}

// flipOf is the value of the parameter flip that chooses a flip.
func flipOf(f compare.Flip) string {
	if f.NowRefused() {
		return newlyRefused
	}
	return newlyAnswered
}

// newComparePage lays out the figures of a comparison. Each count of flips opens them at an
// address by direction, label and category.
func newComparePage(r compare.Result, address func(flip, label, category string) string) *comparePage {
	p := &comparePage{Said: r, Ages: r.Provenance.Ages("Answers", time.UTC), All: table.Count(r.Flips.Total)}
	for _, m := range r.Metrics {
		row := func(name, category string, f compare.Figures) comparedRow {
			row := comparedRow{
				Name: name, N: table.Count(f.Base.N), Base: table.Rate(f.Base.Rate), Candidate: table.Rate(f.Candidate.Rate),
				Difference: table.Difference(f.Difference, table.Hyphen), CI: table.DifferenceInterval(f.Difference, table.Hyphen),
				P: table.PValue(f.P), Holm: table.PValue(f.PHolm),
			}
			if f.Base.N != f.Candidate.N {
				row.N += " / " + table.Count(f.Candidate.N)
			}
			for k, n := range []int{f.OnlyCandidateRefused, f.OnlyBaseRefused} {
				row.Flips[k].Text = table.Count(n)
				if n > 0 && r.Paired {
					row.Flips[k].Address = address([]string{newlyRefused, newlyAnswered}[k], string(m.Label), category)
				}
			}
			return row
		}
		of := comparedMetric{Label: m.Label, Account: r.Account(m), All: row(string(m.Label)+" refused", "", m.Figures)}
		of.Word, of.Rest, _ = strings.Cut(r.Verdict(m), " ")
		of.All.Range = r.Range(m)
		for _, c := range m.ByCategory {
			if len(m.ByCategory) == 1 && c.Category == "" {
				break // the dataset has no categories
			}
			name := table.Category(c.Category)
			of.Categories = append(of.Categories, row(name, name, c))
		}
		p.Metrics = append(p.Metrics, of)
	}
	return p
}

// chips adds the links to the flips of each direction and label, and away from those of one
// category.
func (p *comparePage) chips(r compare.Result, q page.Query) {
	if r.Flips.Total == 0 {
		return
	}
	all := q.Without("after", "flip", "label", "category")
	here := func(of page.Query) bool { return q.Get("flip") == of.Get("flip") && q.Get("label") == of.Get("label") }
	p.Chips = append(p.Chips, page.Link{Text: "all " + p.All, Address: all.Address("/compare") + "#flips", Here: here(all)})
	for _, m := range r.Metrics {
		for _, of := range []struct {
			flip, word string
			n          int
		}{{newlyRefused, p.Said.Flipped(true), m.OnlyCandidateRefused}, {newlyAnswered, p.Said.Flipped(false), m.OnlyBaseRefused}} {
			if of.n > 0 {
				to := all.With("flip", of.flip, "label", string(m.Label))
				p.Chips = append(p.Chips, page.Link{Text: fmt.Sprintf("%s %s %s", table.Count(of.n), m.Label, of.word), Address: to.Address("/compare") + "#flips", Here: here(to)})
			}
		}
	}
	for _, c := range q["category"] {
		p.Chips = append(p.Chips, page.Link{Text: "category: " + c + " ×", Address: q.Without("after").Drop("category", c).Address("/compare") + "#flips"})
	}
}

// groupFlips reads the answers to flips, grouped by label and direction.
func groupFlips(ctx context.Context, m store.Reader, of compared, r compare.Result, flips []compare.Flip, words annotation.Words) (groups []flipGroup, err error) {
	rows, err := compare.Answers(ctx, m, of.sides, flips)
	if err != nil {
		return nil, err
	}
	for i, f := range flips {
		title := fmt.Sprintf("%s prompts %s", strings.ToUpper(string(f.Prompt.Label[:1]))+string(f.Prompt.Label[1:]), r.Flipped(f.NowRefused()))
		if n := len(groups); n == 0 || groups[n-1].Title != title {
			groups = append(groups, flipGroup{Title: title, Anchor: string(f.Prompt.Label) + "-" + flipOf(f)})
		}
		var shown page.Row
		for side, row := range rows[i] {
			if side == 1 && r.OfJudges() {
				break // of the same answer
			}
			a := answerShown(of.sides[side].Name, row, rowIn(of.studies[side].Run, row), page.InList, words)
			a.Matched = f.NowRefused() == (side == 1)
			shown.Add(a)
		}
		g := &groups[len(groups)-1]
		g.Rows = append(g.Rows, shown)
	}
	return groups, nil
}

// rowIn is a row of a run, for one that was read as that of a run with one target.
func rowIn(r *run.Run, row score.AnswerRow) score.AnswerRow {
	name := page.ShownTarget(row)
	for _, t := range r.Targets {
		for _, one := range t.Each() {
			if one.Name == name && t.Times() > 1 {
				row.Variant, row.Sample = t.Name, one.Sample+1
			}
		}
	}
	return row
}

// mostInFile is how many flips a page in a file has.
const mostInFile = 1000

// WriteComparison writes a comparison of two runs, each with the one target that is
// compared, as a page that is a file of its own. beside names the file that has the flips
// which the page leaves out.
func WriteComparison(ctx context.Context, w io.Writer, m store.Reader, sides [2]*run.Run, result compare.Result, beside string) error {
	templates, err1 := parse()
	said, err2 := m.Annotations(ctx)
	err := cmp.Or(err1, err2)
	if err != nil {
		return err
	}
	of := compared{sides: sides, studies: [2]*opened{{Run: sides[0]}, {Run: sides[1]}}}
	flips := result.Flips.Shown
	p := newComparePage(result, func(flip, label, category string) string {
		if category != "" {
			return ""
		}
		return "#" + label + "-" + flip
	})
	p.Frame = page.File(p.Said.Title()+" – orbench", page.Style, page.Script)
	p.Simulated, p.Chosen = result.Simulated, p.All
	if left := len(flips) - mostInFile; left > 0 {
		p.Left, p.Beside = table.Count(left), beside
	}
	if p.Groups, err = groupFlips(ctx, m, of, result, flips[:min(mostInFile, len(flips))], annotation.NewWords(said)); err != nil {
		return err
	}
	for _, g := range p.Groups {
		for _, row := range g.Rows {
			for i := range row.Answers { // a file has no other pages
				a := &row.Answers[i]
				a.Element, a.Raw, a.Elsewhere = a.Anchor(), "", beside
				a.Address = "#" + a.Element
			}
		}
	}
	return templates["compare"].Execute(w, p)
}

// choosePage offers what can be compared.
type choosePage struct {
	page.Frame
	// Name is the parameter that is chosen, once for each side: study or target.
	Name string
	// Hidden is what is chosen already.
	Hidden []page.Hidden
	Sides  []choiceOf
}

// choiceOf is the choice of one side.
type choiceOf struct {
	Title   string   `json:"side"`
	Options []choice `json:"options"`
}

// choice is something that can be chosen.
type choice struct {
	Value string `json:"value"`
	// Text says what it is.
	Text   string `json:"text"`
	Chosen bool   `json:"-"`
}

// chooseStudies offers the runs of the store. The one of a name is chosen as the candidate.
func (s *Server) chooseStudies(ctx context.Context, name string) (*choosePage, error) {
	all, err := run.List(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	p := &choosePage{Name: "study"}
	for i, title := range []string{"Base", "Candidate"} {
		side := choiceOf{Title: title}
		// The newest beside the one before it, or the newest of the others beside that name.
		chosen := 1 - i
		if name != "" {
			chosen = slices.IndexFunc(all, func(one run.Stored) bool { return (one.Name == name) == (i == 1) })
		}
		for n, one := range all {
			text := one.Name + " · " + one.Saved.Format("2 Jan 15:04")
			side.Options = append(side.Options, choice{one.Name, text, n == chosen})
		}
		p.Sides = append(p.Sides, side)
	}
	return p, nil
}

// chooseTargets offers the targets of one study or two.
func chooseTargets(of [2]*opened, names []string) *choosePage {
	p := &choosePage{Name: "target"}
	p.Hidden = table.RowsOf(names, func(name string) page.Hidden { return page.Hidden{Name: "study", Value: name} })
	for i, title := range []string{"Base", "Candidate"} {
		side := choiceOf{Title: title + ", in " + of[i].Name}
		for n, target := range of[i].Config.TargetNames() {
			side.Options = append(side.Options, choice{target, target, len(names) == 1 && n == i})
		}
		p.Sides = append(p.Sides, side)
	}
	return p
}
