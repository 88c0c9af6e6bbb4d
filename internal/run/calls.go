package run

import (
	"fmt"
	"strings"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// Job is the run as a walk, by its name.
func (r *Run) Job() *job.Job {
	j := r.Run.Job()
	j.Name = r.Name
	return j
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
	if c.FailedAttempts = s.Charged; s.Charged > 0 && len(s.Unpriced) == 0 {
		c.FailedUSD = &s.FailedUSD
	}
	return c
}

// Describe says in one line what the calls of a plan of the run come of.
func (r *Run) Describe(plans []job.Plan) string {
	calls := job.TotalCalls(plans)
	plain, variants, all := 0, len(r.Targets), r.AnswersPerPrompt()
	for _, t := range r.Targets {
		if t.Base == "" {
			plain++
		}
	}
	targets := table.Counted(plain, "target", "targets")
	if plain > 0 && variants > plain {
		targets += fmt.Sprintf(" in %d ways", variants/plain)
	}
	if plain > 0 && all > variants {
		targets += fmt.Sprintf(", %d with samples", all/plain)
	}
	most := ""
	if r.Config.Ends() && calls > 0 {
		most = "at most "
	}
	return fmt.Sprintf("%s x %s prompts, judged by %s: %s%s calls to send", targets, table.Count(r.Prompts()), strings.Join(r.Config.JudgeNames(), ", "), most, table.Count(calls))
}
