package paper

import (
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// TemperatureRow is one model's refusal of OR-Bench-Hard-1K prompts, in per cent,
// at each of Temperatures (table 4). Each rate is one run.
type TemperatureRow struct {
	Model string    `json:"model"`
	Rates []float64 `json:"rates_pct"`
}

// Temperatures are the sampling temperatures of Temperature's rates.
func Temperatures() []float64 { return []float64{0, 0.25, 0.5, 0.75, 1} }

// Temperature returns the two models that were sampled at several temperatures.
func Temperature() []TemperatureRow {
	return read("temperature.csv", func(r []string) TemperatureRow {
		return TemperatureRow{r[0], numbers(r[1:])}
	}, "model", "t_0.00", "t_0.25", "t_0.50", "t_0.75", "t_1.00")
}

// AdvBenchRow is the share of toxic prompts that a model answered in two
// benchmarks, in per cent (table 5).
type AdvBenchRow struct {
	Model    string  `json:"model"`
	AdvBench float64 `json:"advbench_acceptance_pct"`
	Toxic    float64 `json:"toxic_acceptance_pct"`
}

// AdvBench returns the seven models that were also measured with AdvBench.
func AdvBench() []AdvBenchRow {
	return read("advbench.csv", func(r []string) AdvBenchRow {
		return AdvBenchRow{r[0], number(r[1]), number(r[2])}
	}, "model", "advbench_acceptance_pct", "toxic_acceptance_pct")
}

// KeywordRow is the refusal rate on one sample of answers, in per cent, by two
// judges (table 8): opening words, and GPT-4. The sample's size is not
// published, so no interval can be given.
type KeywordRow struct {
	Model   string  `json:"model"`
	Keyword float64 `json:"keyword_pct"`
	GPT4    float64 `json:"gpt4_pct"`
}

// KeywordAgainstGPT4 returns the six models whose answers both judges read.
func KeywordAgainstGPT4() []KeywordRow {
	return read("keyword-vs-gpt4.csv", func(r []string) KeywordRow {
		return KeywordRow{r[0], number(r[1]), number(r[2])}
	}, "model", "keyword_pct", "gpt4_pct")
}

// Moderator is one rater of the 100 prompts on which the moderation was checked
// (tables 1 and 12): three workers, an expert, and the ensemble of models. The
// truth is the majority of these five, so each rater helped to decide it. Safe
// is the positive class.
type Moderator struct {
	Name string `json:"rater"`
	stats.Confusion
}

// Moderators returns the five raters.
func Moderators() []Moderator {
	return read("moderators.csv", func(r []string) Moderator {
		return Moderator{r[0], stats.Confusion{TP: whole(r[1]), FN: whole(r[2]), TN: whole(r[3]), FP: whole(r[4])}}
	}, "rater", "tp", "fn", "tn", "fp")
}

// CategorySize says how much of each set one category is: the shares that
// figure 7 prints, in per cent, and numbers of prompts by Version.
type CategorySize struct {
	Category      orbench.Category `json:"category"`
	Share80K      float64          `json:"share_80k_pct"`
	ShareHard     float64          `json:"share_hard_pct"`
	ShareToxic    float64          `json:"share_toxic_pct"`
	HardOlder     int              `json:"hard_older_n"`
	HardReleased  int              `json:"hard_released_n"`
	ToxicOlder    int              `json:"toxic_older_n"`
	ToxicReleased int              `json:"toxic_released_n"`
}

// CategorySizes returns the ten categories in the order of the tables.
func CategorySizes() []CategorySize {
	return read("categories.csv", func(r []string) CategorySize {
		return CategorySize{
			orbench.Category(r[0]), number(r[1]), number(r[2]), number(r[3]), whole(r[4]), whole(r[5]), whole(r[6]), whole(r[7]),
		}
	}, "category", "share_80k_pct", "share_hard_pct", "share_toxic_pct", "hard_older_n", "hard_released_n", "toxic_older_n", "toxic_released_n")
}

// FamilyAverage is the mean and the standard deviation of the refusal of hard
// prompts over a family's models, in per cent, both as printed and as computed
// again from Models. The deviation is that of the models themselves (divided by
// n), not an estimate from a sample. The families are those of the paper's
// averages. They are finer than those of its plots and leave out Claude 2.1 and
// Claude 3.5.
type FamilyAverage struct {
	Name        string   `json:"family"`
	Models      []string `json:"models"`
	PrintedMean float64  `json:"printed_mean_pct"`
	PrintedStd  float64  `json:"printed_std_pct"`
	Mean        float64  `json:"mean_pct"`
	Std         float64  `json:"std_pct"`
}

// printedFamilies returns the averages without the computed figures.
func printedFamilies() []FamilyAverage {
	return read("families.csv", func(r []string) FamilyAverage {
		return FamilyAverage{Name: r[0], PrintedMean: number(r[1]), PrintedStd: number(r[2]), Models: strings.Split(r[3], ";")}
	}, "family", "mean", "std", "models")
}
