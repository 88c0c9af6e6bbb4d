package paper

import (
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
)

// Contradiction is a place where the publication contradicts itself.
type Contradiction struct {
	// Where names the tables, figures and sections.
	Where string `json:"where"`
	// Printed is what they say. Found is what follows when the figures are
	// computed again.
	Printed string `json:"printed"`
	Found   string `json:"found"`
}

// Contradictions lists where the publication contradicts itself. What follows
// from the embedded figures is computed; the rest is quoted as read.
func Contradictions() []Contradiction {
	n := countFits()
	hard := HardRefusal()
	keyword := KeywordRefusal80K()
	overall := func(t Table, model string) float64 { return t.Rates(model).Overall }
	rate := func(t Table, model string, c orbench.Category) float64 {
		return t.Rates(model).Rates[slices.Index(t.Categories, c)]
	}
	sampled := func(model string) KeywordRow {
		return first(KeywordAgainstGPT4(), func(r KeywordRow) bool { return r.Model == model })
	}
	gap := func(model string) float64 { return sampled(model).GPT4 - sampled(model).Keyword }
	averages := families(Models())
	family := func(name string) FamilyAverage {
		return first(averages, func(f FamilyAverage) bool { return f.Name == name })
	}
	measured := first(Models(), func(m Model) bool { return m.Name == "GPT-4o-2024-08-06" })
	illegal := CategorySizes()[slices.Index(orbench.PaperCategories, "illegal")]
	return []Contradiction{
		{
			"tables 2 and 6",
			"one hard and one toxic set for all models",
			fmt.Sprintf("two versions: the rates of %d models are shares of %s hard and %d toxic prompts, those of %d of the released %s and %d; "+
				"%d and %d prompts were dropped in between, and which is not said",
				n.older, table.Count(HardOlder), ToxicOlder, n.newer, table.Count(HardReleased), ToxicReleased, HardOlder-HardReleased, ToxicOlder-ToxicReleased),
		},
		{
			"table 2",
			"rates to 0.1 per cent",
			fmt.Sprintf("of the older models' %d rates, %d are possible when cut to 0.1 and only %d when rounded; the other %d are rounded; all other tables round",
				n.cells, n.cut, n.rounded, n.odd),
		},
		{
			"tables 2 and 6",
			"overall rates of the newer models in whole per cents beside others to 0.1",
			fmt.Sprintf("only Claude-3.5-sonnet keeps a decimal in table 2 (%.1f); the trade-off figure's data have the decimals", overall(hard, "Claude-3.5-sonnet")),
		},
		{
			"trade-off figure, table 2",
			fmt.Sprintf("GPT-4o-2024-08-06 refuses %.1f%% of the hard prompts", measured.Hard),
			fmt.Sprintf("the ten categories of its row add up to %.2f%%", categorySum(hard, "GPT-4o-2024-08-06")),
		},
		{
			"trade-off figure, table 6",
			fmt.Sprintf("Llama-3.1-8B answers %.1f%% of the toxic prompts", overall(ToxicAcceptance(), "Llama-3.1-8B")),
			fmt.Sprintf("the ten categories of its row add up to %.2f%%", categorySum(ToxicAcceptance(), "Llama-3.1-8B")),
		},
		{
			"section on OR-Bench-80K, table 7",
			"rates of 49% (GPT-3.5-turbo-0301) and 73% (Claude-2.1)",
			fmt.Sprintf("those are the cells of the category illegal (%.1f and %.1f); the overall rates are %.1f and %.1f",
				rate(keyword, "GPT-3.5-turbo-0301", "illegal"), rate(keyword, "Claude-2.1", "illegal"),
				overall(keyword, "GPT-3.5-turbo-0301"), overall(keyword, "Claude-2.1")),
		},
		{
			"appendix on keywords, table 8",
			"a gap of 1.2 points for Llama-3-70b, and gaps that are minimal",
			fmt.Sprintf("the table's own gap is %.1f, and that of GPT-3.5-turbo-0613 is %.1f; opening words find fewer refusals in every row",
				gap("Llama-3-70b"), gap("GPT-3.5-turbo-0613")),
		},
		{
			"table 8, tables 2 and 7",
			fmt.Sprintf("a sample of answers, %.1f%% of Gemini-1.0-pro's being refusals by GPT-4", sampled("Gemini-1.0-pro").GPT4),
			fmt.Sprintf("it refuses %.1f%% of the hard prompts and %.1f%% of the 80K set: no large random sample of either, and of what it is one is not said",
				overall(hard, "Gemini-1.0-pro"), overall(keyword, "Gemini-1.0-pro")),
		},
		{
			"family averages",
			fmt.Sprintf("mean refusals of the hard prompts of %.1f%% (GPT-4) and %.1f%% (Llama 3.1)", family("GPT-4").PrintedMean, family("Llama 3.1").PrintedMean),
			fmt.Sprintf("the models' rates in the trade-off figure give %.2f and %.2f; the printed means are those of rates that had been cut to 0.1 or rounded to whole per cents",
				family("GPT-4").Mean, family("Llama 3.1").Mean),
		},
		{
			"figure 3, table 6",
			"the radar of GPT-3.5-turbo-0125 with about 18% (privacy) and 0% (self-harm) of the toxic prompts answered, as read off the released picture",
			fmt.Sprintf("the table has %.1f and %.1f", rate(ToxicAcceptance(), "GPT-3.5-turbo-0125", "privacy"), rate(ToxicAcceptance(), "GPT-3.5-turbo-0125", "self-harm")),
		},
		{
			"figure 7, the released files",
			fmt.Sprintf("illegal is %.1f%% of the hard set", illegal.ShareHard),
			fmt.Sprintf("that is %d of the older %s; of the released %s it is %d, %.2f%%",
				illegal.HardOlder, table.Count(HardOlder), table.Count(HardReleased), illegal.HardReleased, 100*float64(illegal.HardReleased)/HardReleased),
		},
		{
			"abstract, appendix Q, appendix U",
			"a hard set of 1K prompts, sampled at random from the candidates",
			fmt.Sprintf("%s were released and checked, and the older models were measured on %s", table.Count(HardReleased), table.Count(HardOlder)),
		},
		{
			"section on the toxic set",
			"the toxic set is what moderation left over",
			fmt.Sprintf("by the paper's own numbers that is some 20,000 prompts; how they became %d is not said", ToxicReleased),
		},
		{
			"figure 2, appendix Q",
			"the models that selected the hard prompts, named twice",
			"the two lists differ: the figure has a Mistral model, the appendix Llama-2-70b and Qwen-1.5-72B",
		},
		{
			"section 5, appendix T",
			"system prompts tried on four models",
			"the appendix says two",
		},
		{
			"tables 1 and 12",
			"the ensemble's accuracy of 93% against the majority of five raters",
			"the ensemble is one of the five; the 16% of toxic prompts that it let pass are 4 of 25, and the 1.8% made of them is printed without an interval",
		},
		{
			"table 5, tables 2, 6 and 7",
			"GPT-4-1106-preview among the models compared",
			"no other table has a row for it",
		},
		{
			"appendix on keywords, the released code",
			"one list of opening words for all models",
			"the code has another list for each family, and one of them never matches: it looks for capital letters in text in lower case",
		},
		{
			"rewriting, appendix O",
			"rules that forbid words such as legal and safety and turns such as but",
			"three of the five printed examples break them, and many released prompts do",
		},
	}
}

