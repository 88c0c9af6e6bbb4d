package paper

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// Source names the publication that all figures of this package come from.
const Source = "Cui et al., OR-Bench, ICML 2025 (arXiv 2405.20947)"

// Judge names the judge that decided the refusals of Models and of the tables of
// hard and toxic prompts.
const Judge = "gpt-4-turbo-2024-04-09"

//go:embed data/*.csv
var data embed.FS

// Model is one published point of the trade-off figure.
type Model struct {
	Name string `json:"model"`
	// Family is a series of related models.
	Family string `json:"family"`
	// Hard is the share of OR-Bench-Hard-1K prompts refused, in per cent.
	Hard float64 `json:"hard_refusal_pct"`
	// Toxic is the share of OR-Bench-Toxic prompts refused, in per cent.
	Toxic float64 `json:"toxic_refusal_pct"`
	// HardN and ToxicN are the numbers of prompts behind Hard and Toxic. The
	// paper does not print them. They are the smallest numbers with which every
	// printed percentage of the model's row corresponds to a whole number of
	// prompts.
	HardN  int `json:"hard_n"`
	ToxicN int `json:"toxic_n"`
	// Version is the version of the datasets that HardN and ToxicN match.
	Version Version `json:"version"`
	// Moderator is true for the three models that decided which prompts are safe.
	Moderator bool `json:"moderator"`
	// Selector is true for the six models that the paper names among those
	// whose refusals chose the hard prompts. A selector refuses more of them
	// than an equally strict model that chose none.
	Selector bool `json:"selector"`
}

// moderators and selectors are the models of the paper's section 3.2.3 and its
// appendix Q.
var (
	moderators = []string{"GPT-4-turbo-2024-04-09", "Llama-3-70b", "Gemini-1.5-pro"}
	selectors  = []string{
		"GPT-3.5-turbo-0125", "Llama-2-70b", "Llama-3-70b", "Claude-3-opus", "Qwen-1.5-72B", "Gemini-1.5-pro",
	}
)

// Models returns the 32 published models in the order of the figure's data.
func Models() []Model {
	_, all := read("models", func(r []string) Model {
		m := Model{
			Name: r[0], Family: r[1], Hard: number(r[2]), Toxic: number(r[3]), HardN: whole(r[4]), ToxicN: whole(r[5]),
			Version: Older, Moderator: slices.Contains(moderators, r[0]), Selector: slices.Contains(selectors, r[0]),
		}
		if m.HardN == HardReleased {
			m.Version = Released
		}
		return m
	})
	return all
}

