package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// cell is a part of a result that has a line of its own.
type cell struct {
	target, dataset string
	label           orbench.Label
}

// fixed counts the answers of each cell that no judge finds to be anything but an answer.
type fixed map[cell]reply.Repeats

const (
	// leastFixed is the length in bytes of the shortest text that may be a fixed one: a shorter
	// one, such as "Yes.", answers many questions.
	leastFixed = 8
	// mostFixed is how much of one is shown.
	mostFixed = 40
)

// add counts a row.
func (f fixed) add(row *score.AnswerRow) {
	answers := func(v score.JudgeVerdict) bool { return v.Class == orbench.FullAnswer || v.Class == orbench.Unjudged }
	if row.Status != score.Answered || len(strings.TrimSpace(row.Response.Text)) < leastFixed ||
		slices.ContainsFunc(row.Verdicts, func(v score.JudgeVerdict) bool { return !answers(v) }) || row.Response.Read != nil && row.Response.Read.Missing != "" {
		return
	}
	at := cell{row.Target, row.Dataset, row.Prompt.Label}
	of, ok := f[at]
	if !ok {
		of = reply.NewRepeats()
		f[at] = of
	}
	of.Add(row.Prompt.Messages[len(row.Prompt.Messages)-1].Content, row.Response.Text)
}

// note has each run of a result tell of its most frequent text that came word for word to
// unlike prompts.
func (f fixed) note(result *score.Result) {
	for i := range result.Runs {
		r := &result.Runs[i]
		var most reply.Repeat
		for _, one := range f[cell{r.Target, r.Dataset, r.Label}].Fixed {
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
