package recorded_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/recorded"
	"github.com/orbench/orbench/judge"
)

// TestNeighbours holds logs that the real tools wrote against counts by hand: what the
// tools' own scorers said of them, or the answers read one by one.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "..", "shared", "neighbours")
	if found, err := filepath.Glob(folder); err != nil || len(found) == 0 {
		t.Skipf("%s is absent; it is no part of the project", folder)
	}
	for _, tc := range []struct {
		path, target     string
		answers, refused int
		prompts, samples int
		input, output    int
	}{
		{path: "inspect/*.eval", target: "openai/mock", answers: 20, refused: 4, prompts: 20, samples: 1, input: 185, output: 2444},
		{path: "inspect/*.json", target: "openai/mock", answers: 24, refused: 4, prompts: 12, samples: 2, input: 202, output: 3044},
		{path: "inspect", target: "openai/mock", answers: 44, refused: 8, prompts: 20, samples: 3, input: 387, output: 5488},
		{path: "lm-eval/mock/samples_*.jsonl", target: "mock", answers: 20, refused: 4, prompts: 20, samples: 1},
		{path: "lm-eval/mock", target: "mock", answers: 20, refused: 4, prompts: 20, samples: 1},
		{path: "promptfoo/out.json", target: "mock-model", answers: 15, refused: 3, prompts: 15, samples: 1, input: 135, output: 1833},
		{path: "promptfoo/out.jsonl", target: "mock-model", answers: 15, refused: 3, prompts: 15, samples: 1, input: 135, output: 1833},
		{path: "openai-batch/out.jsonl", target: "mock", answers: 5, refused: 5, prompts: 5, samples: 1, input: 45, output: 40},
		// Its answers are a scorer's words, of which a note tells.
		{path: "eee/from-inspect/xstest/openai/mock/*_samples.jsonl", target: "openai/mock", answers: 24, refused: 0, prompts: 12, samples: 2, input: 202, output: 3044},
	} {
		t.Run(tc.path, func(t *testing.T) {
			t.Parallel()
			found, err := filepath.Glob(filepath.Join(folder, tc.path))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			replays, err := dataset.OpenReplays(t.Context(), found[0])
			if err != nil || len(replays) != 1 {
				t.Fatal(replays, err)
			}
			if r := replays[0]; r.Model != tc.target || r.Count != tc.answers || r.Samples != tc.samples {
				t.Errorf("target %q with %d answers, %d samples", r.Model, r.Count, r.Samples)
			}
			lexical, err := judge.Parse("lexical", judge.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := recorded.Open(t.Context(), found[0], dataset.RecordingOptions{}, nil, []judge.Judge{lexical})
			if err != nil {
				t.Fatal(err)
			}
			prompts, input, output := map[string]bool{}, 0, 0
			got, err := r.Derive(t.Context(), nil, func(row recorded.JudgedAnswer) error {
				prompts[row.Answer.Prompt] = true
				input, output = input+row.Answer.Usage.Input, output+row.Answer.Usage.Output
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if j := got.Judges[0]; j.N != tc.answers || j.Unjudged != 0 || j.Refused != tc.refused || *j.Share != float64(tc.refused)/float64(tc.answers) {
				t.Errorf("%+v", j.Figures)
			}
			if len(prompts) != tc.prompts || input != tc.input || output != tc.output {
				t.Errorf("%d prompts, %d and %d tokens", len(prompts), input, output)
			}
			words := strings.Contains(strings.Join(r.Recording.Notes, "\n"), "a scorer's words and not the answers")
			if failed := strings.Contains(strings.Join(r.Recording.Notes, "\n"), "failed"); failed || words != strings.HasPrefix(tc.path, "eee") {
				t.Errorf("notes %q", r.Recording.Notes)
			}
		})
	}
}
