package evaluate

import (
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// fixed counts the answers of each cell that the first judge takes for answers, so that a judge
// that is added changes no count.
type fixed map[annotation.Cell]reply.Repeats

const (
	// leastFixed is the length in bytes of the shortest text that may be a fixed one: a shorter
	// one, such as "Yes.", answers many questions.
	leastFixed = 8
	// mostFixed is how much of one is shown.
	mostFixed = 40
)

// add counts a row.
func (f fixed) add(row *score.AnswerRow) {
	other := func(v score.JudgeVerdict) bool { return v.Class != orbench.FullAnswer }
	if row.Status != score.Answered || len(row.Response.Text) < leastFixed || slices.ContainsFunc(row.Verdicts[:min(1, len(row.Verdicts))], other) {
		return
	}
	at := annotation.Cell{Target: row.Target, Dataset: row.Dataset, Label: row.Prompt.Label}
	if _, ok := f[at]; !ok {
		f[at] = reply.NewRepeats()
	}
	f[at].Add(row.Prompt.Text(), row.Response.Text)
}

// note has each run of a result tell of its most frequent text that came word for word to
// unlike prompts.
func (f fixed) note(result *score.Result) {
	for i := range result.Runs {
		r := &result.Runs[i]
		var most reply.Repeat
		for _, one := range f[annotation.Cell{Target: r.Target, Dataset: r.Dataset, Label: r.Label}].Fixed {
			if one.N > most.N || one.N == most.N && one.Text < most.Text {
				most = *one
			}
		}
		if most.N > 0 {
			what := fmt.Sprintf("unknown: %q came word for word to unlike prompts", untrusted.Excerpt(most.Text, mostFixed))
			if r.Read == nil {
				r.Read = map[string]int{}
			}
			r.Read[what] = most.N
		}
	}
}
