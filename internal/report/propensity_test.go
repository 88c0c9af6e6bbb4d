package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
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
	r.Figures = append(r.Figures, repeats()...)
	for i := range rows {
		rows[i].Variant, rows[i].Sample = repeated, 2
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
		`<summary>Each prompt asked several times`, `Rates</a>`,
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for file, want := range map[string]string{
		"answers.html":    `<span class="tag">sample 2</span>`,
		"answers/rows.js": `{"sample":["2"],"target":["openai/gpt-1-mini [temperature 0.7]"],"variant":["openai/gpt-1-mini [temperature 0.7]"]}`,
	} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s lacks %s: %v", file, want, err)
		}
	}
}

// The table has one row for all samples of a target. Its interval takes into
// account that they are of the same prompts.
func TestSamplesTogether(t *testing.T) {
	t.Parallel()
	rate := figure.PartOf(figure.OverRefusal, figure.Keys{Target: repeated, Dataset: "starter", DatasetSHA256: scoretest.SHA256, Label: orbench.Safe, Judge: "lexical"}, 399, 57, &stats.Estimate{Value: 0.1432, Lo: 0.11, Hi: 0.184})
	r := score.Result{Simulated: true, Figures: repeats(), Runs: []score.RunResult{{
		About:     score.About{Target: repeated, Dataset: "starter", DatasetSHA256: scoretest.SHA256, Label: orbench.Safe, Samples: 2},
		N:         400,
		Answered:  400,
		Simulated: true,
		Judges:    []score.JudgeResult{{Judge: "lexical", Judged: 399, Unjudged: 1, Refused: 57, Rate: rate}},
	}}}
	var b bytes.Buffer
	if err := table.AsText.Of(report.View{Result: r})(&b); err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(b.String()) {
		found = append(found, strings.Join(strings.Fields(line), " "))
	}
	for _, want := range []string{
		"openai/gpt-1-mini [temperature 0.7], 2 samples (simulated) starter@1a2b3c4d lexical 400 399 1 57 14.3% not checked 11.0–18.4",
		"openai/gpt-1-mini [temperature 0.7], 2 samples (simulated) starter@1a2b3c4d safe lexical 199 140 52 7",
	} {
		if !slices.Contains(found, want) {
			t.Errorf("the table lacks\n%s\nin\n%s", want, b.String())
		}
	}
}

const repeated = "openai/gpt-1-mini [temperature 0.7]"

// repeats makes up what a target that is asked twice does with safe prompts.
func repeats() (all []figure.Figure) {
	of := figure.Keys{Target: repeated, Dataset: "starter", DatasetSHA256: scoretest.SHA256, Label: orbench.Safe, Judge: "lexical"}
	for i, m := range []figure.Measure{figure.NeverRefused, figure.SometimesRefused, figure.AlwaysRefused} {
		f := figure.PartOf(m, of, 199, []float64{140, 52, 7}[i], nil)
		f.Simulated = true
		all = append(all, f)
	}
	return all
}