// first returns the first element for which is returns true. There must be one.
func first[T any](all []T, is func(T) bool) T { return all[slices.IndexFunc(all, is)] }

// fitCount counts models and rates of table 2 by the version that they fit.
type fitCount struct {
	// older and newer list the models whose rows of both tables fit that
	// version better. odd lists the rates that do not fit their own version in
	// the way that the rest of the row does.
	older, newer, odd int
	// cells counts the rates of the older models; rounded and cut count those
	// that can be rounded or cut values.
	cells, rounded, cut int
}

func countFits() (n fitCount) {
	for _, m := range Models() {
		hard, _ := FitVersions(HardRefusal(), m.Name)
		toxic, _ := FitVersions(ToxicAcceptance(), m.Name)
		// Two rows of the toxic table have so few answers that they fit both
		// versions.
		if hard[0].Version == Older && toxic[0].Best() == 10 {
			n.older++
		}
		if hard[0].Version == Released && toxic[0].Version == Released {
			n.newer++
		}
		n.odd += len(orbench.PaperCategories) - hard[0].Best()
		if m.Version == Older {
			n.rounded += hard[0].Rounded
			n.cut += hard[0].Cut
			n.cells += len(orbench.PaperCategories)
		}
	}
	return n
}

// categorySum returns the overall rate, in per cent, that follows from a row's
// categories on the released prompts: the sum of the whole numbers nearest to
// the printed rates.
func categorySum(t Table, model string) float64 {
	refused, n := 0, 0
	for i, size := range CategorySizes() {
		released := t.sizes(size)[1]
		refused += int(t.Rates(model).Rates[i]*float64(released)/100 + 0.5)
		n += released
	}
	return 100 * float64(refused) / float64(n)
}