// Table is one published table. Rates and shares are in per cent.
type Table struct {
	// Name identifies the table in file names and JSON.
	Name string `json:"name"`
	// Title says what the table is.
	Title string `json:"title"`
	// Note is what its reader must know.
	Note string `json:"note,omitempty"`
	// Columns are those of every row, in order. A name that ends in "_n" is of counts.
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is one line of a Table: a model, or a category.
type Row struct {
	Name string `json:"name"`
	// Values has one entry for each of the table's Columns.
	Values []float64 `json:"values"`
}

// The tables' names, and the column of rates over all prompts. For the newer models the
// paper rounds those to a whole per cent.
const (
	// HardRefusal has the share of OR-Bench-Hard-1K prompts that 32 models refused. Rates of
	// the older models are cut to 0.1, not rounded.
	HardRefusal = "hard-1k-refusal"
	// ToxicAcceptance has the share of OR-Bench-Toxic prompts that they answered: 100 minus
	// it is the toxic refusal.
	ToxicAcceptance = "toxic-acceptance"
	// KeywordRefusal has the share of OR-Bench-80K prompts that 20 older models refused,
	// found by matching the opening words of answers.
	KeywordRefusal = "80k-keyword-refusal"
	// Temperature has two models that were sampled at several temperatures.
	Temperature = "temperature"
	// KeywordAgainstGPT4 has one sample of answers, by two judges.
	KeywordAgainstGPT4 = "keyword-vs-gpt4"
	// AdvBench has the models that were also measured with AdvBench.
	AdvBench = "advbench"
	// Categories has the shares that figure 7 prints, and numbers of prompts by Version.
	Categories = "categories"

	Overall = "overall"
)

// Tables returns the published tables.
func Tables() []Table {
	all := []Table{
		{Name: HardRefusal, Title: "Table 2: refusal of OR-Bench-Hard-1K prompts, per cent, judged by " + Judge},
		{Name: ToxicAcceptance, Title: "Table 6: acceptance of OR-Bench-Toxic prompts, per cent, judged by " + Judge},
		{Name: KeywordRefusal, Title: "Table 7: refusal of OR-Bench-80K prompts, per cent, judged by opening words"},
		{Name: Temperature, Title: "Table 4: refusal of hard prompts by temperature, per cent", Note: "Two models that refuse most prompts anyway, one run each."},
		{Name: KeywordAgainstGPT4, Title: "Table 8: refusal by opening words and by GPT-4, per cent", Note: "The sample's size is not published, so there are no intervals."},
		{Name: AdvBench, Title: "Table 5: toxic prompts answered, per cent"},
		{
			Name: Categories, Title: "Figure 7: categories of the three sets, per cent, and numbers of prompts",
			Note: fmt.Sprintf("The printed shares of the hard and the toxic set are those of the older version: %d and %d prompts. Released were %d and %d.", HardOlder, ToxicOlder, HardReleased, ToxicReleased),
		},
	}
	for i := range all {
		var header []string
		header, all[i].Rows = read(all[i].Name, func(r []string) Row { return Row{r[0], table.RowsOf(r[1:], number)} })
		all[i].Columns = header[1:]
	}
	return all
}

// TableOf returns the table with a name.
func TableOf(name string) Table {
	return first(Tables(), func(t Table) bool { return t.Name == name })
}

// Of returns the value of a row in a column. The table must have both.
func (t Table) Of(name, column string) float64 {
	return first(t.Rows, func(r Row) bool { return r.Name == name }).Values[slices.Index(t.Columns, column)]
}

// first returns the first element for which is returns true. There must be one.
func first[T any](all []T, is func(T) bool) T { return all[slices.IndexFunc(all, is)] }

// TradeOff returns the published least-squares fit of toxic refusal (y) on the
// refusal of hard safe prompts (x) over the 32 models, both in per cent. It
// describes the models of its time between x = 3 and x = 100 and predicts
// nothing beyond them.
func TradeOff() stats.Quadratic { return stats.Quadratic{A: 75.2406, B: 0.46958, C: -0.0022456} }

// read gives the header of an embedded file, and converts its rows. The files are part of
// the program, so a fault in one is a programming error.
func read[T any](name string, of func(row []string) T) (header []string, all []T) {
	text, err := data.ReadFile("data/" + name + ".csv")
	if err != nil {
		panic(fmt.Sprintf("paper: %v", err))
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		panic(fmt.Sprintf("paper: %s: %v", name, err))
	}
	return rows[0], table.RowsOf(rows[1:], of)
}

func whole(s string) int { return int(number(s)) }

func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("paper: embedded figure: %v", err))
	}
	return v
}

// Contradiction is a place where the publication contradicts itself.
type Contradiction struct {
	// Where names the tables, figures and sections.
	Where string `json:"where"`
	// Printed is what they say. Found is what follows when the figures are
	// computed again.
	Printed string `json:"printed"`
	Found   string `json:"found"`
}

// Contradictions lists where the publication contradicts itself.
func Contradictions() []Contradiction {
	_, all := read("contradictions", func(r []string) Contradiction { return Contradiction{r[0], r[1], r[2]} })
	return all
}

// Version is a version of the hard and the toxic prompts. The published tables
// mix two versions without saying so.
type Version string

// The versions. The files available for download are Released.
const (
	Older    Version = "older"
	Released Version = "released"
)

// The sizes of the datasets.
const (
	HardOlder     = 1534
	HardReleased  = 1319
	ToxicOlder    = 681
	ToxicReleased = 655
)

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
	_, all := read("moderators", func(r []string) Moderator {
		return Moderator{r[0], stats.Confusion{TP: whole(r[1]), FN: whole(r[2]), TN: whole(r[3]), FP: whole(r[4])}}
	})
	return all
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
