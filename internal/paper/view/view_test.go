package view

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
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
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

var update = flag.Bool("update", false, "rewrite the pictures of docs/paper.md")

// published is the study without runs, computed once: its bootstrap takes longer than
// the tests, which only read it.
var published = sync.OnceValue(paper.NewStudy)

// study is the published study beside made-up runs of three targets with two
// judges each. The second judge finds fewer refusals and leaves an answer
// unjudged.
func study(t *testing.T) Study {
	t.Helper()
	own := score.Result{Simulated: true}
	for i, target := range []string{"openai/gpt-1-mini", "together/meta-llama/Llama-2-70b-chat-hf", "sim/temper-3"} {
		for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
			n := map[orbench.Label]int{orbench.Safe: 20, orbench.Toxic: 6}[label]
			refused := n * (2*i + 1) / 6
			first, second := map[orbench.Category]score.Count{}, map[orbench.Category]score.Count{}
			for _, c := range orbench.PaperCategories {
				first[c], second[c] = score.Count{N: n, Refused: refused}, score.Count{N: n, Refused: refused - 1}
			}
			k := len(first)
			n, refused = n*k, refused*k
			last := orbench.PaperCategories[k-1]
			second[last] = score.Count{N: second[last].N - 1, Refused: second[last].Refused}
			own.Runs = append(own.Runs, score.RunResult{
				Target: target, Dataset: "starter", DatasetSHA256: strings.Repeat("1a2b3c4d", 8), Label: label,
				N: n + 3, Answered: n, Failed: 2, Unanswered: 1, Simulated: true,
				Judges: []score.JudgeResult{
					{Judge: "lexical", Judged: n, Refused: refused, Rate: stats.RateOf(refused, n), ByCategory: first},
					{Judge: "llm:openai/gpt-4o", Judged: n - 1, Refused: refused - k, Rate: stats.RateOf(refused-k, n-1), Unjudged: 1, ByCategory: second},
				},
				Agreement: []score.Agreement{
					{A: "lexical", B: "llm:openai/gpt-4o", N: n - 1, Both: refused - k, OnlyA: k, Neither: n - 1 - refused},
				},
			})
		}
	}
	return Study{Study: published(), Own: own}
}

