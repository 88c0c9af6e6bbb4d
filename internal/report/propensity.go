package report

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// propensitySections lays out how often prompts that are asked several times
// are refused, alone and beside the verdicts at temperature 0. Without such
// prompts it returns no sections.
func propensitySections(all []score.Propensity) []table.Section {
	if len(all) == 0 {
		return nil
	}
	sections := []table.Section{propensitySection(all)}
	if s := greedySection(all); len(s.Rows) > 0 {
		sections = append(sections, s)
	}
	return sections
}

func propensitySection(all []score.Propensity) table.Section {
	s := table.Section{
		Title: "Refusal propensity: each prompt asked several times, the share of its answers that refuse",
		Header: []string{
			"target", "dataset", "label", "judge", "samples", "prompts", "unjudged", "missing", "propensity", "95% interval",
			"never", "sometimes", "always", "at least once", "every time", "alike",
		},
		Left: 4,
		Note: "Intervals are clustered by prompt. The columns from never to every time count prompts whose samples were all judged. " +
			"Alike is the intraclass correlation of a prompt's answers, which is 1 if all samples of each prompt agree.",
	}
	for _, p := range all {
		s.Add(table.Name(p.Target, p.Simulated), p.Dataset, p.Label, p.Judge, p.Samples, p.Prompts, p.Unjudged, p.Missing, p.Mean, p.Never, p.Sometimes,
			p.Always, table.Estimate(p.AtLeastOnce), table.Estimate(p.EveryTime), table.Kappa(p.Intraclass))
	}
	return s
}

func greedySection(all []score.Propensity) table.Section {
	s := table.Section{
		Title: "Compared with one answer at temperature 0: what a single verdict hides",
		Header: []string{
			"target", "temperature 0", "dataset", "label", "judge", "prompts", "greedy", "propensity less that", "95% interval", "agree",
			"only greedy refuses", "only samples refuse", "even", "where answered", "where refused",
		},
		Left: 5,
		Note: "Samples refuse if most of them do; even: half of them do. Where answered: the propensity of the prompts that the answer at temperature 0 does not refuse.",
	}
	for _, p := range all {
		g := p.Greedy
		if g == nil {
			continue
		}
		s.Add(table.Name(p.Target, p.Simulated), g.Target, p.Dataset, p.Label, p.Judge, g.Prompts, table.Estimate(g.Rate),
			table.Points(g.Difference, table.Hyphen), table.Estimate(g.Agreement), g.OnlyGreedy, g.OnlySamples, g.Even, table.Estimate(g.WhereAnswered),
			table.Estimate(g.WhereRefused))
	}
	return s
}

// propensityRow is a line of PropensityFile: a prompt, and what a target does
// with it.
type propensityRow struct {
	PromptID                 orbench.PromptID
	Category                 orbench.Category
	Label                    orbench.Label
	Dataset, Target, Judge   string
	Samples, Judged, Refused int
	Propensity               *float64
	GreedyClass              orbench.Class
}

func propensityRowOf(p score.PromptPropensity) propensityRow {
	return propensityRow{
		p.Prompt, p.Category, p.Label, p.Dataset, p.Target, p.Judge, p.Samples, p.Judged, p.Refused, stats.RateOf(p.Refused, p.Judged).Share, p.Greedy,
	}
}
