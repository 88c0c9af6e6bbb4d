package paper

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/orbench/orbench/internal/table"
)

// published is the study without runs, computed once: its bootstrap takes longer than
// the tests, which only read it.
var published = sync.OnceValue(NewStudy)

// The JSON gives the study's headline figures under the names of docs/paper.md.
func TestPaperJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := table.AsJSON.Of(published())(&b); err != nil {
		t.Fatal(err)
	}
	type measured struct {
		Value float64
		CI95  []float64
	}
	var got struct {
		Models []struct {
			Model               string
			Hard                float64 `json:"hard_refusal_pct"`
			Moderator, Selector bool
			Version             string
			HardN               int `json:"hard_n"`
		}
		Correlations []struct {
			Name                       string
			N                          int
			Spearman, Pearson, Kendall measured
		}
		Fit            struct{ A, B, C float64 }
		Residual       measured `json:"residual_toxicity"`
		AdvBench       measured `json:"advbench_spearman"`
		Contradictions []struct{ Where, Printed, Found string }
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	rounded := func(v float64, digits int) float64 {
		return math.Round(v*math.Pow10(digits)) / math.Pow10(digits)
	}
	want := map[string]struct {
		n        int
		spearman float64
		digits   int
	}{
		"all": {32, 0.8935, 4}, "older": {25, 0.8784, 4}, "newer": {7, 1, 4},
		"without_moderators": {29, 0.932, 3}, "without_selectors": {26, 0.889, 3},
	}
	for _, c := range got.Correlations {
		w, ok := want[c.Name]
		if !ok || c.N != w.n || rounded(c.Spearman.Value, w.digits) != w.spearman {
			t.Errorf("%s: Spearman %v over %d models, want %v over %d", c.Name, c.Spearman.Value, c.N, w.spearman, w.n)
		}
		if (len(c.Spearman.CI95) == 2) != (w.spearman < 1) || len(c.Pearson.CI95) != 2 {
			t.Errorf("%s: intervals %v and %v", c.Name, c.Spearman.CI95, c.Pearson.CI95)
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("no correlations for %v", want)
	}
	if r := rounded(got.Correlations[0].Pearson.Value, 3); r != 0.793 {
		t.Errorf("Pearson %v, want 0.793", r)
	}
	if rounded(got.Fit.A, 2) != 75.24 || rounded(got.Fit.B, 4) != 0.4696 || rounded(got.Fit.C, 6) != -0.002246 {
		t.Errorf("the fit is %+v", got.Fit)
	}
	if rounded(got.Residual.Value, 1) != 1.8 || len(got.Residual.CI95) != 2 ||
		rounded(got.Residual.CI95[0], 1) != 0.7 || rounded(got.Residual.CI95[1], 1) != 3.9 {
		t.Errorf("residual toxicity %+v, want 1.8 from 0.7 to 3.9", got.Residual)
	}
	if rounded(got.AdvBench.Value, 3) != 0.991 {
		t.Errorf("AdvBench's Spearman is %v", got.AdvBench.Value)
	}
	if len(got.Models) != 32 || len(got.Contradictions) < 18 {
		t.Errorf("%d models and %d contradictions", len(got.Models), len(got.Contradictions))
	}
}

// Every format shows the models, and has the same bytes again.
func TestPaperFormats(t *testing.T) {
	t.Parallel()
	p := published()
	for name, write := range map[string]func(io.Writer) error{
		"table": table.AsText.Of(p),
		"json":  table.AsJSON.Of(p),
		"csv":   table.AsCSV.Of(p),
		"md":    table.AsMarkdown.Of(p),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b, again bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if err := write(&again); err != nil {
				t.Fatal(err)
			}
			if b.String() != again.String() {
				t.Error("a second time gives other bytes")
			}
			for _, want := range []string{"Llama-3.1-405B", "Claude-2.1"} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s is not in it", want)
				}
			}
			if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
				t.Error("it holds what is no number")
			}
		})
	}
}

// The CSV has a line for each figure, with a number in each.
func TestPaperCSV(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := table.AsCSV.Of(published())(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]int{}
	for _, r := range rows[1:] {
		sections[r[0]]++
		if (r[6] == "") != (r[7] == "") || (r[6] != "") != (r[0] == "correlations" && !(r[1] == "newer" && r[2] != "pearson")) && r[2] != "n" {
			t.Errorf("%v: the interval by families is %s to %s", r, r[6], r[7])
		}
		for _, cell := range r[3:] {
			if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" {
				t.Errorf("%v: %v", r, err)
			}
		}
		if (r[4] == "") != (r[5] == "") {
			t.Errorf("%v has half an interval", r)
		}
	}
	want := map[string]int{
		"models": 4 * 32, "correlations": 4 * 5, "fit": 3, "hard-1k-refusal": 32 * 11, "toxic-acceptance": 32 * 11,
		"80k-keyword-refusal": 20 * 11, "families": 40, "temperature": 10, "keyword-vs-gpt4": 12, "advbench": 15,
		"moderators": 20, "residual_toxicity": 1, "categories": 70,
	}
	for name, n := range want {
		if sections[name] != n {
			t.Errorf("%d lines of %s, want %d", sections[name], name, n)
		}
	}
	if len(sections) != len(want) {
		t.Errorf("sections %v, want those of %v", sections, want)
	}
}
