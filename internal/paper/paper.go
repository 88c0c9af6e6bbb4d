package paper

import (
	"bytes"
	"embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Source names the publication that all figures of this package come from.
const Source = "Cui et al., OR-Bench, ICML 2025 (arXiv 2405.20947)"

// Judge names the judge that decided the refusals of Models, HardRefusal and
// ToxicAcceptance.
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
	return read("models.csv", func(r []string) Model {
		m := Model{
			Name: r[0], Family: r[1], Hard: number(r[2]), Toxic: number(r[3]), HardN: whole(r[4]), ToxicN: whole(r[5]),
			Version: Older, Moderator: slices.Contains(moderators, r[0]), Selector: slices.Contains(selectors, r[0]),
		}
		if m.HardN == HardReleased {
			m.Version = Released
		}
		return m
	}, "model", "family", "hard_1k_refusal_pct", "toxic_refusal_pct", "hard_n", "toxic_n")
}

// Table is one published table of rates by model and category, in per cent.
type Table struct {
	// Name identifies the table in file names and JSON.
	Name string `json:"name"`
	// Title says what the rates are.
	Title string `json:"title"`
	// Number is the table's number in the paper.
	Number int `json:"number"`
	// Judge names what decided the refusals.
	Judge string `json:"judge"`
	// Categories are the columns of every row, in order.
	Categories []orbench.Category `json:"categories"`
	Rows       []ModelRates       `json:"rows"`
}

// ModelRates is one model's line of a Table.
type ModelRates struct {
	// Model is the Name of one of Models.
	Model string `json:"model"`
	// Rates has one entry for each of the table's Categories.
	Rates []float64 `json:"rates_pct"`
	// Overall is the printed rate over all prompts. For the newer models the
	// paper rounds it to a whole per cent.
	Overall float64 `json:"overall_pct"`
}

// Rates returns the line of a model. It has no name if the table lacks the
// model.
func (t Table) Rates(model string) ModelRates {
	for _, r := range t.Rows {
		if r.Model == model {
			return r
		}
	}
	return ModelRates{}
}

// Refusal turns a rate of the table into one of refusals, and back, in per cent.
func (t Table) Refusal(rate float64) float64 {
	if t.Name == toxicTable {
		return 100 - rate
	}
	return rate
}

// The names of the tables that exist for two versions of the datasets.
const (
	hardTable  = "hard-1k-refusal"
	toxicTable = "toxic-acceptance"
)

// Tables returns all published tables by category: HardRefusal, ToxicAcceptance
// and KeywordRefusal80K.
func Tables() []Table {
	return []Table{HardRefusal(), ToxicAcceptance(), KeywordRefusal80K()}
}

// HardRefusal returns the share of OR-Bench-Hard-1K prompts that 32 models
// refused (table 2). Rates of the older models are cut to 0.1, not rounded.
func HardRefusal() Table {
	return byCategory(hardTable, "refusal of OR-Bench-Hard-1K prompts", 2, Judge)
}

// ToxicAcceptance returns the share of OR-Bench-Toxic prompts that 32 models
// answered (table 6). Note the direction: 100 minus it is the toxic refusal.
func ToxicAcceptance() Table {
	return byCategory(toxicTable, "acceptance of OR-Bench-Toxic prompts", 6, Judge)
}

// KeywordRefusal80K returns the share of OR-Bench-80K prompts that 20 older
// models refused, found by matching the opening words of answers (table 7).
func KeywordRefusal80K() Table {
	return byCategory("80k-keyword-refusal", "refusal of OR-Bench-80K prompts", 7, "opening words")
}

func byCategory(name, title string, nr int, judge string) Table {
	header := []string{"model"}
	for _, c := range orbench.PaperCategories {
		header = append(header, string(c))
	}
	header = append(header, "overall")
	rows := read(name+".csv", func(r []string) ModelRates {
		last := len(r) - 1
		return ModelRates{Model: r[0], Rates: numbers(r[1:last]), Overall: number(r[last])}
	}, header...)
	return Table{Name: name, Title: title, Number: nr, Judge: judge, Categories: orbench.PaperCategories, Rows: rows}
}

// TradeOff returns the published least-squares fit of toxic refusal (y) on the
// refusal of hard safe prompts (x) over the 32 models, both in per cent. It
// describes the models of its time between x = 3 and x = 100 and predicts
// nothing beyond them.
func TradeOff() stats.Quadratic { return stats.Quadratic{A: 75.2406, B: 0.46958, C: -0.0022456} }

// read converts each row of an embedded file after its header. The files are
// part of the program, so a fault in one is a programming error.
func read[T any](name string, of func(row []string) T, header ...string) []T {
	text, err := data.ReadFile("data/" + name)
	if err != nil {
		panic(fmt.Sprintf("paper: %v", err))
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil || !slices.Equal(rows[0], header) {
		panic(fmt.Sprintf("paper: %s: %v, or its columns are not %q", name, err, header))
	}
	var all []T
	for _, row := range rows[1:] {
		all = append(all, of(row))
	}
	return all
}

func numbers(cells []string) []float64 {
	var all []float64
	for _, cell := range cells {
		all = append(all, number(cell))
	}
	return all
}

func whole(s string) int { return int(number(s)) }

func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("paper: embedded figure: %v", err))
	}
	return v
}
