package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// peoplesLabels is used as the name of a judge for the people who labeled some
// of the answers.
const peoplesLabels = "people's labels"

// byPeople ends the title of a matrix in which a star marks the rates by people's labels.
const byPeople = "; * by people's labels"

// ofRates is the name of the matrix.
const ofRates = "rates"

// rankHead is the head of its columns of ranks.
const rankHead = "rank"

// matrix is the table that is read first: targets down, sets across, and for each what is
// refused, with one range, by people's labels or by the first judge. The best target is
// first. It has a row for each judge of a target if byJudge is set, or if rates are by different
// judges, and each judge in a cell if judges is. It has no rows if there are no rates.
func matrix(r score.Result, byJudge, judges bool) laidOut {
	ranked := contests(r)
	place := map[string]float64{}
	for _, c := range ranked {
		for _, at := range c {
			place[nameOf(at.run)] += at.by
		}
	}
	people := map[orbench.Label]table.Names{}
	for i := range r.Runs {
		if f, ok := r.Runs[i].Best(); ok {
			by := people[f.Label]
			by.Add(cmp.Or(f.Judge, peoplesLabels))
			people[f.Label] = by
		}
	}
	for _, by := range people {
		// No title can say by which of two judges each rate is.
		byJudge = byJudge || !judges && len(by) > 1 && (len(by) > 2 || !slices.Contains(by, peoplesLabels))
	}
	l := layout{name: ofRates, rows: []string{"target"}, across: []string{"dataset"}, judges: judges}
	l.order = func(a, b line) int {
		return cmp.Compare(place[a[0]], place[b[0]])
	}
	if byJudge {
		l.rows, l.order, ranked = append(l.rows, "judge"), nil, nil
	}
	for _, label := range r.Labels() {
		mixed := len(people[label]) > 1 && slices.Contains(people[label], peoplesLabels) && !byJudge
		l.columns = append(l.columns, column{measures: rates, label: label, head: string(label) + " refused", spare: true, show: shown(func(f *figure.Figure) string {
			text := value(f)
			if mixed && f.Judge == "" {
				text += "*"
			}
			return text + " " + table.Pad("("+rangeOf(f)+")", 12, true)
		})})
	}
	best, _ := rankedBy(r.Labels())
	l.columns = append(l.columns, column{measures: rates, label: best, head: rankHead, spare: true, weak: true, show: shown(func(f *figure.Figure) string {
		for _, c := range ranked {
			for _, at := range c {
				if at.run.Scope("") == scopeOf(f.Keys) && at.run.Target == f.Target {
					return at.String()
				}
			}
		}
		return table.None
	})})
	all := l.tables(r, slices.DeleteFunc(r.All(), func(f figure.Figure) bool { return !slices.Contains(rates, f.Measure) || f.Category != "" }))
	if len(all) == 0 {
		return laidOut{}
	}
	t := all[0]
	if judges {
		for label := range people {
			people[label] = table.Names{strings.Join(r.Judges(), " / ")}
		}
	}
	t.head(r, people)
	t.Note = strings.TrimSpace(rangeNote(t.figures()) + " " + characters(r))
	return t
}

// head gives the matrix its title, and the sets their numbers of prompts.
func (t *laidOut) head(r score.Result, by map[orbench.Label]table.Names) {
	var targets, bases, runs table.Names
	for _, run := range r.Runs {
		runs.Add(run.Run)
		targets.Add(run.TargetCaption())
		bases.Add(run.Model())
	}
	t.Title = table.Counted(len(bases), "target", "targets")
	switch {
	case len(targets) == 1:
		t.Title = nameOf(&r.Runs[0])
	case len(bases) == 1 && len(runs) == len(targets):
		t.Title = table.Count(len(runs)) + " runs of " + bases[0]
	case len(bases) == 1:
		t.Title = table.Count(len(targets)) + " ways of asking " + bases[0]
	case len(bases) < len(targets):
		t.Title = table.Count(len(targets)) + " ways of asking " + t.Title
	}
	at := t.Left
	for g := range t.Groups {
		var counts []string
		for k := range t.Groups[g].Columns {
			lo, hi, what := math.MaxInt, 0, ""
			for _, row := range t.at {
				if f := row[at+k]; f != nil && t.Header[at+k] != rankHead {
					lo, hi, what = min(lo, f.N), max(hi, f.N), cmp.Or(what, " "+string(f.Label))
					if f.Samples > 0 {
						what = " answers to " + string(f.Label)
					}
				}
			}
			switch {
			case lo < hi:
				counts = append(counts, table.Count(lo)+"–"+table.Count(hi)+what)
			case lo == hi:
				counts = append(counts, table.Count(lo)+what)
			}
		}
		if len(counts) > 0 {
			t.Groups[g].Name += ": " + strings.Join(counts, " and ") + " prompts"
		}
		at += t.Groups[g].Columns
	}
	if t.Sets = t.Groups; len(t.Groups) == 1 {
		t.Title += " on " + t.Groups[0].Name
		t.Groups = nil
	} else {
		t.Title += " on " + table.Count(len(t.Groups)) + " sets"
	}
	if t.Left > 1 {
		return // the judges are in the rows
	}
	var all table.Names
	for _, label := range r.Labels() {
		all.Add(by[label]...)
	}
	switch {
	case len(all) == 1:
		t.Title += ", judged by " + all[0]
	case !slices.ContainsFunc(r.Labels(), func(l orbench.Label) bool { return len(by[l]) != 1 }):
		parts := table.RowsOf(r.Labels(), func(l orbench.Label) string { return by[l][0] + " (" + string(l) + ")" })
		t.Title += ", judged by " + strings.Join(parts, ", ")
	case len(all) > 1:
		t.Title += ", judged by " + joined(slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == peoplesLabels })) + byPeople
	}
}

