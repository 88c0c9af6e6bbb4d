package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
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
	var rates []shown
	byPeople := map[orbench.Label]bool{}
	for _, i := range inOrder(all, ranks) {
		s := all[i]
		targets[s.target], bases[s.base] = true, true
		var by, on table.Names
		var cells []string
		for _, label := range labels {
			one, ok := s.best(label)
			if !ok {
				cells = append(cells, table.None, table.None)
				continue
			}
			by.Add(one.by)
			on.Add(one.by + " (" + string(label) + ")")
			rates = append(rates, one)
			of := table.Count(one.n)
			if one.labeled {
				of, byPeople[label] = table.Counted(one.n, "label", "labels"), true
			}
			cells = append(cells, of, table.Known(one.share, table.Percent)+" "+table.Pad("("+table.Interval(one.ends)+")", 12, true))
			if one.of != nil {
				withheld.add(*one.of, s.name()+" by "+one.by)
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
// which are no different models. A target is placed before another
// only if the two are told apart (see score.OrderedPair), so a rank is a range.
func ranksOf(all []subject, labels []orbench.Label, r score.Result) []rank {
	label, sign := rankedBy(labels)
	ranks := make([]rank, len(all))
	bases := map[string]bool{}
	for i, s := range all {
		run := s.runs[label]
		c, ok := run.Contender()
		if !ok || s.dataset != all[0].dataset || bases[s.base] {
			return nil
		}
		bases[s.base] = true
		ranks[i] = rank{first: 1, last: len(all), by: sign * c.Rate.Value}
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
func pairOf(r score.Result, label orbench.Label, a, b subject) *score.OrderedPair {
	one, other := a.runs[label], b.runs[label]
	if one.DatasetCaption() != other.DatasetCaption() {
		return nil
	}
	for _, o := range r.Orders {
		if o.Label != label || o.Dataset != one.Dataset || o.DatasetSHA256 != one.DatasetSHA256 || o.Limit != one.Limit {
			continue
		}
		for _, p := range o.Pairs {
			if p.A == one.Target && p.B == other.Target || p.A == other.Target && p.B == one.Target {
				return &p
			}
		}
	}
	return nil
}
