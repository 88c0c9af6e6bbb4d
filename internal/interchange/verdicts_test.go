package interchange

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

// someAnswers are a recorded refusal with labels, an answer of a run that a judge could not
// judge, and a call that failed, with texts that formats must escape.
func someAnswers() []*score.AnswerRow {
	return []*score.AnswerRow{
		{
			Target: "m", Dataset: "d", Prompt: orbench.NewPrompt("=1+1", "g", ""), Status: score.Answered,
			Response: model.Response{Text: "Sorry, no.\n", Thinking: "Hm.", Finish: model.Stop},
			Verdicts: []score.JudgeVerdict{
				{Judge: "=j", Verdict: orbench.Verdict{Class: orbench.Refusal, Reason: orbench.ReasonSafety, Score: 0.3, Span: orbench.Span{Start: 0, End: 5}, Rationale: "+why"}},
				{Judge: "k", Verdict: orbench.Verdict{Rationale: "no reply"}},
			},
		},
		{
			Target: "m #2", Variant: "m", Sample: 2, Dataset: "d", Prompt: orbench.NewPrompt("b\u2028", "", orbench.Safe), Status: score.Answered, Simulated: true,
			Response: model.Response{Text: "", Finish: model.Stop, Usage: model.Usage{Input: 3}},
			Verdicts: []score.JudgeVerdict{{Judge: "=j", Verdict: orbench.Verdict{Class: orbench.Empty, Score: 1}}},
		},
		{Target: "m", Dataset: "d", Prompt: orbench.NewPrompt("c", "", orbench.Toxic), Status: score.Failed, Failure: "HTTP 500"},
	}
}

func aStudy() Study {
	half, seed := 0.5, int64(7)
	return Study{
		Name: "mine", Sources: map[string]Source{"d": {SHA256: "ab"}},
		asked: map[[2]string]score.About{{"m", "d"}: {Run: "mine", Asked: score.Asked{Provider: "p", Model: "m", System: "Be brief.", Temperature: &half, MaxTokens: 9, Seed: &seed}}},
	}
}

// writeVerdicts writes answers and gives the file.
func writeVerdicts(t *testing.T, name string, answers []*score.AnswerRow) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := Formats[0].Create(path, folder.Subject{}, aStudy())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if err := w.Add(a); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(score.Result{}, false); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wantVerdicts are the rows of someAnswers, without the columns that are null in all.
var wantVerdicts = []map[string]any{
	{
		"class": "refusal", "refused": true, "score": 0.3, "reason": "safety", "span": "Sorry", "rationale": "+why", "judge": "=j",
		"prompt": "=1+1", "response": "Sorry, no.\n", "thinking": "Hm.", "category": "g",
		"status": "answered", "finish": "stop", "sample": 1.0, "simulated": false,
	},
	{
		"class": "unjudged", "rationale": "no reply", "judge": "k",
		"prompt": "=1+1", "response": "Sorry, no.\n", "thinking": "Hm.", "category": "g",
		"status": "answered", "finish": "stop", "sample": 1.0, "simulated": false,
	},
	{
		"class": "empty", "refused": true, "score": 1.0, "judge": "=j",
		"prompt": "b\u2028", "response": "", "label": "safe", "status": "answered", "finish": "stop", "sample": 2.0, "input_tokens": 3.0, "simulated": true,
	},
	{"prompt": "c", "label": "toxic", "status": "failed", "failure": "HTTP 500", "sample": 1.0, "simulated": false},
}

// checkRow holds a row against the i-th of wantVerdicts.
func checkRow(t *testing.T, i int, got map[string]any) {
	t.Helper()
	want := map[string]any{
		"run": "mine", "target": "m", "dataset": "d", "dataset_sha256": "ab", "provider": "p", "model": "m", "system": "Be brief.",
		"temperature": 0.5, "max_tokens": 9.0, "seed": 7.0, "prompt_id": string(orbench.NewPrompt(wantVerdicts[i]["prompt"].(string), "", "").ID),
	}
	for name, value := range wantVerdicts[i] {
		want[name] = value
	}
	for name, value := range got {
		if value == nil {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("row %d: want -, got +:\n%s", i, diff)
	}
}

func TestVerdictsJSONLines(t *testing.T) {
	t.Parallel()
	b := writeVerdicts(t, "v.jsonl", someAnswers())
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if len(lines) != len(wantVerdicts) || !strings.HasPrefix(lines[0], `{"run":"mine","target":"m","dataset":"d","dataset_sha256":"ab",`) {
		t.Fatalf("%d lines, the first %.80s", len(lines), lines[0])
	}
	for i, line := range lines {
		var got map[string]any
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(verdictColumns) {
			t.Errorf("row %d has %d columns, want %d", i, len(got), len(verdictColumns))
		}
		checkRow(t, i, got)
	}
}

func TestVerdictsCSV(t *testing.T) {
	t.Parallel()
	got, err := csv.NewReader(bytes.NewReader(writeVerdicts(t, "v.CSV", someAnswers()))).ReadAll()
	if err != nil || len(got) != len(wantVerdicts)+1 {
		t.Fatal(got, err)
	}
	for name, want := range map[string][]string{
		"prompt": {"'=1+1", "'=1+1", "b\u2028", "c"}, "judge": {"'=j", "k", "'=j", ""}, "refused": {"true", "", "true", ""},
		"rationale": {"'+why", "no reply", "", ""}, "class": {"refusal", "unjudged", "empty", ""}, "score": {"0.3", "", "1", ""},
	} {
		at := slices.Index(got[0], name)
		for i, w := range want {
			if at < 0 || got[i+1][at] != w {
				t.Errorf("row %d: %s is %q, want %q", i, name, got[i+1], w)
			}
		}
	}
}

func TestVerdictsParquet(t *testing.T) {
	t.Parallel()
	b := writeVerdicts(t, "v.parquet", someAnswers())
	file, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	fields := file.Schema().Fields()
	if len(fields) != len(verdictColumns) || fields[0].Name() != "run" {
		t.Errorf("columns %v, want them in their order", fields)
	}
	reader := parquet.NewReader(file)
	defer reader.Close()
	rows := make([]parquet.Row, len(wantVerdicts)+1)
	if n, _ := reader.ReadRows(rows); n != len(wantVerdicts) {
		t.Fatalf("%d rows", n)
	}
	for i := range wantVerdicts {
		got := map[string]any{}
		for _, v := range rows[i] {
			var value any
			switch {
			case v.IsNull():
			case v.Kind() == parquet.Int64:
				value = float64(v.Int64())
			case v.Kind() == parquet.Double:
				value = v.Double()
			case v.Kind() == parquet.Boolean:
				value = v.Boolean()
			default:
				value = v.String()
			}
			got[fields[v.Column()].Name()] = value
		}
		checkRow(t, i, got)
	}
}

// TestVerdictsOfMany has more rows than are held at once.
func TestVerdictsOfMany(t *testing.T) {
	t.Parallel()
	const n = rowGroup + 10
	b := writeVerdicts(t, "v.parquet", slices.Repeat(someAnswers()[1:2], n))
	file, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil || file.NumRows() != n || len(file.RowGroups()) != int(math.Ceil(float64(n)/rowGroup)) {
		t.Fatalf("%v, %d rows in %d groups", err, file.NumRows(), len(file.RowGroups()))
	}
}
