package score

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Propensity says how often a target that is asked several times for each prompt
// refuses the prompts of one label of one dataset, as one judge sees it.
type Propensity struct {
	// Target is the target's name, without the number of a sample.
	Target string `json:"target"`
	Scope
	// Samples is how often each prompt is asked, at least 2, and Targets names the
	// samples as runs do.
	Samples int      `json:"samples"`
	Targets []string `json:"targets"`
	Refusals
	// Unjudged counts answers without a verdict, and Missing samples without an
	// answer. Neither is in any rate.
	Unjudged int `json:"unjudged"`
	Missing  int `json:"missing"`
	// Withheld is true when too many of the answers are unjudged, or have no text: there
	// are no rates.
	Withheld bool `json:"withheld,omitempty"`
	// Stopping has the interval of Mean where the run stopped by itself.
	stats.Stopping
	// Histogram has the number of complete prompts by how many of their samples
	// refuse, from none to all of them. Its sum is Complete.
	Histogram []int `json:"histogram"`
	// Intraclass is how much the answers to one prompt are alike, nil where it is
	// undefined; see stats.Intraclass. Near 1 the temperature matters little.
	Intraclass *float64                      `json:"intraclass"`
	ByCategory map[orbench.Category]Refusals `json:"by_category"`
	// Greedy holds the per-prompt refusal rates against the verdicts on the same target at
	// temperature 0, nil where the run has no such target.
	Greedy    *VersusGreedy `json:"greedy,omitempty"`
	Simulated bool          `json:"simulated,omitempty"`

	// Joint is the interval of Mean at the square root of the confidence, of which two
	// make a region of both rates, and DesignEffect by how much the clusters swell the
	// variance of the rate, 0 where that was not computed.
	Joint        *[2]float64 `json:"-"`
	DesignEffect float64     `json:"-"`
}

// Refusals are the figures of some prompts that were asked several times. A
// prompt's refusal rate is the share of its judged samples that refuse.
type Refusals struct {
	// Prompts have at least one judged sample; of Complete ones all are judged.
	Prompts  int `json:"prompts"`
	Complete int `json:"complete"`
	// Judged and Refused count samples.
	Judged  int `json:"judged"`
	Refused int `json:"refused"`
	// Mean is the mean refusal rate of Prompts. Its 95% interval takes the prompts as
	// the clusters that they are; see stats.MeanRate.
	Mean *stats.Estimate `json:"mean"`
	// Always, Sometimes and Never count the complete prompts by how many of their
	// samples refuse: all, some, none.
	Always    int `json:"always"`
	Sometimes int `json:"sometimes"`
	Never     int `json:"never"`
	// AtLeastOnce and EveryTime are the shares of the complete prompts of which at
	// least one sample refuses, or all do, with Wilson's 95% intervals.
	AtLeastOnce *stats.Estimate `json:"at_least_once"`
	EveryTime   *stats.Estimate `json:"every_time"`
}

// VersusGreedy holds per-prompt refusal rates against the verdicts on a single answer at
// temperature 0, over the prompts that have both.
type VersusGreedy struct {
	// Target is the target at temperature 0.
	Target  string `json:"target"`
	Prompts int    `json:"prompts"`
	// Refused counts the greedy refusals, and Rate is their share, with Wilson's
	// 95% interval.
	Refused int             `json:"refused"`
	Rate    *stats.Estimate `json:"rate"`
	// Difference is the mean refusal rate less Rate, over the same prompts: above 0
	// the greedy verdicts under-count refusals. See stats.MeanDifference.
	Difference *stats.Estimate `json:"difference"`
	// Agree counts the prompts whose samples mostly do what the greedy answer does,
	// OnlyGreedy those refused greedily which most samples answer, OnlySamples the
	// reverse, and Even those of which half of the samples refuse. Agreement is the
	// share of Agree, with Wilson's 95% interval.
	Agree       int             `json:"agree"`
	OnlyGreedy  int             `json:"only_greedy_refuses"`
	OnlySamples int             `json:"only_samples_refuse"`
	Even        int             `json:"even"`
	Agreement   *stats.Estimate `json:"agreement"`
	// WhereAnswered is the mean refusal rate of the prompts that are answered
	// greedily, the luck of the draw that one verdict hides, and WhereRefused that
	// of the others.
	WhereAnswered *stats.Estimate `json:"where_answered"`
	WhereRefused  *stats.Estimate `json:"where_refused"`
	// Histogram is the same of the complete prompts that are refused greedily.
	Histogram []int `json:"histogram"`
}

// PromptPropensity is what a Propensity counts of one prompt.
type PromptPropensity struct {
	// Target is the variant's name.
	Target, Dataset string
	Prompt          orbench.PromptID
	Category        orbench.Category
	Label           orbench.Label
	Judge           string
	// Samples is how often the prompt is asked; of these Judged have a verdict,
	// Refused of them a refusal, and Unjudged an answer without one.
	Samples, Judged, Refused, Unjudged int
	// Greedy is the class of the answer at temperature 0, Unjudged where there is
	// none.
	Greedy orbench.Class
}
