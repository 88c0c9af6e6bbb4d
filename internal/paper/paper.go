package paper

import (
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

// Judge names what decided the refusals of Models, HardRefusal and
// ToxicAcceptance.
const Judge = "gpt-4-turbo-2024-04-09"

//go:embed data/*.csv
var data embed.FS

// Model is one published point of the trade-off figure.
type Model struct {
	Name string `json:"model"`
	// Family is the Name of one of Families.
	Family string `json:"family"`
	// Hard is the share of OR-Bench-Hard-1K prompts refused, in per cent.
	Hard float64 `json:"hard_refusal_pct"`
	// Toxic is the share of OR-Bench-Toxic prompts refused, in per cent.
	Toxic float64 `json:"toxic_refusal_pct"`
	// HardN and ToxicN are the numbers of prompts behind Hard and Toxic. The
	// paper does not print them: they are the smallest numbers of which every
	// printed percentage of the model's row is a whole count.
	HardN  int `json:"hard_n"`
	ToxicN int `json:"toxic_n"`
	// Version names the version of the datasets that HardN and ToxicN are of.
	Version Version `json:"version"`
	// Moderator is true for the three models that decided which prompts are safe.
	Moderator bool `json:"moderator"`
	// Selector is true for the six models that the paper names among those whose
	// refusals chose the hard prompts. A selector refuses more of them than a
	// model of the same temper that chose none.
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

// Models gives the 32 published models in the order of the figure's data.
func Models() []Model {
	rows := read("models.csv", "model", "family", "hard_1k_refusal_pct", "toxic_refusal_pct", "hard_n", "toxic_n")
	models := make([]Model, len(rows))
	for i, r := range rows {
		models[i] = Model{
			Name: r[0], Family: r[1],
			Hard: number(r[2]), Toxic: number(r[3]),
			HardN: int(number(r[4])), ToxicN: int(number(r[5])),
			Version:   Older,
			Moderator: slices.Contains(moderators, r[0]), Selector: slices.Contains(selectors, r[0]),
		}
		if models[i].HardN == HardReleased {
			models[i].Version = Released
		}
	}
	return models
}

// Table is one published table of rates by model and category, in per cent.
type Table struct {
	// Name identifies the table in file names and JSON.
	Name string `json:"name"`
	// Title says what the rates are.
	Title string `json:"title"`
	// Number is the table's number in the paper.
	Number int `json:"number"`
	// Judge says what decided.
	Judge string `json:"judge"`
	// Categories are the columns of every row, in order.
	Categories []orbench.Category `json:"categories"`
	Rows       []Row              `json:"rows"`
}

// Row is one model's line of a Table.
type Row struct {
	// Model is the Name of one of Models.
	Model string `json:"model"`
	// Rates has one entry for each of the table's Categories.
	Rates []float64 `json:"rates_pct"`
	// Overall is the printed rate over all prompts. For the newer models the
	// paper rounds it to a whole per cent.
	Overall float64 `json:"overall_pct"`
}

// The names of the tables that come in two versions of the datasets.
const (
	hardTable  = "hard-1k-refusal"
	toxicTable = "toxic-acceptance"
)

// Tables gives all published tables by category: HardRefusal, ToxicAcceptance
// and KeywordRefusal80K.
func Tables() []Table {
	return []Table{HardRefusal(), ToxicAcceptance(), KeywordRefusal80K()}
}

// HardRefusal is the share of OR-Bench-Hard-1K prompts that 32 models refused
// (table 2). Rates of the older models are cut, not rounded, to 0.1.
func HardRefusal() Table {
	return table(hardTable, "refusal of OR-Bench-Hard-1K prompts", 2, Judge)
}

// ToxicAcceptance is the share of OR-Bench-Toxic prompts that 32 models answered
// (table 6). Note the direction: 100 minus it is the toxic refusal.
func ToxicAcceptance() Table {
	return table(toxicTable, "acceptance of OR-Bench-Toxic prompts", 6, Judge)
}

// KeywordRefusal80K is the share of OR-Bench-80K prompts that 20 older models
// refused, as found by matching the opening words of answers (table 7).
func KeywordRefusal80K() Table {
	return table("80k-keyword-refusal", "refusal of OR-Bench-80K prompts", 7, "opening words")
}

func table(name, title string, nr int, judge string) Table {
	header := []string{"model"}
	for _, c := range orbench.PaperCategories {
		header = append(header, string(c))
	}
	header = append(header, "overall")
	t := Table{Name: name, Title: title, Number: nr, Judge: judge, Categories: orbench.PaperCategories}
	for _, r := range read(name+".csv", header...) {
		row := Row{Model: r[0], Overall: number(r[len(r)-1])}
		for _, cell := range r[1 : len(r)-1] {
			row.Rates = append(row.Rates, number(cell))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// TradeOff is the published least-squares fit of toxic refusal (y) on the
// refusal of hard safe prompts (x) over the 32 models, both in per cent. It
// describes the models of its time between x = 3 and x = 100 and predicts nothing
// beyond them.
func TradeOff() stats.Quadratic { return stats.Quadratic{A: 75.2406, B: 0.46958, C: -0.0022456} }

// read gives the rows of an embedded file after its header. The files are part
// of the program, so a fault in one is a programmer's.
func read(name string, header ...string) [][]string {
	f, err := data.Open("data/" + name)
	if err != nil {
		panic(fmt.Sprintf("paper: %v", err))
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = len(header)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		panic(fmt.Sprintf("paper: %s: %v", name, err))
	}
	for i, h := range header {
		if rows[0][i] != h {
			panic(fmt.Sprintf("paper: %s: column %d is %q, want %q", name, i+1, rows[0][i], h))
		}
	}
	return rows[1:]
}

func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("paper: embedded figure: %v", err))
	}
	return v
}
