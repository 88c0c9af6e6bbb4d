package evaluate

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Judged returns the step that makes the row of a prompt for a target that is
// asked once (see Each): its answer and a judge's verdict on it. Use it for
// prompts outside any dataset. It makes the same requests as a Run does for the
// same prompt.
func (t Target) Judged(p orbench.Prompt, j judge.Judge, row *score.AnswerRow) model.Step {
	return func(look model.Lookup) []model.Request {
		*row = score.AnswerRow{Target: t.Name, Prompt: p, Status: score.Unanswered, Simulated: t.Simulated()}
		if missing := t.step(row)(look); len(missing) > 0 || row.Status == score.Failed || row.Status == score.ServedByOther {
			return missing
		}
		row.Simulated = row.Simulated || row.Response.Simulated()
		row.Verdicts = make([]score.JudgeVerdict, 1)
		c := judge.Case{Prompt: row.Asked(), Response: row.Response, Assessment: row.Assessment, Unread: row.Unread}
		return Judging(j, &c, &row.Verdicts[0])(look)
	}
}