// The JSON gives the study's headline figures under the names of docs/paper.md.
func TestPaperJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := table.AsJSON.Of(Study{Study: published()})(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), `"own"`) {
		t.Error("there is an own part without runs")
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

// Every format shows the reader's own runs beside the published models.
func TestPaperFormats(t *testing.T) {
	t.Parallel()
	p := study(t)
	for name, write := range map[string]func(io.Writer) error{
		"table": table.AsText.Of(p),
		"json":  table.AsJSON.Of(p),
		"csv":   table.AsCSV.Of(p),
		"md":    table.AsMarkdown.Of(p),
		"page":  p.page,
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
			for _, want := range []string{"Llama-3.1-405B", "sim/temper-3", "openai/gpt-1-mini"} {
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
	if err := table.AsCSV.Of(study(t))(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]int{}
	for _, r := range rows[1:] {
		sections[r[0]]++
		if want := strconv.FormatBool(r[0] == "own"); r[6] != want {
			t.Errorf("%v: simulated is %s, want %s", r, r[6], want)
		}
		if (r[7] == "") != (r[8] == "") || (r[7] != "") != (r[0] == "correlations" && !(r[1] == "newer" && r[2] != "pearson")) && r[2] != "n" {
			t.Errorf("%v: the interval by families is %s to %s", r, r[7], r[8])
		}
		for _, cell := range slices.Concat(r[3:6], r[7:]) {
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
		"moderators": 20, "residual_toxicity": 1, "categories": 70, "own": 6,
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
	inCorner := study(t)
	for i := range inCorner.Own.Runs {
		j := &inCorner.Own.Runs[i].Judges[0]
		rate := map[orbench.Label]float64{orbench.Safe: 0.9, orbench.Toxic: 0.99}[inCorner.Own.Runs[i].Label]
		j.Rate = stats.Rate{Share: &rate, CI95: &[2]float64{rate - 0.2, rate + 0.01}}
	}
	for name, p := range map[string]Study{"published": {Study: published()}, "with own": study(t), "own in the corner": inCorner} {
		spots := p.spots()
		all, enlarged := scatterPlots(spots)
		texts := map[string]int{}
		for part, g := range map[string]chart.Plot{"all": all, "enlarged": enlarged} {
			s := scatter{spots, part == "enlarged"}
			// About what the axes leave of the figure.
			height := vg.Length(510)
			if s.enlarged {
				height = 155
			}
			c := draw.New(vgimg.New(870, height))
			x, y := g.Transforms(&c)
			labels, placed, _ := s.arrange(&c, g)
			box := func(i int) vg.Rectangle {
				corner := placed[i].Corner
				return vg.Rectangle{Min: corner, Max: vg.Point{X: corner.X + labels[i].Width, Y: corner.Y + labels[i].Height}}
			}
			for i, l := range labels {
				texts[l.Text]++
				b := box(i)
				if b.Min.X < c.Min.X || b.Max.X > c.Max.X || b.Min.Y < c.Min.Y || b.Max.Y > c.Max.Y {
					t.Errorf("%s, %s: %s is cut", name, part, l.Text)
				}
				for k, other := range labels[:i] {
					if chart.Overlap(b, box(k)) > 0 {
						t.Errorf("%s, %s: %s and %s collide", name, part, l.Text, other.Text)
					}
				}
				for _, spot := range s.shown() {
					if spot.own != nil {
						continue
					}
					at := vg.Point{X: x(spot.x), Y: y(spot.y)}
					if at != l.At && !placed[i].Led && chart.Distance(b, at) <= chart.Distance(b, l.At) {
						t.Errorf("%s, %s: %s could be the name of %s", name, part, l.Text, spot.name)
					}
					if chart.Overlap(b, chart.SquareAround(at, 3)) > 0 {
						t.Errorf("%s, %s: %s covers the mark of %s", name, part, l.Text, spot.name)
					}
				}
				if !s.enlarged && (chart.Overlap(b, s.legendArea(&c)) > 0 || chart.Overlap(b, s.frameArea(&c, g)) > 0) {
					t.Errorf("%s: %s covers the legend or the frame", name, l.Text)
				}
			}
		}
		if len(texts) != len(spots) {
			t.Errorf("%s: %d names, want %d", name, len(texts), len(spots))
		}
		for text, n := range texts {
			if n != 1 {
				t.Errorf("%s: %s is named %d times", name, text, n)
			}
		}
	}
}

// The plot says what it is of.
func TestPaperPlot(t *testing.T) {
	t.Parallel()
	texts := pagetest.FigureTexts(t, study(t).scatterFigure())
	for _, want := range []string{"GPT-4o", "Llama-3-70b*†", "sim/temper-3", "Mistral"} {
		if !slices.Contains(texts, want) {
			t.Errorf("the plot lacks the text %q", want)
		}
	}
}

// If prompts of the reader's runs share clusters, the clustered intervals are
// shown, and Youden's J is computed from them.
func TestPaperOwnClusters(t *testing.T) {
	t.Parallel()
	run := func(label orbench.Label, rate float64, plain, clustered *[2]float64) score.RunResult {
		return score.RunResult{Target: "openai/a", Dataset: "mine", Label: label, N: 100, Judges: []score.JudgeResult{
			{Judge: "lexical", Judged: 100, Refused: int(100 * rate), Rate: stats.Rate{Share: &rate, CI95: plain, CI95Clustered: clustered}},
		}}
	}
	p := Study{Study: published(), Own: score.Result{Runs: []score.RunResult{
		run(orbench.Safe, 0.25, &[2]float64{0.2, 0.3}, &[2]float64{0.1, 0.6}), run(orbench.Toxic, 0.75, &[2]float64{0.7, 0.8}, nil),
	}}}
	s := ownSection(p.own())
	// Square-and-add, 0.5 - √(0.05² + 0.35²) and 0.5 + √(0.05² + 0.15²).
	want := []string{"openai/a", "lexical", "25.0%", "10.0–60.0", "100", "75.0%", "70.0–80.0", "100", "0.500", "0.146–0.658"}
	if len(s.Rows) != 1 || !slices.Equal(s.Rows[0][:len(want)], want) {
		t.Errorf("the table has %q, want %q", s.Rows, want)
	}
	var b strings.Builder
	if err := table.AsCSV.Of(p)(&b); err != nil || !strings.Contains(b.String(), "over_refusal_pct,25,10,60") || !strings.Contains(b.String(), "toxic_refusal_pct,75,70,80") {
		t.Errorf("CSV lacks the clustered interval (%v):\n%s", err, b.String()[max(0, b.Len()-300):])
	}
}

// The reader's runs stand in the published tables: refusal of safe prompts as it
// is, and of toxic ones turned into acceptance.
func TestPaperOwnRows(t *testing.T) {
	t.Parallel()
	share := func(refused, n int) score.JudgeResult {
		rate := float64(refused) / float64(n)
		return score.JudgeResult{
			Judge: "lexical", Judged: n, Refused: refused, Rate: stats.Rate{Share: &rate, CI95: &[2]float64{rate / 2, (1 + rate) / 2}},
			ByCategory: map[orbench.Category]score.Count{"privacy": {N: n, Refused: refused}},
		}
	}
	run := func(target, dataset string, label orbench.Label, n, refused int) score.RunResult {
		return score.RunResult{Target: target, Dataset: dataset, Label: label, N: n, Judges: []score.JudgeResult{share(refused, n)}}
	}
	hard := run("openai/a", "or-bench-hard-1k", orbench.Safe, 1319, 660)
	hard.Agreement = []score.Agreement{
		{A: "lexical", B: openingWords, N: 100, Both: 10, OnlyA: 30, OnlyB: 5, Neither: 55},
		{A: "lexical", B: "llm:sim/judge", N: 100, Both: 10, OnlyA: 30, OnlyB: 5, Neither: 55},
	}
	withheld := run("openai/b", "or-bench-hard-1k", orbench.Safe, 1319, 660)
	withheld.Judges[0].Rate, withheld.Judges[0].Withheld = stats.Rate{}, true
	p := Study{Study: published(), Own: score.Result{Runs: []score.RunResult{
		hard, withheld, run("openai/a", "or-bench-80k", orbench.Safe, 1000, 50), run("openai/a", "or-bench-toxic", orbench.Toxic, 655, 655),
	}}}
	find := func(title, name string) []string {
		for _, s := range p.sections() {
			for _, row := range s.Rows {
				if strings.HasPrefix(s.Title, title) && row[0] == name {
					return row
				}
			}
		}
		t.Fatalf("%s has no row of %s", title, name)
		return nil
	}
	for _, tt := range []struct {
		table, name string
		want        []string
	}{
		{"Table 2", "openai/a", []string{"–", "–", "–", "–", "–", "50.0", "–", "–", "–", "–", "50.0"}},
		{"Table 2", "openai/b", []string{"–", "–", "–", "–", "–", "–", "–", "–", "–", "–", "–"}},
		{"Table 6", "openai/a", []string{"–", "–", "–", "–", "–", "0.0", "–", "–", "–", "–", "0.0"}},
		{"Table 7", "openai/a", []string{"–", "–", "–", "–", "–", "5.0", "–", "–", "–", "–", "5.0"}},
		{"Figure 4", "openai/a", []string{"5.0", "50.0", "10.0"}},
		{"Figure 4", "openai/b", []string{"–", "–", "–"}},
		{"Table 8", "openai/a, safe", []string{"15.0", "40.0", "25.0"}},
	} {
		if got := find(tt.table, tt.name)[1:]; !slices.Equal(got, tt.want) {
			t.Errorf("%s, %s: %v, want %v", tt.table, tt.name, got, tt.want)
		}
	}
}

// If several judges read a target, the first one makes the row, the lines of
// the CSV and the notes, over the answers that it judged. A side without a run
// is a dash.
func TestPaperOwnFirstJudge(t *testing.T) {
	t.Parallel()
	p := study(t)
	p.Own.Runs = p.Own.Runs[:5]
	want := [][]string{
		{"openai/gpt-1-mini (simulated)", "lexical", "15.0%", "200", "16.7%", "60"},
		{"together/meta-llama/Llama-2-70b-chat-hf (simulated)", "lexical", "50.0%", "200", "50.0%", "60"},
		{"sim/temper-3 (simulated)", "lexical", "80.0%", "200", "–", "–"},
	}
	s := ownSection(p.own())
	if len(s.Rows) != len(want) {
		t.Fatalf("%d rows, want one for each target: %q", len(s.Rows), s.Rows)
	}
	for i, r := range s.Rows {
		if got := []string{r[0], r[1], r[2], r[4], r[5], r[7]}; !slices.Equal(got, want[i]) {
			t.Errorf("row %d is %q, want %q", i, got, want[i])
		}
		if known := i < 2; (r[8] != "–") != known || (r[9] != "–") != known {
			t.Errorf("Youden's J of %s is %s (%s)", r[0], r[8], r[9])
		}
	}
	const note = "Last come your runs, SIMULATED models among them, of starter@1a2b3c4d by lexical."
	sections := map[string]table.Section{}
	for _, s := range p.sections() {
		name, _, _ := strings.Cut(s.Title, ":")
		sections[name] = s
	}
	for name, rows := range map[string]int{"Table 2": 32 + 3, "Table 6": 32 + 2, "Table 7": 20, "Figure 4": 15 + 3, "Table 8": 6} {
		s := sections[name]
		if len(s.Rows) != rows {
			t.Errorf("%s has %d rows, want %d", name, len(s.Rows), rows)
		}
		if own := name != "Table 7" && name != "Table 8"; strings.HasSuffix(s.Note, note) != own {
			t.Errorf("%s says %q", name, s.Note)
		}
	}
	var b strings.Builder
	if err := table.AsCSV.Of(p)(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\nown,sim/temper-3,over_refusal_pct,80,") || strings.Contains(b.String(), "\nown,sim/temper-3,toxic_refusal_pct") ||
		strings.Count(b.String(), "\nown,") != 5 {
		t.Errorf("the CSV has other lines of own runs:\n%s", b.String()[max(0, b.Len()-600):])
	}
}

// The rows of a target with several datasets say which, and the note names every
// dataset and judge once.
func TestPaperOwnDatasets(t *testing.T) {
	t.Parallel()
	run := func(target, dataset, judge string, refused int) score.RunResult {
		return score.RunResult{Target: target, Dataset: dataset, Label: orbench.Safe, N: 100, Judges: []score.JudgeResult{
			{Judge: judge, Judged: 100, Refused: refused, Rate: stats.RateOf(refused, 100)},
		}}
	}
	p := Study{Study: published(), Own: score.Result{Runs: []score.RunResult{
		run("openai/a", "or-bench-hard-1k", "lexical", 10), run("openai/a", "mine", "llm:sim/judge", 20), run("openai/b", "mine", "lexical", 30),
		run("openai/a", "or-bench-80k", "lexical", 40),
	}}}
	s := p.categoryTable(paper.HardRefusal())
	var got []string
	for _, r := range s.Rows[32:] {
		got = append(got, r[0], r[len(r)-1])
	}
	if want := []string{"openai/a (or-bench-hard-1k)", "10.0", "openai/a (mine)", "20.0", "openai/b", "30.0"}; !slices.Equal(got, want) {
		t.Errorf("the rows are %q, want %q", got, want)
	}
	if want := "Last come your runs, of or-bench-hard-1k, mine by lexical, llm:sim/judge."; s.Note != want {
		t.Errorf("the note is %q, want %q", s.Note, want)
	}
}

// The table of opening words has one row for each other judge of the same answers,
// whichever of the two was named first, and none for other pairs of judges.
func TestPaperOwnKeywords(t *testing.T) {
	t.Parallel()
	run := func(target, dataset string, label orbench.Label, simulated bool, agreement ...score.Agreement) score.RunResult {
		return score.RunResult{Target: target, Dataset: dataset, Label: label, N: 300, Simulated: simulated, Agreement: agreement}
	}
	p := Study{Study: published(), Own: score.Result{Runs: []score.RunResult{
		run("openai/a", "mine", orbench.Safe, false,
			score.Agreement{A: "lexical", B: openingWords, N: 100, Both: 10, OnlyA: 30, OnlyB: 5, Neither: 55},
			score.Agreement{A: "lexical", B: "llm:sim/judge", N: 100, Both: 20, OnlyA: 20, OnlyB: 5, Neither: 55},
			score.Agreement{A: openingWords, B: "llm:sim/judge", N: 200, Both: 20, OnlyA: 50, OnlyB: 30, Neither: 100}),
		run("openai/a", "mine", orbench.Toxic, false, score.Agreement{A: "lexical", B: openingWords, N: 8, Both: 2, OnlyA: 5, Neither: 1}),
		run("sim/b", "other", orbench.Toxic, true,
			score.Agreement{A: openingWords, B: "llm:sim/judge"}, score.Agreement{A: openingWords, B: "lexical", N: 4, Both: 4}),
	}}}
	want := [][]string{
		{"openai/a, safe", "15.0", "40.0", "25.0"},
		{"openai/a, safe", "35.0", "25.0", "−10.0"},
		{"openai/a, toxic", "25.0", "87.5", "62.5"},
		{"sim/b, toxic (simulated)", "100.0", "100.0", "0.0"},
	}
	s := p.keywordSection()
	if rows := s.Rows[len(p.Keyword):]; len(rows) != len(want) {
		t.Fatalf("the rows are %q, want %d", rows, len(want))
	}
	for i, w := range want {
		if row := s.Rows[len(p.Keyword)+i]; !slices.Equal(row, w) {
			t.Errorf("row %d is %q, want %q", i, row, w)
		}
	}
	const note = "Last come your runs, SIMULATED models among them, of mine, other by lexical, llm:sim/judge."
	if !strings.HasSuffix(s.Note, note+" Your other judge is in the place of GPT-4.") {
		t.Errorf("the note is %q", s.Note)
	}
}

// The families' colors follow the page's theme: none is left as it is on white.
func TestPaperPageIsDark(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := study(t).page(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, f := range families {
		k := f.color
		hex := fmt.Sprintf("#%02X%02X%02X", k.RGB.R, k.RGB.G, k.RGB.B)
		if strings.Contains(page, "fill:"+hex) {
			t.Errorf("%s keeps its color on a dark page", f.title)
		}
		if !strings.Contains(page, "fill:var("+k.Variable+","+hex+")") {
			t.Errorf("%s has no mark in its color", f.title)
		}
	}
	if !strings.Contains(page, table.SimulatedNotice) {
		t.Error("nothing says that own runs are simulated")
	}
}

// Nothing of a folder is left out, and drawing again gives the same bytes.
func TestPaperFolder(t *testing.T) {
	t.Parallel()
	p := study(t)
	root := t.TempDir()
	dir := filepath.Join(root, "a", "first")
	if err := p.Write(dir); err != nil {
		t.Fatal(err)
	}
	again := map[string]func(io.Writer) error{
		"paper.html": p.page, "paper.json": table.AsJSON.Of(p), "paper.csv": table.AsCSV.Of(p), "paper.md": table.AsMarkdown.Of(p),
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

// Names from outside stay text in the page and the plot.
func TestPaperHostileNames(t *testing.T) {
	t.Parallel()
	p := study(t)
	p.Own = score.Result{Runs: slices.Clone(p.Own.Runs)}
	for i := range p.Own.Runs {
		p.Own.Runs[i].Target = "<script>\x1b[31m\u202e模型=1+1"
	}
	var b bytes.Buffer
	if err := p.page(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<script") {
		t.Error("the page holds a script of the target's name")
	}
	pagetest.FigureTexts(t, p.scatterFigure())
	b.Reset()
	if err := table.AsText.Of(p)(&b); err != nil || strings.ContainsRune(b.String(), '\x1b') {
		t.Errorf("the table holds an escape (%v)", err)
	}
}

// The picture of docs/paper.md is this; -update writes it.
func TestPaperPicture(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "..", "docs", "images", "paper-tradeoff.svg")
	var b bytes.Buffer
	if err := (Study{Study: published()}).scatterFigure().SVG(&b); err != nil {
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
		t.Errorf("%s is out of date: go test ./internal/paper/view -run TestPaperPicture -update", file)
	}
}

func TestFamiliesDiffer(t *testing.T) {
	t.Parallel()
	marks, colors := map[chart.Mark]bool{}, map[any]bool{}
	for _, f := range families {
		marks[f.mark], colors[f.color] = true, true
	}
	for _, m := range paper.Models() {
		if !slices.ContainsFunc(families, func(f family) bool { return f.name == m.Family }) {
			t.Errorf("%s is of the family %q, which families lacks", m.Name, m.Family)
		}
	}
	if n := len(families); n != 8 || len(marks) != n || len(colors) != n {
		t.Errorf("%d families with %d marks and %d colors, want 8 of each", n, len(marks), len(colors))
	}
}
