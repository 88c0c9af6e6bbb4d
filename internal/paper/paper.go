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

// Rates returns the line of a model, which the table must have.
func (t Table) Rates(model string) ModelRates {
	return first(t.Rows, func(r ModelRates) bool { return r.Model == model })
}

// toxicTable is the table of the toxic prompts.
const toxicTable = "toxic-acceptance"

// Tables returns all published tables by category. The first has the share of
// OR-Bench-Hard-1K prompts that 32 models refused; rates of the older models are
// cut to 0.1, not rounded. The second has the share of OR-Bench-Toxic prompts
// that they answered: 100 minus it is the toxic refusal. The third has the share
// of OR-Bench-80K prompts that 20 older models refused, found by matching the
// opening words of answers.
func Tables() []Table {
	all := []Table{
		{Name: "hard-1k-refusal", Title: "refusal of OR-Bench-Hard-1K prompts", Number: 2, Judge: Judge},
		{Name: toxicTable, Title: "acceptance of OR-Bench-Toxic prompts", Number: 6, Judge: Judge},
		{Name: "80k-keyword-refusal", Title: "refusal of OR-Bench-80K prompts", Number: 7, Judge: "opening words"},
	}
	header := []string{"model"}
	for _, c := range orbench.PaperCategories {
		header = append(header, string(c))
	}
	header = append(header, "overall")
	for i := range all {
		all[i].Categories = orbench.PaperCategories
		all[i].Rows = read(all[i].Name+".csv", func(r []string) ModelRates {
			last := len(r) - 1
			return ModelRates{Model: r[0], Rates: numbers(r[1:last]), Overall: number(r[last])}
		}, header...)
	}
	return all
}

// TableOf returns the table with a number in the paper.
func TableOf(number int) Table {
	return first(Tables(), func(t Table) bool { return t.Number == number })
}

// first returns the first element for which is returns true. There must be one.
func first[T any](all []T, is func(T) bool) T { return all[slices.IndexFunc(all, is)] }

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
