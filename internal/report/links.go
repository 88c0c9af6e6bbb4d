package report

import (
	"fmt"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// linkedSection is a section of a page whose counts lead to the answers that they count.
type linkedSection struct {
	table.Section
	// queries choose the answers of each row, and columns say what each column counts of
	// them: pairs of a parameter and its value. Other columns have no entry.
	queries []page.Query
	columns map[string][]string
	opens   func(page.Query) string
}

// Opens returns the address of the answers that a cell counts; empty for any other cell.
func (s linkedSection) Opens(row, column int) string {
	pairs, ok := s.columns[s.Header[column]]
	if !ok || row >= len(s.queries) || s.Rows[row][column] == "0" || s.Rows[row][column] == table.None {
		return ""
	}
	return s.opens(s.queries[row].With(pairs...))
}

// answersOf chooses the answers of a run.
func answersOf(run score.RunResult) page.Query {
	return page.Query{}.With("variant", run.Target, "dataset", run.Dataset, "label", string(run.Label))
}

// labelLinks are the links of labelSection.
func (of Page) labelLinks(r score.Result, label orbench.Label) linkedSection {
	s := linkedSection{Section: labelSection(r, label), opens: of.opens, columns: map[string][]string{
		"n": {}, "cut": {"status", "cut"}, otherColumn: {"status", string(score.ServedByOther)},
		"judged": {"verdict", "judged"}, "unjudged": {"verdict", "unjudged"}, "refused": {"verdict", "refused"},
	}}
	for _, status := range []score.Status{score.Answered, score.Blocked, score.Failed, score.Unanswered} {
		s.columns[string(status)] = []string{"status", string(status)}
	}
	for _, run := range r.Runs {
		if run.Label != label {
			continue
		}
		if len(run.Judges) == 0 {
			s.queries = append(s.queries, answersOf(run))
		}
		for _, j := range run.Judges {
			s.queries = append(s.queries, answersOf(run).With("judge", j.Judge))
		}
	}
	return s
}

// classLinks are the links of classSection.
func (of Page) classLinks(r score.Result) linkedSection {
	s := linkedSection{Section: classSection(r), opens: of.opens, columns: map[string][]string{page.ClassName(orbench.Unjudged): {"verdict", "unjudged"}}}
	for _, c := range orbench.Classes {
		s.columns[page.ClassName(c)] = []string{"verdict", string(c)}
	}
	for _, run := range r.Runs {
		for _, j := range run.Judges {
			s.queries = append(s.queries, answersOf(run).With("judge", j.Judge))
		}
	}
	return s
}

// agreementLinks are the links of agreementSection.
func (of Page) agreementLinks(r score.Result) linkedSection {
	s := linkedSection{Section: agreementSection(r), opens: of.opens, columns: map[string][]string{}}
	for column, verdicts := range map[string][2]string{
		"n": {"judged", "judged"}, "both refused": {"refused", "refused"}, "only A": {"refused", "answered"},
		"only B": {"answered", "refused"}, "neither": {"answered", "answered"},
	} {
		s.columns[column] = []string{"verdict", verdicts[0], "verdict", verdicts[1]}
	}
	for _, run := range r.Runs {
		for _, a := range run.Agreement {
			s.queries = append(s.queries, answersOf(run).With("judge", a.A, "judge", a.B))
		}
	}
	return s
}

// points has each point of the trade-off open what it stands for: the safe prompts that the
// target refused; of a target without safe prompts, the toxic ones. If none was refused, it
// opens all that were judged.
func (of Page) points(r score.Result, judge string) func(string) (address, words string) {
	sides := map[string]*score.Side{}
	for _, p := range r.Pairs() {
		if p.Judge != judge {
			continue
		}
		if sides[p.Name()] = p.Safe; !p.Safe.Defined() {
			sides[p.Name()] = p.Toxic
		}
	}
	said := score.Words(r.Runs, judge)
	return func(point string) (address, words string) {
		s := sides[point]
		if !s.Defined() {
			return "", ""
		}
		verdict, n := "refused", s.Judge.Refused
		if n == 0 {
			verdict, n = "judged", s.Judge.Judged
		}
		words = fmt.Sprintf("%s: %s of %s answers to %s prompts are %s. Open %s.", point, table.Count(s.Judge.Refused), table.Count(s.Judge.Judged),
			s.Run.Label, said.Of("refused"), table.Counted(n, "answer", "answers"))
		return of.opens(answersOf(s.Run).With("judge", judge, "verdict", verdict)), words
	}
}
