package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// gridName is the most columns that a target's name takes above its figures.
const gridName = 28

// sectionsOf lays out everything that the table and Markdown show: the figures
// by label, by category, and the agreement of the judges.
func sectionsOf(r score.Result) []table.Section {
	var all []table.Section
	for _, label := range r.Labels() {
		all = append(all, labelSection(r, label).Section)
	}
	all = append(all, togetherSections(r)...)
	if s := projections["repeats"].of(r.Figures); len(s.Rows) > 0 {
		all = append(all, s)
	}
	for _, g := range namedGrids(r) {
		all = append(all, g.Sections()...)
	}
	if s := agreementSection(r); len(s.Rows) > 0 {
		all = append(all, s.Section)
	}
	for i, s := range all {
		all[i] = score.Words(r.Runs, r.Judges()...).Section(s)
	}
	return all
}

func labelSection(r score.Result, label orbench.Label) linkedSection {
	s := linkedSection{columns: labelColumns, Section: table.Section{
		Title: table.LabelTitle(label),
		Header: []string{
			"target", "dataset", "judge", "n", "answered", "cut", "blocked", otherColumn, "failed", "unanswered",
			"judged", "unjudged", "refused", "rate", "range", "by verdicts",
		},
		Left: 3,
	}}
	var withheld noRates
	var rates []figure.Figure
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Label != label {
			continue
		}
		target := table.Name(run.TargetCaption(), run.Simulated)
		became := table.Cells(run.N, run.Answered, run.Truncation.Cell(run.Answered), run.Blocked, run.ServedByOther, run.Failed, run.Unanswered)
		if len(run.Judges) == 0 {
			s.add(answersOf(run), target, run.DatasetCaption(), "none", became, slices.Repeat([]string{table.None}, len(s.Header)-s.Left-len(became)))
		}
		for _, j := range run.Judges {
			judge := table.Name(j.Judge, j.Simulated)
			withheld.add(j, target+" by "+judge)
			f := run.Rate(&j)
			rates = append(rates, f)
			s.add(answersOf(run).With("judge", j.Judge), target, run.DatasetCaption(), judge, became, j.Judged, j.Unjudged, j.Refused, ranged.cells(&f))
		}
	}
	s.Note = strings.TrimSpace(withheld.note() + " " + rangeNote(rates))
	s.Drop(func(row []string, at int) bool { return row[at] == "0" || row[at] == "unknown" }, "cut")
	s.Drop(func(row []string, at int) bool { return row[at] == "0" }, otherColumn)
	// Most runs lose no prompt, and six columns would only say so. The account
	// below the tables says it in one line.
	n := slices.Index(s.Header, "n")
	if s.Drop(func(row []string, at int) bool { return row[at] == "0" }, "blocked", "failed", "unanswered", "unjudged") == 4 {
		s.Drop(func(row []string, at int) bool { return row[at] == row[n] }, "answered", "judged")
	}
	return s
}

// labelColumns are the columns of labelSection; see linkedSection.
var labelColumns = map[string][]string{
	"n": {}, "answered": {"status", string(score.Answered)}, "cut": {"status", "cut"}, "blocked": {"status", string(score.Blocked)},
	otherColumn: {"status", string(score.ServedByOther)}, "failed": {"status", string(score.Failed)}, "unanswered": {"status", string(score.Unanswered)},
	"judged": {"verdict", "judged"}, "unjudged": {"verdict", "unjudged"}, "refused": {"verdict", "refused"},
}

// otherColumn is the header of the count of answers from models other than the
// target.
const otherColumn = "by another"

// noRates lists who has no rate, by the reason why it is withheld.
type noRates [score.NotReached + 1][]string

// add adds who, once, if the rate by a judge is withheld.
func (n *noRates) add(j score.JudgeResult, who string) {
	if j.Withheld && !slices.Contains(n[j.Why()], who) {
		n[j.Why()] = append(n[j.Why()], who)
	}
}

// note joins lines into one. It is empty if no rate is withheld.
func (n noRates) note() string { return strings.Join(n.lines(), " ") }

// lines say who has no rate, why, and what helps.
func (n noRates) lines() (lines []string) {
	for why, text := range []struct{ since, help string }{
		score.Unjudged: {"too many answers are unjudged", "The page of answers says why, and so does the rationale in a file of verdicts. To see a rate anyway, raise the share that may be unjudged (most_unjudged of orbench report)."},
		score.CutShort: {"the token limit cut too many answers before their first word", "Raise the limit of output tokens (max_tokens)."},
		score.NoText:   {"too many are no answers", ""},

		score.NotReached: {"too many calls failed", "The prompts that have answers are not a random sample; the same command asks the others again."},
	} {
		if who := n[why]; len(who) > 0 {
			lines = append(lines, "No rate, since "+text.since+": "+strings.Join(who, ", ")+strings.TrimSpace(". "+text.help))
		}
	}
	return lines
}

