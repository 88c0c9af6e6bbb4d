package run

import (
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// ExpectedCalls is the number of calls when nothing is remembered.
func (r *Run) ExpectedCalls() int {
	n := r.Expected()
	for _, j := range r.Judges {
		n += len(r.Targets) * r.Prompts() * len(modelsOf(j))
	}
	return n
}

// modelsOf lists the models behind a judge.
func modelsOf(j judge.Judge) []model.Ref {
	if asking, ok := j.(judge.ModelJudge); ok {
		return asking.Models()
	}
	return nil
}

// Cost is what the calls of a fill cost.
func Cost(s fill.Stats) score.Cost {
	c := score.Cost{
		Calls: s.Requests, FromMemo: s.Present,
		InputTokens: s.Usage.Input, OutputTokens: s.Usage.Output, Unpriced: s.Unpriced,
	}
	if len(s.Unpriced) == 0 {
		c.USD = &s.USD
	}
	return c
}
