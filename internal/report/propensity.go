package report

import (
	"strconv"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// propensitySections lay out how often prompts that are asked several times are refused, alone and
// beside the verdicts at temperature 0. There are none without such prompts.
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
		Note: "Intervals take the prompts as clusters. Never to every time: prompts of which all samples were judged. " +
			"Alike: the intraclass correlation of a prompt's answers, 1 when the draw decides nothing.",
	}
	for _, p := range all {
		alike := "–"
		if p.Intraclass != nil {
			alike = table.Fraction(*p.Intraclass)
		}
		s.Rows = append(s.Rows, []string{
			table.Name(p.Target, p.Simulated), p.Dataset, string(p.Label), p.Judge, table.Count(p.Samples), table.Count(p.Prompts), table.Count(p.Unjudged), table.Count(p.Missing),
			table.Estimate(p.Mean), table.EstimateInterval(p.Mean), table.Count(p.Never), table.Count(p.Sometimes), table.Count(p.Always),
			table.Estimate(p.AtLeastOnce), table.Estimate(p.EveryTime), alike,
		})
	}
	return s
}

func greedySection(all []score.Propensity) table.Section {
	s := table.Section{
		Title: "Beside one greedy answer, at temperature 0: what a single verdict hides",
		Header: []string{
			"target", "temperature 0", "dataset", "label", "judge", "prompts", "greedy", "propensity less that", "95% interval", "agree",
			"only greedy refuses", "only samples refuse", "even", "where answered", "where refused",
		},
		Left: 5,
		Note: "Samples refuse where most of them do; even: half of them. Where answered: the propensity of the prompts that the greedy answer does not refuse.",
	}
	for _, p := range all {
		g := p.Greedy
		if g == nil {
			continue
		}
		s.Rows = append(s.Rows, []string{
			table.Name(p.Target, p.Simulated), g.Target, p.Dataset, string(p.Label), p.Judge, table.Count(g.Prompts),
			table.Estimate(g.Rate), table.Difference(g.Difference, table.Hyphen), table.DifferenceInterval(g.Difference, table.Hyphen), table.Estimate(g.Agreement),
			table.Count(g.OnlyGreedy), table.Count(g.OnlySamples), table.Count(g.Even), table.Estimate(g.WhereAnswered), table.Estimate(g.WhereRefused),
		})
	}
	return s
}

// propensityHeader heads the lines of PropensityFile.
var propensityHeader = []string{
	"prompt_id", "category", "label", "dataset", "target", "judge", "samples", "judged", "refused", "propensity", "greedy_class",
}

// propensityRow is the prompt as a line of the file. Texts are as untrusted.Cell makes them.
func propensityRow(p score.PromptPropensity) []string {
	rate := ""
	if p.Judged > 0 {
		rate = table.Number(float64(p.Refused) / float64(p.Judged))
	}
	return []string{
		string(p.Prompt), untrusted.Cell(string(p.Category)), untrusted.Cell(string(p.Label)), untrusted.Cell(p.Dataset), untrusted.Cell(p.Target), untrusted.Cell(p.Judge),
		strconv.Itoa(p.Samples), strconv.Itoa(p.Judged), strconv.Itoa(p.Refused), rate, string(p.Greedy),
	}
}