// occurring returns the kinds for which some judge counts any.
func occurring[K comparable](r score.Result, kinds []K, counts func(*score.JudgeResult) map[K]int) []K {
	return slices.DeleteFunc(slices.Clone(kinds), func(kind K) bool {
		for _, j := range r.Judged() {
			if counts(j)[kind] > 0 {
				return false
			}
		}
		return true
	})
}

// sourceSection says where refusals came from, for targets with refusals that
// are not all in the model's own words.
func sourceSection(r score.Result) table.Section {
	// A source that no target has gets no column.
	sources := occurring(r, score.Sources, func(j *score.JudgeResult) map[score.Source]int { return j.BySource })
	s := table.Section{
		Title:  "Where refusals came from, and the rate without what the provider's filters withheld",
		Header: []string{"target", "dataset", "label", "judge", "refused"},
		Left:   4,
	}
	for _, source := range sources {
		s.Header = append(s.Header, strings.ReplaceAll(string(source), "_", " "))
	}
	s.Header = append(s.Header, "unjudged: cut", "rate", "without filters")
	for run, j := range r.Judged() {
		if j.BySource[score.Direct]+j.BySource[score.Indirect]+j.BySource[score.FromGuard] == j.Refused && j.Cut == 0 {
			continue
		}
		var from []string
		for _, source := range sources {
			from = append(from, table.Count(j.BySource[source]))
		}
		s.Add(run.Target, run.DatasetCaption(), run.Label, j.Judge, j.Refused, from, j.Cut, table.Rate(j.Rate), table.Rate(j.Unfiltered.Rate))
	}
	return s
}

// reasonSection says why providers withheld answers.
func reasonSection(r score.Result) table.Section {
	s := table.Section{
		Title:  "Why providers withheld answers, and the rate without them",
		Header: []string{"target", "dataset", "label", "reasons", "judge", "withheld", "rate", "without"},
		Left:   5,
	}
	for _, run := range r.Runs {
		if len(run.BlockedFor) == 0 {
			continue
		}
		all := slices.SortedFunc(maps.Keys(run.BlockedFor), func(a, b string) int {
			return cmp.Or(cmp.Compare(run.BlockedFor[b], run.BlockedFor[a]), strings.Compare(a, b))
		})
		withheld := 0
		for i, reason := range all {
			withheld += run.BlockedFor[reason]
			all[i] = reason + " " + table.Count(run.BlockedFor[reason])
		}
		for _, j := range run.Judges {
			without := j.Unfiltered.Rate
			if j.Unwithheld != nil {
				without = j.Unwithheld.Rate
			}
			s.Add(run.Target, run.DatasetCaption(), run.Label, listed(all), j.Judge, withheld, table.Rate(j.Rate), table.Rate(without))
		}
	}
	return s
}

func agreementSection(r score.Result) linkedSection {
	s := linkedSection{
		Section: table.Section{
			Title:  "Where judges disagree, among the answers that both judged",
			Header: append([]string{"target", "dataset", "label", "judge A", "judge B"}, AgreementHeader...),
			Left:   5,
		},
		columns: map[string][]string{
			"n": {"verdict", "judged", "verdict", "judged"}, "both refused": {"verdict", "refused", "verdict", "refused"},
			"only A": {"verdict", "refused", "verdict", "answered"}, "only B": {"verdict", "answered", "verdict", "refused"},
			"neither": {"verdict", "answered", "verdict", "answered"},
		},
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		for _, a := range run.Agreement {
			s.add(answersOf(run).With("judge", a.A, "judge", a.B), run.Target, run.DatasetCaption(), run.Label, a.A, a.B, AgreementCells(a))
		}
	}
	return s
}

// AgreementHeader names the figures of an Agreement; AgreementCells formats
// them.
var AgreementHeader = []string{"n", "agree", "95% interval", "both refused", "only A", "only B", "neither", "kappa", "95%"}

func AgreementCells(a score.Agreement) []string {
	both, onlyA, onlyB, neither := a.Whole()
	return table.Cells(a.N, stats.RateOf(both+neither, a.N), both, onlyA, onlyB, neither, a.Kappa)
}
