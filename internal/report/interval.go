package report

import (
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// intervalNote says how intervals were computed, if not in the usual way.
func intervalNote(r score.Result) string {
	return strings.TrimSpace(clusterNote(r) + " " + stoppingNote(r))
}

// clusterNote says in one line for which datasets the intervals take clusters
// of prompts into account. It is empty if there are none.
func clusterNote(r score.Result) string {
	var parts table.Names
	for _, run := range r.Runs {
		if !slices.ContainsFunc(run.Judges, func(j score.JudgeResult) bool { return j.Rate.ClusteredBy != "" }) {
			continue
		}
		what := table.Count(run.N) + " " + string(run.Label) + " prompts"
		if run.Samples > 0 {
			what = table.Count(run.N) + " answers to " + string(run.Label) + " prompts"
		}
		parts.Add(run.DatasetCaption() + " by " + run.ClusteredBy + " (" + what + ", " + table.Count(run.Clusters) + " clusters)")
	}
	return sentence("Intervals are clustered, because prompts of one cluster are not independent: ", strings.Join(parts, "; "))
}

// stoppingNote says in a few sentences where asking ended, and which intervals
// hold although the answers themselves decided where to end. It is empty for
// runs that asked all prompts.
func stoppingNote(r score.Result) string {
	var parts table.Names
	var ended score.RunResult
	stopped := false
	for _, run := range r.Runs {
		if run.Stopped == nil {
			continue
		}
		asked := table.Count(run.N / max(1, run.Samples))
		part := "all " + asked
		if run.Of > 0 {
			stopped = true
			part = asked + " of " + table.Count(run.Of)
		}
		ended = run
		parts.Add(part + " " + string(run.Label) + " prompts of " + run.Dataset)
	}
	if len(parts) == 0 {
		return ""
	}
	note := "Asked in random order until the interval of every rate by " + ended.Stopped.Judge + " had a half-width of " + evaluate.Rule{HalfWidth: ended.Stopped.HalfWidth}.String() + " or less: " + strings.Join(parts, "; ") + "."
	if stopped {
		kind := " If not all prompts were asked, the interval is a confidence sequence for the rate over all prompts of the label; it holds however often you look. "
		if ended.Stopped.Interval == string(evaluate.Wilson) {
			kind = " If not all prompts were asked, the interval is Wilson's with the finite-population correction, for the rate over all prompts of the label; those of several targets hold together. "
		}
		note += kind + "All other intervals, such as those by category and of differences, assume that the number of prompts was fixed before, and do not count the stopping."
	}
	return note
}
