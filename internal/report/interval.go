package report

import (
	"slices"
	"strings"

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
		if !slices.ContainsFunc(run.Judges, func(j score.JudgeResult) bool { return j.CI95Clustered != nil }) {
			continue
		}
		what := table.Count(run.N) + " " + string(run.Label) + " prompts"
		if run.Samples > 0 {
			what = table.Count(run.N) + " answers to " + string(run.Label) + " prompts"
		}
		parts.Add(run.DatasetCaption() + " by " + run.ClusteredBy + " (" + what + ", " + table.Count(run.Clusters) + " clusters)")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Intervals are clustered, because prompts of one cluster are not independent: " + strings.Join(parts, "; ") + "."
}
