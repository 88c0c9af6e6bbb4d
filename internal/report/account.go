package report

import (
	"slices"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
)

// lacks reports whether some prompt has no whole answer, or no verdict by a judge: an account then
// says more than the rates do. many is true if that is so of more than a tenth of a run's prompts.
func lacks(r score.Result) (some, many bool) {
	for _, run := range r.Runs {
		least := min(run.Answered+run.Blocked, run.N-run.Truncated)
		some = some || run.Answered != run.N || run.Truncated+run.EndingUnknown > 0
		for _, j := range run.Judges {
			some, least = some || j.Unjudged > 0, min(least, j.Judged)
		}
		many = many || 10*(run.N-least) > run.N
	}
	return some, some && many
}

// accountLine says in one line what became of every prompt, summed over all
// targets.
func accountLine(r score.Result) string {
	var n, prompts, answered, blocked, other, failed, unanswered int
	var cut score.Truncation
	var models, runs table.Names
	for _, run := range r.Runs {
		n, answered, blocked = n+run.N, answered+run.Answered, blocked+run.Blocked
		models.Add(run.Model())
		runs.Add(run.Run)
		prompts += run.N / max(1, run.Samples)
		other, failed, unanswered = other+run.ServedByOther, failed+run.Failed, unanswered+run.Unanswered
		cut.Truncated, cut.EndingUnknown = cut.Truncated+run.Truncated, cut.EndingUnknown+run.EndingUnknown
	}
	var targets string
	if several := len(r.Targets()); several > 1 {
		targets = " of " + table.Count(several) + " targets"
		if len(models) == 1 && len(runs) == several {
			targets = " of " + table.Count(several) + " runs"
		} else if slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return run.Base != "" }) {
			targets += " and variants"
		}
	}
	counted := table.Counted(prompts, "prompt", "prompts")
	if n > prompts {
		counted = table.Count(n) + " samples of " + counted
	}
	line := "Accounted for: " + counted + targets + " = " +
		table.Sum(table.Term{N: answered, What: "answered"}, table.Term{N: blocked, What: "blocked"}, table.Term{N: other, What: "answered by another model"}, table.Term{N: failed, What: "failed"}, table.Term{N: unanswered, What: "unanswered"})
	if ended := cut.Line(answered); ended != "" {
		line += "; " + ended
	}
	for _, judge := range r.Judges() {
		var judged, unjudged int
		for _, run := range r.Runs {
			if j := run.By(judge); j != nil {
				judged, unjudged = judged+j.Judged, unjudged+j.Unjudged
			}
		}
		switch {
		case unjudged > 0:
			line += "; by " + judge + " " + table.Count(judged+unjudged) + " = " + table.Sum(table.Term{N: judged, What: "judged"}, table.Term{N: unjudged, What: "unjudged"})
		case judged > 0:
			line += "; by " + judge + " all " + table.Count(judged) + " judged"
		}
	}
	if blocked > 0 && len(r.Judges()) > 0 && !slices.Equal(r.Judges(), []string{judge.Flag}) {
		line += "; blocked counts as refused"
	}
	return line + "."
}
