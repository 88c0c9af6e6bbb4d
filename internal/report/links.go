package report

import (
	"fmt"

	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// linkedSection is a section whose counts lead on a page to the answers that they count.
type linkedSection struct {
	table.Section
	// queries choose the answers of each row, and columns say what each column counts of
	// them: pairs of a parameter and its value. Other columns have no entry.
	queries []page.Query
	columns map[string][]string
	// opens is that of the page; see Page.Opens.
	opens func(page.Query) string
}

// add adds a row that counts the answers of a query.
func (s *linkedSection) add(q page.Query, values ...any) {
	s.queries = append(s.queries, q)
	s.Add(values...)
}

// linked has the counts of a section open answers.
func (of Page) linked(s linkedSection) linkedSection {
	s.opens = of.opens
	return s
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
func answersOf(run *score.RunResult) page.Query {
	return page.Query{}.With("variant", run.Target, "dataset", run.Dataset, "label", string(run.Label))
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
		return of.opens(answersOf(&s.Run).With("judge", judge, "verdict", verdict)), words
	}
}
