package paper_test

import (
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/paper"
)

func TestModels(t *testing.T) {
	t.Parallel()
	models := paper.Models()
	if len(models) != 32 {
		t.Fatalf("%d models, want 32", len(models))
	}
	families := map[string]int{}
	seen := map[string]bool{}
	newer := 0
	for _, m := range models {
		if seen[m.Name] {
			t.Errorf("%s is there twice", m.Name)
		}
		seen[m.Name] = true
		families[m.Family]++
		for _, v := range []float64{m.Hard, m.Toxic} {
			if !(v >= 0 && v <= 100) {
				t.Errorf("%s has the rate %v", m.Name, v)
			}
		}
		switch {
		case m.HardN == 1319 && m.ToxicN == 655:
			newer++
		case m.HardN != 1534 || m.ToxicN != 681:
			t.Errorf("%s was measured on %d and %d prompts, which is neither version", m.Name, m.HardN, m.ToxicN)
		}
	}
	if newer != 7 {
		t.Errorf("%d models are on the released version, want 7", newer)
	}
	for name, n := range families {
		if n == 0 {
			t.Errorf("the family %s has no model", name)
		}
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	byName := map[string]paper.Model{}
	for _, m := range paper.Models() {
		byName[m.Name] = m
	}
	rows := map[string]int{paper.HardRefusal: 32, paper.ToxicAcceptance: 32, paper.KeywordRefusal: 20, paper.Temperature: 2, paper.KeywordAgainstGPT4: 6, paper.AdvBench: 7, paper.Categories: 10}
	tables := paper.Tables()
	if len(tables) != len(rows) {
		t.Fatalf("%d tables, want %d", len(tables), len(rows))
	}
	var header []string
	for _, c := range orbench.PaperCategories {
		header = append(header, string(c))
	}
	header = append(header, paper.Overall)
	for _, table := range tables {
		t.Run(table.Name, func(t *testing.T) {
			t.Parallel()
			if len(table.Rows) != rows[table.Name] {
				t.Errorf("%d rows, want %d", len(table.Rows), rows[table.Name])
			}
			for _, row := range table.Rows {
				if len(row.Values) != len(table.Columns) {
					t.Errorf("%s has %d values", row.Name, len(row.Values))
				}
			}
			if !slices.Contains([]string{paper.HardRefusal, paper.ToxicAcceptance, paper.KeywordRefusal}, table.Name) {
				return
			}
			if !slices.Equal(table.Columns, header) || len(header) != 11 {
				t.Errorf("columns %v", table.Columns)
			}
			for _, row := range table.Rows {
				m, ok := byName[row.Name]
				if !ok {
					t.Errorf("%q is not one of Models", row.Name)
				}
				overall := row.Values[10]
				lo, hi := slices.Min(row.Values[:10]), slices.Max(row.Values[:10])
				if lo < 0 || hi > 100 || overall < lo-1 || overall > hi+1 {
					t.Errorf("%s: overall %v with categories from %v to %v", row.Name, overall, lo, hi)
				}
				// The figure and the tables say the same, up to the tables'
				// rounding to whole per cents.
				switch table.Name {
				case paper.HardRefusal:
					if math.Abs(overall-m.Hard) > 0.5 {
						t.Errorf("%s: %v here, %v in the figure", row.Name, overall, m.Hard)
					}
				case paper.ToxicAcceptance:
					if math.Abs(100-overall-m.Toxic) > 0.51 {
						t.Errorf("%s: acceptance %v here, refusal %v in the figure", row.Name, overall, m.Toxic)
					}
				}
			}
		})
	}
}

// The published curve is the least-squares fit of the embedded points, so points
// and curve check each other.
func TestTradeOffIsTheFitOfTheModels(t *testing.T) {
	t.Parallel()
	models := paper.Models()
	x := mat.NewDense(len(models), 3, nil)
	y := mat.NewVecDense(len(models), nil)
	var hard, toxic []float64
	for i, m := range models {
		x.SetRow(i, []float64{1, m.Hard, m.Hard * m.Hard})
		y.SetVec(i, m.Toxic)
		hard, toxic = append(hard, m.Hard), append(toxic, m.Toxic)
	}
	var c mat.VecDense
	if err := c.SolveVec(x, y); err != nil {
		t.Fatal(err)
	}
	fit := paper.TradeOff()
	for i, want := range []float64{fit.A, fit.B, fit.C} {
		if got := c.AtVec(i); math.Abs(got-want) > 1e-4*math.Abs(want) {
			t.Errorf("coefficient %d is %v by least squares, %v as published", i, got, want)
		}
	}
	if got, want := fit.At(50), 93.1056; math.Abs(got-want) > 1e-9 {
		t.Errorf("At(50) = %v, want %v", got, want)
	}
	if r := stat.Correlation(hard, toxic, nil); math.Abs(r-0.793) > 5e-4 {
		t.Errorf("Pearson's correlation is %v, want 0.793", r)
	}
}

// The embedded figures are those of the collection that they were carried over
// from, cell by cell, up to the spelling of model names.
func TestFiguresMatchTheirOrigin(t *testing.T) {
	t.Parallel()
	const dir = "../../../shared/data/or-bench-paper-"
	if _, err := os.Stat(dir + "models.csv"); err != nil {
		t.Skipf("the collected figures are not here: %v", err)
	}
	load := func(name string) [][]string {
		f, err := os.Open(dir + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows[1:]
	}
	same := func(what, cell string, got float64) {
		t.Helper()
		want, err := strconv.ParseFloat(cell, 64)
		if err != nil || got != want {
			t.Errorf("%s is %v, want %s", what, got, cell)
		}
	}
	models := paper.Models()
	for i, row := range load("models") {
		if models[i].Name != row[0] || models[i].Family != row[1] {
			t.Errorf("model %d is %+v, want %v", i, models[i], row)
		}
		same(row[0]+" hard", row[2], models[i].Hard)
		same(row[0]+" toxic", row[3], models[i].Toxic)
	}
	for _, name := range []string{paper.HardRefusal, paper.ToxicAcceptance, paper.KeywordRefusal} {
		for i, row := range load(name) {
			for j, rate := range paper.TableOf(name).Rows[i].Values {
				same(name+" "+row[0], row[j+1], rate)
			}
		}
	}
}
