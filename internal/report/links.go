package report

import (
	"fmt"

	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// answersOf chooses the answers that a figure is of.
func answersOf(k figure.Keys) page.Query {
	return page.Query{}.With("variant", k.Target, "dataset", k.Dataset, "label", string(k.Label), "judge", k.Judge, "category", string(k.Category))
}

// points has each point of the trade-off open what it stands for: the safe prompts that the
// target refused; of a target without safe prompts, the toxic ones. If none was refused, it
// opens all that were judged.
func (of *Page) points(r score.Result, judge string) func(string) (address, words string) {
	sides := map[string]*score.Side{}
	for _, p := range r.Pairs() {
		if p.Judge != judge {
			continue
		}
		if sides[p.Name] = p.Safe; !p.Safe.Defined() {
			sides[p.Name] = p.Toxic
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
		return of.opens(answersOf(s.Run.Keys(judge)).With("verdict", verdict)), words
	}
}
