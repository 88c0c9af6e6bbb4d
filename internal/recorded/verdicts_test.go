package recorded

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/score"
)

// verdictRows are a refusal, an answer in a format without lines, and one that
// nobody could judge, with texts that formats must escape.
func verdictRows() []JudgedAnswer {
	yes, no := true, false
	return []JudgedAnswer{
		{
			Answer:  dataset.Answer{Number: 1, Line: 2, Prompt: "=1+1", Response: "<think>Hm.</think>Sorry, no.\n", Gold: "@gold", Group: "g"},
			Refusal: &yes,
			Verdicts: []score.JudgeVerdict{{Verdict: orbench.Verdict{
				Class: orbench.Refusal, Reason: orbench.ReasonSafety, Score: 0.3, Span: orbench.Span{Start: 0, End: 5}, Rationale: "+why",
			}}},
		},
		{
			Answer: dataset.Answer{Number: 2, Prompt: "b", Response: "\"Yes\" <b>\u2028", Gold: "no"}, Refusal: &no,
			Verdicts: []score.JudgeVerdict{{Verdict: orbench.Verdict{Class: orbench.FullAnswer}, Simulated: true}},
		},
		{
			Answer: dataset.Answer{Number: 3, Line: 9, Prompt: "c", Response: "", Gold: "no"}, Refusal: &no,
			Verdicts: []score.JudgeVerdict{{Verdict: orbench.Verdict{Rationale: "no reply"}}},
		},
	}
}

func writeVerdicts(t *testing.T, path, judge string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	v, err := NewVerdicts(&b, path, []string{judge}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range verdictRows() {
		if err := v.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func TestVerdictsCSV(t *testing.T) {
	t.Parallel()
	want := [][]string{
		{"number", "line", "group", "gold", "gold_refusal", "prompt", "response", "'=j class", "'=j refused", "'=j score", "'=j reason", "'=j span", "'=j rationale", "'=j simulated"},
		{"1", "2", "g", "'@gold", "true", "'=1+1", "<think>Hm.</think>Sorry, no.\n", "refusal", "true", "0.3", "safety", "Sorry", "'+why", "false"},
		{"2", "", "", "no", "false", "b", "\"Yes\" <b>\u2028", "full_answer", "false", "0", "", "", "", "true"},
		{"3", "9", "", "no", "false", "c", "", "unjudged", "", "", "", "", "no reply", "false"},
	}
	if diff := cmp.Diff(want, readCSV(t, writeVerdicts(t, "v.CSV", "=j"))); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// typedVerdicts are the rows as JSON Lines and Parquet hold them, under a name with
// the signs that a schema's tags would trip over.
var typedVerdicts = []map[string]any{
	{
		"number": 1.0, "line": 2.0, "group": "g", "gold": "@gold", "gold_refusal": true, "prompt": "=1+1", "response": "<think>Hm.</think>Sorry, no.\n",
		"a,\"b class": "refusal", "a,\"b refused": true, "a,\"b score": 0.3, "a,\"b reason": "safety", "a,\"b span": "Sorry", "a,\"b rationale": "+why", "a,\"b simulated": false,
	},
	{
		"number": 2.0, "line": nil, "group": "", "gold": "no", "gold_refusal": false, "prompt": "b", "response": "\"Yes\" <b>\u2028",
		"a,\"b class": "full_answer", "a,\"b refused": false, "a,\"b score": 0.0, "a,\"b reason": "", "a,\"b span": "", "a,\"b rationale": "", "a,\"b simulated": true,
	},
	{
		"number": 3.0, "line": 9.0, "group": "", "gold": "no", "gold_refusal": false, "prompt": "c", "response": "",
		"a,\"b class": "unjudged", "a,\"b refused": nil, "a,\"b score": nil, "a,\"b reason": nil, "a,\"b span": nil, "a,\"b rationale": "no reply", "a,\"b simulated": false,
	},
}

func TestVerdictsJSONLines(t *testing.T) {
	t.Parallel()
	b := writeVerdicts(t, "v.jsonl", "a,\"b")
	if !strings.HasPrefix(b.String(), `{"number":1,"line":2,"group":"g","gold":"@gold",`) {
		t.Errorf("the fields are not in the columns' order: %.80s", b)
	}
	dec := json.NewDecoder(b)
	for _, want := range typedVerdicts {
		var got map[string]any
		if err := dec.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("want -, got +:\n%s", diff)
		}
	}
	if err := dec.Decode(new(any)); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
}

func TestVerdictsParquet(t *testing.T) {
	t.Parallel()
	b := writeVerdicts(t, "v.parquet", "a,\"b")
	file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range file.Schema().Fields() {
		names = append(names, f.Name())
	}
	if got := strings.Join(names, "|"); !strings.HasPrefix(got, "number|line|group|gold|gold_refusal|prompt|response|a,\"b class|") {
		t.Errorf("columns %s, want them in their order", got)
	}
	reader := parquet.NewReader(file)
	defer reader.Close()
	rows := make([]parquet.Row, len(typedVerdicts)+1)
	n, err := reader.ReadRows(rows)
	if n != len(typedVerdicts) || err != nil && err != io.EOF {
		t.Fatalf("%d rows, %v", n, err)
	}
	for i, want := range typedVerdicts {
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
			got[names[v.Column()]] = value
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("row %d: want -, got +:\n%s", i, diff)
		}
	}
}

// TestVerdictsOfMany has more rows than are held at once.
func TestVerdictsOfMany(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	v, err := NewVerdicts(&b, "v.parquet", []string{"j"}, false)
	if err != nil {
		t.Fatal(err)
	}
	const n = rowGroup + 10
	row := verdictRows()[0]
	for i := range n {
		row.Answer.Number = i + 1
		if err := v.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || file.NumRows() != n || len(file.RowGroups()) != int(math.Ceil(float64(n)/rowGroup)) {
		t.Fatalf("%v, %d rows in %d groups", err, file.NumRows(), len(file.RowGroups()))
	}
}
