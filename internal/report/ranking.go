package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// ranking returns a line for each target, with its rates by people's labels or
// by the first judge. If targets are ranked, the best is first.
func ranking(all []subject, labels []orbench.Label, ranks []rank) table.Section {
	t := table.Section{Header: []string{"target", "dataset", "by"}, Left: 3, WrapNames: true}
	for _, label := range labels {
		t.Header = append(t.Header, "n "+string(label), string(label)+" refused")
		t.Spare = append(t.Spare, "n "+string(label))
	}
	t.Header = append(t.Header, "rank")
	targets, bases := map[string]bool{}, map[string]bool{}
	var withheld noRates
	var rates []figure.Figure
	byPeople := map[orbench.Label]bool{}
	for _, i := range inOrder(all, ranks) {
		s := all[i]
		targets[s.target], bases[s.base] = true, true
		var by, on table.Names
		var cells []string
		for _, label := range labels {
			of := s.rates(label)
			if len(of) == 0 {
				cells = append(cells, table.None, table.None)
				continue
			}
			one, who := of[0], keyCells["judge"](&of[0])
			by.Add(who)
			on.Add(who + " (" + string(label) + ")")
			rates = append(rates, one)
			n := table.Count(one.N)
			if one.Judge == "" {
				n, byPeople[label] = table.Counted(one.Labels, "label", "labels"), true
			}
			cells = append(cells, n, value(&one)+" "+table.Pad("("+rangeOf(&one)+")", 12, true))
			run := s.runs[label]
			if j := run.By(one.Judge); j != nil {
				withheld.add(*j, s.name()+" by "+one.Judge)
			}
		}
		rank := table.None
		if ranks != nil {
			rank = ranks[i].String()
		}
		if len(by) > 1 {
			by = on // one rate is by people, the other by a judge
		}
		t.Add(s.name(), s.dataset, cmp.Or(strings.Join(by, ", "), "none"), cells, rank)
	}
	t.Title = table.Counted(len(bases), "target", "targets")
	switch {
	case len(targets) == 1:
		t.Title = same(&t, "target", "")
	case len(bases) == 1:
		t.Title = table.Count(len(targets)) + " variants of " + all[0].base
	case len(bases) < len(targets):
		t.Title = table.Count(len(targets)) + " variants of " + t.Title
	}
	t.Title += same(&t, "dataset", " on ")
	var counts []string
	for _, label := range labels {
		if byPeople[label] {
			continue // labels are not the prompts that were asked
		}
		if n := same(&t, "n "+string(label), ""); n != "" {
			counts = append(counts, n+" "+string(label))
		}
	}
	if len(counts) > 0 {
		t.Title += ": " + strings.Join(counts, " and ") + " prompts"
		if slices.Contains(t.Header, "dataset") {
			t.Title += " in each set"
		}
	}
	t.Title += same(&t, "by", ", judged by ")
	if ranks == nil {
		same(&t, "rank", "")
		t.Drop(func([]string, int) bool { return true }, "rank")
	}
	t.Note = strings.TrimSpace(rangeNote(rates) + " " + withheld.note())
	return t
}

// inOrder returns the indexes of the subjects, the best first if they are
// ranked.
func inOrder(all []subject, ranks []rank) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	if ranks != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[a].by, ranks[b].by) })
	}
	return order
}

// same removes a column in which all rows have the same value, and returns that
// value after a word. It returns "" and keeps the column if the rows differ or
// are empty.
func same(t *table.Section, column, after string) string {
	at := slices.Index(t.Header, column)
	value := t.Rows[0][at]
	if value == table.None || t.Drop(func(row []string, at int) bool { return row[at] == value }, column) == 0 {
		return ""
	}
	if at < t.Left {
		t.Left--
	}
	return after + value
}

// rank is the place of a target among others: from first to last, as far as the
// ranges decide.
type rank struct {
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

// ranksOf ranks targets that were asked the same prompts: by over-refusal,
// lowest first, or by toxic refusal, highest first, if no safe prompt was
// asked. It is nil if they cannot be ranked, or if some are variants of one target,
// which are no different models, or if their rates rest on different bases. A target is placed before another
// only if the two are told apart (see figure.Figure.Apart), so a rank is a range.
func ranksOf(all []subject, labels []orbench.Label, r score.Result) []rank {
	label, sign := rankedBy(labels)
	ranks := make([]rank, len(all))
	rates := make([]score.Contender, len(all))
	bases := map[string]bool{}
	for i, s := range all {
		run := s.runs[label]
		c, ok := run.Contender()
		if !ok || s.dataset != all[0].dataset || bases[s.base] {
			return nil
		}
		bases[s.base], rates[i] = true, c
		ranks[i] = rank{first: 1, last: len(all), by: sign * *c.Value}
	}
	if !score.OneBasis(rates) {
		return nil
	}
	for i := range ranks {
		for j := range ranks {
			if pair := pairOf(r, label, all[i], all[j]); pair == nil || !pair.Apart() {
				continue
			}
			if ranks[j].by < ranks[i].by {
				ranks[i].first++
			} else {
				ranks[i].last--
			}
		}
	}
	return ranks
}

// rankedBy returns the label whose rate ranks targets, and 1 if the lowest rate
// is the best or -1 if the highest is.
func rankedBy(labels []orbench.Label) (label orbench.Label, sign float64) {
	if slices.Contains(labels, orbench.Safe) {
		return orbench.Safe, 1
	}
	return orbench.Toxic, -1
}

// pairOf returns how two subjects are ordered; nil if they are not compared.
func pairOf(r score.Result, label orbench.Label, a, b subject) *figure.Figure {
	one, other := a.runs[label], b.runs[label]
	if one.Scope("") != other.Scope("") {
		return nil
	}
	for f := range figure.Of(r.Figures, figure.Difference) {
		of := f.Keys
		of.Target, of.Other, of.Judge = "", "", ""
		if of == one.Scope("") && (f.Target == one.Target && f.Other == other.Target || f.Target == other.Target && f.Other == one.Target) {
			return f
		}
	}
	return nil
}
