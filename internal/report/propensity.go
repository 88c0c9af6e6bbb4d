package report

import (
	"slices"
	"strconv"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// propensitySections lay out how often prompts that are asked several times are
// refused, alone and beside the verdicts at temperature 0. There are none without
// such prompts.
func propensitySections(r score.Result) []section {
	if len(r.PromptRates) == 0 {
		return nil
	}
	all := []section{propensitySection(r)}
	if s := greedySection(r); len(s.rows) > 0 {
		all = append(all, s)
	}
	return all
}

func propensitySection(r score.Result) section {
	s := section{
		title: "Refusal propensity: each prompt asked several times, the share of its answers that refuse",
		header: []string{
			"target", "dataset", "label", "judge", "samples", "prompts", "unjudged", "missing", "propensity", "95% interval",
			"never", "sometimes", "always", "at least once", "every time", "alike",
		},
		left: 4,
		note: "Intervals take the prompts as clusters. Never to every time: prompts of which all samples were judged. " +
			"Alike: the intraclass correlation of a prompt's answers, 1 when the draw decides nothing.",
	}
	for _, p := range r.PromptRates {
		alike := "–"
		if p.Intraclass != nil {
			alike = fraction(*p.Intraclass)
		}
		s.rows = append(s.rows, []string{
			simulatedName(p.Target, p.Simulated), p.Dataset, string(p.Label), p.Judge, count(p.Samples), count(p.Prompts), count(p.Unjudged), count(p.Missing),
			value(p.Mean), range95(p.Mean), count(p.Never), count(p.Sometimes), count(p.Always),
			value(p.AtLeastOnce), value(p.EveryTime), alike,
		})
	}
	return s
}

func greedySection(r score.Result) section {
	s := section{
		title: "Beside one greedy answer, at temperature 0: what a single verdict hides",
		header: []string{
			"target", "temperature 0", "dataset", "label", "judge", "prompts", "greedy", "propensity less that", "95% interval", "agree",
			"only greedy refuses", "only samples refuse", "even", "where answered", "where refused",
		},
		left: 5,
		note: "Samples refuse where most of them do; even: half of them. Where answered: the propensity of the prompts that the greedy answer does not refuse.",
	}
	for _, p := range r.PromptRates {
		g := p.Greedy
		if g == nil {
			continue
		}
		s.rows = append(s.rows, []string{
			simulatedName(p.Target, p.Simulated), g.Target, p.Dataset, string(p.Label), p.Judge, count(g.Prompts),
			value(g.Rate), points(g.Difference), pointsInterval(g.Difference), value(g.Agreement),
			count(g.OnlyGreedy), count(g.OnlySamples), count(g.Even), value(g.WhereAnswered), value(g.WhereRefused),
		})
	}
	return s
}

// simulatedName marks what is simulated.
func simulatedName(name string, simulated bool) string {
	if simulated {
		return name + " (simulated)"
	}
	return name
}

// value shows an estimated share, and range95 its interval.
func value(e *stats.Estimate) string {
	if e == nil {
		return "–"
	}
	return percent(e.Value)
}

func range95(e *stats.Estimate) string {
	if e == nil {
		return "–"
	}
	return interval(&[2]float64{e.Lo, e.Hi})
}

// propensityRow is one prompt as a line of propensity.csv, below propensityHeader.
func propensityRow(p score.PromptRate) []string {
	propensity := ""
	if p.Judged > 0 {
		propensity = number(float64(p.Refused) / float64(p.Judged))
	}
	return []string{
		string(p.Prompt), untrusted.Cell(string(p.Category)), untrusted.Cell(string(p.Label)), untrusted.Cell(p.Dataset), untrusted.Cell(p.Target), untrusted.Cell(p.Judge),
		strconv.Itoa(p.Samples), strconv.Itoa(p.Judged), strconv.Itoa(p.Refused), propensity, string(p.Greedy),
	}
}

var propensityHeader = []string{
	"prompt_id", "category", "label", "dataset", "target", "judge", "samples", "judged", "refused", "propensity", "greedy_class",
}

// propensitiesBy gives the propensities by one judge.
func propensitiesBy(r score.Result, judge string) []score.PromptRates {
	return slices.DeleteFunc(slices.Clone(r.PromptRates), func(p score.PromptRates) bool { return p.Judge != judge })
}
