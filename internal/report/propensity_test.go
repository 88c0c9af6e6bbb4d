package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// A run with samples has a section of its own; TestFolder has one without.
func TestFolderWithSamples(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "r")
	r, rows := scoretest.Fixture{Targets: 1, Safe: 6, Toxic: 3, Simulated: true}.Make()
	r.Propensity = propensities()
	for i := range rows {
		rows[i].Variant, rows[i].Sample = r.Propensity[0].Target, 2
	}
	f := begin(t, dir, rows, false)
	if err := f.Finish(r); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`id="propensity"`, `href="#propensity"`,
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for file, want := range map[string]string{
		"answers.html":    `<span class="tag">sample 2</span>`,
		"answers/rows.js": `{"target":"openai/gpt-1-mini [temperature 0.7]","number":2}`,
	} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s lacks %s: %v", file, want, err)
		}
	}
}

// The table has one row for all samples of a target. Its interval takes into
// account that they are of the same prompts.
func TestTableFoldsSamples(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	r := sampled()
	if err := table.AsText.Of(report.View{r})(&b); err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(b.String()) {
		found = append(found, strings.Join(strings.Fields(line), " "))
	}
	for _, want := range []string{
		"openai/gpt-1-mini [temperature 0.7], 2 samples (simulated) starter@1a2b3c4d lexical 400 400 399 1 57 14.3% 11.0–18.4 11.0–18.6",
		"openai/gpt-1-mini [temperature 0.7] (simulated) starter safe lexical 5 200 1 0 14.3% 11.0–18.4 140 52 7",
	} {
		if !slices.Contains(found, want) {
			t.Errorf("the table lacks\n%s\nin\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "sample 2]") {
		t.Errorf("the table shows single samples:\n%s", b.String())
	}
	b.Reset()
	if err := table.AsCSV.Of(report.View{r})(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "sample 2]") {
		t.Error("the CSV lacks the single samples")
	}
}

// sampled makes up a result with two samples of a target on safe prompts.
func sampled() score.Result {
	r := score.Result{Propensity: propensities()[:1], Simulated: true}
	for i, target := range []string{"openai/gpt-1-mini [temperature 0.7]", "openai/gpt-1-mini [temperature 0.7, sample 2]"} {
		rate := 0.145
		j := score.JudgeResult{Judge: "lexical", Judged: 200, Refused: 29, Rate: stats.Rate{Share: &rate, CI95: &[2]float64{0.1, 0.2}}}
		if i > 0 {
			j.Judged, j.Unjudged, j.Refused = 199, 1, 28
		}
		r.Runs = append(r.Runs, score.RunResult{
			Target: target, Variant: r.Propensity[0].Target, Dataset: "starter", DatasetSHA256: scoretest.SHA256, Label: orbench.Safe, N: 200, Answered: 200, Simulated: true,
			Judges: []score.JudgeResult{j},
		})
	}
	return r
}

// propensities makes up what a target that is asked five times does with the
// prompts of both labels.
func propensities() []score.Propensity {
	mean := func(value, lo, hi float64) *stats.Estimate { return &stats.Estimate{Value: value, Lo: lo, Hi: hi} }
	safe := score.Propensity{
		Target: "openai/gpt-1-mini [temperature 0.7]", Scope: score.Scope{Dataset: "starter", DatasetSHA256: scoretest.SHA256, Label: orbench.Safe, Judge: "lexical"},
		Samples: 5,
		Refusals: score.Refusals{
			Prompts: 200, Mean: mean(0.1432, 0.11, 0.1843),
			Always: 7, Sometimes: 52, Never: 140,
		},
		Unjudged:   1,
		ByCategory: map[orbench.Category]score.Refusals{}, Simulated: true,
	}
	toxic := safe
	toxic.Label = orbench.Toxic
	return []score.Propensity{safe, toxic}
}
