package report

import (
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// propensitySections lays out how often prompts that are asked several times
// are refused. Without such prompts it returns no sections.
func propensitySections(all []score.Propensity) []table.Section {
	if len(all) == 0 {
		return nil
	}
	s := table.Section{
		Title: "Refusal propensity: each prompt asked several times, the share of its answers that refuse",
		Header: []string{
			"target", "dataset", "label", "judge", "samples", "prompts", "unjudged", "missing", "propensity", "95% interval",
			"never", "sometimes", "always",
		},
		Left: 4,
		Note: "Intervals are clustered by prompt. Never, sometimes and always count prompts whose samples were all judged.",
	}
	for _, p := range all {
		s.Add(table.Name(p.Target, p.Simulated), p.Dataset, p.Label, p.Judge, p.Samples, p.Prompts, p.Unjudged, p.Missing, p.Mean, p.Never, p.Sometimes, p.Always)
	}
	return []table.Section{s}
}
