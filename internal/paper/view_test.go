package paper

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/table"
)

var update = flag.Bool("update", false, "rewrite the pictures of docs/paper.md")

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
		"80k-keyword-refusal": 20 * 11, "families": 40, "temperature": 10, "keyword_against_gpt4": 12, "advbench": 15,
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

// The names of the trade-off plot cover neither each other nor a mark, and each
// stands in one of its two parts.
func TestPaperNamesDoNotCollide(t *testing.T) {
	t.Parallel()
	spots := published().spots()
	texts := map[string]int{}
	for part, g := range map[string]chart.Plot{"all": allPlot, "enlarged": cornerPlot} {
		s := scatter{spots, part == "enlarged"}
		// About what the axes leave of the figure.
		height := vg.Length(510)
		if s.enlarged {
			height = 155
		}
		c := draw.New(vgimg.New(870, height))
		x, y := g.Transforms(&c)
		labels, placed := s.arrange(&c, g)
		box := func(i int) vg.Rectangle {
			corner := placed[i].Corner
			return vg.Rectangle{Min: corner, Max: vg.Point{X: corner.X + labels[i].Width, Y: corner.Y + labels[i].Height}}
		}
		for i, l := range labels {
			texts[l.Text]++
			b := box(i)
			if b.Min.X < c.Min.X || b.Max.X > c.Max.X || b.Min.Y < c.Min.Y || b.Max.Y > c.Max.Y {
				t.Errorf("%s: %s is cut", part, l.Text)
			}
			for k, other := range labels[:i] {
				if chart.Overlap(b, box(k)) > 0 {
					t.Errorf("%s: %s and %s collide", part, l.Text, other.Text)
				}
			}
			for _, spot := range s.shown() {
				at := vg.Point{X: x(spot.x), Y: y(spot.y)}
				if at != l.At && !placed[i].Led && chart.Distance(b, at) <= chart.Distance(b, l.At) {
					t.Errorf("%s: %s could be the name of %s", part, l.Text, spot.name)
				}
				if chart.Overlap(b, chart.SquareAround(at, 3)) > 0 {
					t.Errorf("%s: %s covers the mark of %s", part, l.Text, spot.name)
				}
			}
			if !s.enlarged && (chart.Overlap(b, s.legendArea(&c)) > 0 || chart.Overlap(b, s.frameArea(&c, g)) > 0) {
				t.Errorf("%s covers the legend or the frame", l.Text)
			}
		}
	}
	if len(texts) != len(spots) {
		t.Errorf("%d names, want %d", len(texts), len(spots))
	}
	for text, n := range texts {
		if n != 1 {
			t.Errorf("%s is named %d times", text, n)
		}
	}
}

// The plot says what it is of.
func TestPaperPlot(t *testing.T) {
	t.Parallel()
	texts := pagetest.FigureTexts(t, published().scatterFigure())
	for _, want := range []string{"GPT-4o", "Llama-3-70b*†", "Mistral"} {
		if !slices.Contains(texts, want) {
			t.Errorf("the plot lacks the text %q", want)
		}
	}
}

// Nothing of a folder is left out, and drawing again gives the same bytes.
func TestPaperFolder(t *testing.T) {
	t.Parallel()
	p := published()
	root := t.TempDir()
	dir := filepath.Join(root, "a", "first")
	if err := p.Write(dir); err != nil {
		t.Fatal(err)
	}
	again := map[string]func(io.Writer) error{
		"paper.json": table.AsJSON.Of(p), "paper.csv": table.AsCSV.Of(p), "paper.md": table.AsMarkdown.Of(p),
	}
	plot := p.scatterFigure()
	again["tradeoff.svg"], again["tradeoff.png"] = plot.SVG, plot.PNG
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		draw, ok := again[e.Name()]
		if !ok {
			t.Errorf("nothing should write %s", e.Name())
			continue
		}
		delete(again, e.Name())
		first, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var second bytes.Buffer
		if err := draw(&second); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second.Bytes()) {
			t.Errorf("%s has other bytes the second time", e.Name())
		}
		if head := map[string]string{".png": "\x89PNG"}[filepath.Ext(e.Name())]; !bytes.HasPrefix(first, []byte(head)) {
			t.Errorf("%s begins with %q", e.Name(), first[:8])
		}
	}
	for name := range again {
		t.Errorf("%s is not written", name)
	}
	if err := p.Write(dir); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("a second report into the folder: %v, want an input error", err)
	}
	entries, err = os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the report there is %v (%v)", entries, err)
	}
}

// The picture of docs/paper.md is this; -update writes it.
func TestPaperPicture(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "docs", "images", "paper-tradeoff.svg")
	var b bytes.Buffer
	if err := published().scatterFigure().SVG(&b); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, b.Bytes()) {
		t.Errorf("%s is out of date: go test ./internal/paper -run TestPaperPicture -update", file)
	}
}

func TestFamiliesDiffer(t *testing.T) {
	t.Parallel()
	marks, colors := map[chart.Mark]bool{}, map[any]bool{}
	for _, f := range hues {
		marks[f.mark], colors[f.color] = true, true
	}
	for _, m := range Models() {
		if !slices.ContainsFunc(hues, func(f family) bool { return f.series == m.Family }) {
			t.Errorf("%s is of the family %q, which hues lacks", m.Name, m.Family)
		}
	}
	if n := len(hues); n != 8 || len(marks) != n || len(colors) != n {
		t.Errorf("%d hues with %d marks and %d colors, want 8 of each", n, len(marks), len(colors))
	}
}