// ratesBy are the rates by a judge, whatever people say.
func ratesBy(r score.Result, judge string) laidOut {
	alone, _ := Choice{Judges: []string{judge}}.Of(r)
	alone.Unlabel()
	return matrix(alone, false, false)
}

// characters says of each published set how it differs from others, where that is known.
func characters(r score.Result) string {
	var known table.Names
	for _, run := range r.Runs {
		if e, _ := dataset.Named(run.Dataset); e.Character != "" {
			known.Add(e.Name + " is " + e.Character + ".")
		}
	}
	return strings.Join(known, " ")
}

// rank is the place of a target among others: from first to last, as far as the
// ranges decide.
type rank struct {
	run         *score.RunResult
	first, last int
	// by is the value that targets are ordered by, lowest first.
	by float64
}

func (r rank) String() string {
	if r.first == r.last {
		return table.Count(r.first)
	}
	return table.Count(r.first) + "–" + table.Count(r.last)
}

// scopeOf are the keys of the prompts of figures.
func scopeOf(k figure.Keys) figure.Keys {
	k.Target, k.Other, k.Judge = "", "", ""
	return k
}

// contests rank the targets that were asked the same prompts: by over-refusal, lowest first, or by
// toxic refusal, highest first, if no safe prompt was asked. Variants of one target are no
// different models, and rates that rest on different bases have no order: they are not ranked.
// A target is placed before another only if the two are told apart (see figure.Figure.Apart),
// so a rank is a range. Each contest is in the order of the rates.
func contests(r score.Result) (all [][]rank) {
	label, sign := rankedBy(r.Labels())
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Label == label {
			c := table.Entry(&all, nil, func(c []rank) bool { return c[0].run.Scope("") == run.Scope("") })
			*c = append(*c, rank{run: run})
		}
	}
	return slices.DeleteFunc(all, func(c []rank) bool { return !decide(c, r, sign) })
}

// decide ranks targets, if they can be.
func decide(c []rank, r score.Result, sign float64) bool {
	var rates []score.Contender
	bases := map[string]bool{}
	for i := range c {
		of, ok := c[i].run.Contender()
		base := c[i].run.Model()
		if !ok || bases[base] {
			return false
		}
		bases[base], rates = true, append(rates, of)
		c[i].first, c[i].last, c[i].by = 1, len(c), sign**of.Value
	}
	if len(c) < 2 || !score.OneBasis(rates) {
		return false
	}
	slices.SortStableFunc(c, func(a, b rank) int { return cmp.Compare(a.by, b.by) })
	for i := range c {
		for j := range c {
			if pair := pairOf(r, c[i].run, c[j].run); pair == nil || !pair.Apart() {
				continue
			}
			if c[j].by < c[i].by {
				c[i].first++
			} else {
				c[i].last--
			}
		}
	}
	return true
}

// rankedBy returns the label whose rate ranks targets, and 1 if the lowest rate
// is the best or -1 if the highest is.
func rankedBy(labels []orbench.Label) (label orbench.Label, sign float64) {
	if slices.Contains(labels, orbench.Safe) {
		return orbench.Safe, 1
	}
	return orbench.Toxic, -1
}

// pairOf returns how two targets are ordered on the prompts of a run; nil if they are not
// compared.
func pairOf(r score.Result, one, other *score.RunResult) *figure.Figure {
	if one.Scope("") != other.Scope("") {
		return nil
	}
	for f := range figure.Of(r.Figures, figure.Difference) {
		if scopeOf(f.Keys) == one.Scope("") && (f.Target == one.Target && f.Other == other.Target || f.Target == other.Target && f.Other == one.Target) {
			return f
		}
	}
	return nil
}
