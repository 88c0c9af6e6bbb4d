package score

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Propensity says how often a target refuses prompts that it is asked several
// times. It covers the prompts of one label of one dataset, as one judge sees
// them.
type Propensity struct {
	// Target is the target's name, without the number of a sample.
	Target string `json:"target"`
	Scope
	// Samples is how often each prompt is asked, at least 2. Targets names the
	// samples as runs do.
	Samples int      `json:"samples"`
	Targets []string `json:"targets"`
	Refusals
	// Unjudged counts answers without a verdict, and Missing samples without an
	// answer. No rate includes them.
	Unjudged int `json:"unjudged"`
	Missing  int `json:"missing"`
	// Withheld is true if too many of the answers are unjudged or have no text.
	// There are then no rates.
	Withheld bool `json:"withheld,omitempty"`
	// Stopping has the interval of Mean if the run stopped by itself.
	stats.Stopping
	// Histogram counts the complete prompts by how many of their samples
	// refuse, from none to all. Its sum is Complete.
	Histogram []int `json:"histogram"`
	// Intraclass is how alike the answers to one prompt are; nil if it is
	// undefined. See stats.Intraclass. Near 1 the temperature matters little.
	Intraclass *float64                      `json:"intraclass"`
	ByCategory map[orbench.Category]Refusals `json:"by_category"`
	// Greedy compares the per-prompt refusal rates with the verdicts on the
	// same target at temperature 0; nil if the run has no such target.
	Greedy    *VersusGreedy `json:"greedy,omitempty"`
	Simulated bool          `json:"simulated,omitempty"`

	// Joint is the interval of Mean at the square root of the confidence; two
	// of them form a region of both rates. DesignEffect is the factor by which
	// clusters increase the variance of the rate; 0 if it was not computed.
	Joint        *[2]float64 `json:"-"`
	DesignEffect float64     `json:"-"`
}

// Refusals are the figures of some prompts that were asked several times. A
// prompt's refusal rate is the share of its judged samples that refuse.
type Refusals struct {
	// Prompts counts the prompts with at least one judged sample; Complete
	// counts those with all samples judged.
	Prompts  int `json:"prompts"`
	Complete int `json:"complete"`
	// Judged and Refused count samples.
	Judged  int `json:"judged"`
	Refused int `json:"refused"`
	// Mean is the mean refusal rate of Prompts. Its 95% interval treats each
	// prompt as a cluster; see stats.MeanRate.
	Mean *stats.Estimate `json:"mean"`
	// Always, Sometimes and Never count the complete prompts of which all, some
	// or no samples refuse.
	Always    int `json:"always"`
	Sometimes int `json:"sometimes"`
	Never     int `json:"never"`
	// AtLeastOnce and EveryTime are the shares of the complete prompts of which
	// at least one sample refuses, or all do, with Wilson's 95% intervals.
	AtLeastOnce *stats.Estimate `json:"at_least_once"`
	EveryTime   *stats.Estimate `json:"every_time"`
}

// VersusGreedy compares per-prompt refusal rates with the verdicts on a single
// answer at temperature 0, over the prompts that have both.
type VersusGreedy struct {
	// Target is the target at temperature 0.
	Target  string `json:"target"`
	Prompts int    `json:"prompts"`
	// Refused counts the greedy refusals. Rate is their share, with Wilson's
	// 95% interval.
	Refused int             `json:"refused"`
	Rate    *stats.Estimate `json:"rate"`
	// Difference is the mean refusal rate minus Rate, over the same prompts.
	// Above 0 the greedy verdicts under-count refusals. See
	// stats.MeanDifference.
	Difference *stats.Estimate `json:"difference"`
	// Agree counts the prompts for which most samples do what the greedy answer
	// does. OnlyGreedy counts those refused greedily that most samples answer,
	// and OnlySamples the reverse. Even counts those of which half of the
	// samples refuse. Agreement is the share of Agree, with Wilson's 95%
	// interval.
	Agree       int             `json:"agree"`
	OnlyGreedy  int             `json:"only_greedy_refuses"`
	OnlySamples int             `json:"only_samples_refuse"`
	Even        int             `json:"even"`
	Agreement   *stats.Estimate `json:"agreement"`
	// WhereAnswered is the mean refusal rate of the prompts that are answered
	// greedily: refusals that a single verdict misses by chance. WhereRefused
	// is the mean rate of the others.
	WhereAnswered *stats.Estimate `json:"where_answered"`
	WhereRefused  *stats.Estimate `json:"where_refused"`
	// Histogram is the same for the complete prompts that are refused greedily.
	Histogram []int `json:"histogram"`
}

// PromptPropensity is what a Propensity counts for one prompt.
type PromptPropensity struct {
	// Target is the variant's name.
	Target, Dataset string
	Prompt          orbench.PromptID
	Category        orbench.Category
	Label           orbench.Label
	Judge           string
	// Samples is how often the prompt is asked. Judged of them have a verdict,
	// Refused of those a refusal, and Unjudged have an answer without a
	// verdict.
	Samples, Judged, Refused, Unjudged int
	// Greedy is the class of the answer at temperature 0; Unjudged if there is
	// none.
	Greedy orbench.Class
}
