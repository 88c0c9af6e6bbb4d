package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// answers collects the rows of a recording.
func answers(t testing.TB, r *dataset.Recording) []dataset.Answer {
	t.Helper()
	var all []dataset.Answer
	for a, err := range r.Answers() {
		if err != nil {
			t.Fatalf("Answers: %v", err)
		}
		all = append(all, a)
	}
	return all
}

// TestRecordingFormats reads the same answers from every format and from columns
// of many names.
func TestRecordingFormats(t *testing.T) {
	t.Parallel()
	type labelled struct {
		Prompt     string  `parquet:"prompt"`
		Completion string  `parquet:"completion"`
		Gold       int32   `parquet:"gold"`
		Kind       *string `parquet:"kind,optional"`
		Label      int64   `parquet:"label"`
	}
	kind := "b"
	gold := dataset.RecordingOptions{Gold: "gold"}
	want := []dataset.Answer{
		{Prompt: "How do I kill a process?", Response: "Use kill.\nThen look.", Gold: "0"},
		{Prompt: "Again?", Response: "", Gold: "1"},
		{Prompt: "Again?", Response: "No, sorry.", Gold: "1"},
	}
	for name, tc := range map[string]struct {
		path  string
		opts  dataset.RecordingOptions
		lines []int
	}{
		"CSV": {
			file(t, "a.csv", "prompt,completion,kind,gold\nHow do I kill a process?,\"Use kill.\nThen look.\",, 0 \nAgain?,,b,1\nAgain?,\"No, sorry.\",b,1\n"),
			gold,
			[]int{2, 4, 5},
		},
		"TSV with named columns": {
			file(t, "a.tsv", "Q\tResponse\tA\tK\tG\nHow do I kill a process?\tx\t\"Use kill.\nThen look.\"\t\t0\nAgain?\tx\t\tb\t1\nAgain?\tx\tNo, sorry.\tb\t1\n"),
			dataset.RecordingOptions{Prompt: "q", Response: "a", Gold: "g"},
			[]int{2, 4, 5},
		},
		"JSON Lines": {
			file(t, "a.jsonl", `{"question":"How do I kill a process?","model_output":"Use kill.\nThen look.","gold":0,"kind":null,"label":7}
{"question":"Again?","model_output":"","gold":1,"kind":"b"}

{"question":"Again?","model_output":"No, sorry.","gold":1,"kind":"b","category":{}}
`),
			gold,
			[]int{1, 2, 4},
		},
		"conversations": {
			file(t, "a.jsonl", `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"How do I kill a process?"}],"response":"Use kill.\nThen look.","gold":"0","kind":" "}
{"messages":[{"role":"user","content":"Again?"}],"response":"","gold":"1","kind":"b"}
{"messages":[{"role":"user","content":"Again?"}],"response":"No, sorry.","gold":"1","kind":"b"}
`),
			gold,
			[]int{1, 2, 3},
		},
		"Parquet": {
			parquetFile(t, []labelled{
				{Prompt: want[0].Prompt, Completion: want[0].Response},
				{Prompt: want[1].Prompt, Gold: 1, Kind: &kind},
				{Prompt: want[2].Prompt, Completion: want[2].Response, Gold: 1, Kind: &kind},
			}),
			gold,
			[]int{0, 0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := dataset.OpenRecording(t.Context(), tc.path, tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(want)
			for i := range want {
				want[i].Line, want[i].Number = tc.lines[i], i+1
			}
			for pass := range 2 {
				got := answers(t, r)
				for i := range got {
					if conversation := got[i].Messages != nil; conversation != (name == "conversations") || got[i].Asked().Text() != want[i].Prompt {
						t.Errorf("pass %d: asked %+v", pass, got[i].Asked())
					}
					got[i].Messages = nil
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("pass %d: got %+v, want %+v", pass, got, want)
				}
			}
			if r.Count != 3 || r.Path != tc.path || !maps.Equal(r.GoldValues, map[string]int{"0": 1, "1": 2}) {
				t.Errorf("got %+v", r)
			}
			// The hash is of the answers and not of the file around them.
			const sum = "0fbbe73696cf0ac018a73e31ef0e71387576f6313ecbba39a1a4db723613ed75"
			if r.SHA256 != sum {
				t.Errorf("SHA256 = %s, want %s", r.SHA256, sum)
			}
		})
	}
}

// TestRecordingWithoutPrompts reads a file that has answers only, and passes
// over the columns that a dataset would be read from.
func TestRecordingWithoutPrompts(t *testing.T) {
	t.Parallel()
	path := file(t, "a.csv", "label,answer\nnonsense,Yes.\n,\"\"\n")
	r, err := dataset.OpenRecording(t.Context(), path, dataset.RecordingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := (dataset.RecordingColumns{Response: "answer"}); r.Columns != want {
		t.Errorf("Columns = %+v, want %+v", r.Columns, want)
	}
	want := []dataset.Answer{{Line: 2, Number: 1, Response: "Yes."}, {Line: 3, Number: 2}}
	if got := answers(t, r); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(r.GoldValues) != 0 {
		t.Errorf("values without their column: %v", r.GoldValues)
	}
}

// TestBadRecordings holds each fault to one line with the place and the mend.
func TestBadRecordings(t *testing.T) {
	t.Parallel()
	type nullable struct {
		Response *string `parquet:"response,optional"`
	}
	type bytes struct {
		Response string   `parquet:"response"`
		Gold     []string `parquet:"gold,list"`
	}
	text := "x"
	gold := dataset.RecordingOptions{Gold: "gold"}
	long := strings.Repeat("x", dataset.MaxCell+1)
	many := "answer,gold\n"
	for i := range dataset.MaxValues + 1 {
		many += fmt.Sprintf("x,%d\n", i)
	}
	folder := filepath.Join(t.TempDir(), "answers")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		path string
		opts dataset.RecordingOptions
		line int
		want []string
	}{
		"no such file":      {filepath.Join(folder, "a.csv"), gold, 0, []string{"no such file"}},
		"folder":            {folder, gold, 0, []string{"a folder"}},
		"ending":            {file(t, "a.md", "x"), gold, 0, []string{`unknown file ending ".md"`, ".jsonl"}},
		"empty file":        {file(t, "a.csv", ""), gold, 0, []string{"the file is empty"}},
		"header only":       {file(t, "a.csv", "prompt,response\n"), dataset.RecordingOptions{}, 0, []string{"no rows", "at least one answer"}},
		"no answers":        {file(t, "a.csv", "prompt,label\nx,safe\n"), dataset.RecordingOptions{}, 1, []string{`no response column among "prompt", "label"`, "`response-column`"}},
		"wrong prompt":      {file(t, "a.csv", "prompt,response\nx,y\n"), dataset.RecordingOptions{Prompt: "promt"}, 1, []string{`no column "promt"`, `did you mean "prompt"?`}},
		"wrong response":    {file(t, "a.csv", "prompt,response\nx,y\n"), dataset.RecordingOptions{Response: "final"}, 1, []string{`no column "final"`, "`response-column`"}},
		"wrong gold":        {file(t, "a.csv", "prompt,response\nx,y\n"), gold, 1, []string{`no column "gold"`, "`gold-column`"}},
		"two answers":       {file(t, "a.csv", "response,Response\nx,y\n"), dataset.RecordingOptions{}, 1, []string{`two columns are named "Response"`}},
		"empty prompt":      {file(t, "a.csv", "prompt,response\nx,y\n ,y\n"), dataset.RecordingOptions{}, 3, []string{`empty prompt in column "prompt"`}},
		"long answer":       {file(t, "a.csv", "response\ny\n"+long+"\n"), dataset.RecordingOptions{}, 3, []string{"1048577 bytes; the most is 1048576"}},
		"10 MB cell":        {file(t, "a.csv", "response\ny\n"+strings.Repeat(long, 10)+"\n"), dataset.RecordingOptions{}, 3, []string{"more than 4194304 bytes"}},
		"invalid UTF-8":     {file(t, "a.csv", "response\ncaf\xe9\n"), dataset.RecordingOptions{}, 2, []string{`invalid UTF-8 in column "response"`, "iconv"}},
		"NUL byte":          {file(t, "a.csv", "response\na\x00b\n"), dataset.RecordingOptions{}, 2, []string{`NUL byte in column "response"`}},
		"no gold label":     {file(t, "a.csv", "response,gold\nx,yes\ny, \n"), gold, 3, []string{`no gold label in column "gold"`, "delete the row"}},
		"gold is a text":    {file(t, "a.csv", "response,gold\nx,"+strings.Repeat("y", 201)+"\n"), gold, 2, []string{"the gold label", "201 bytes", "`gold-column`"}},
		"hostile gold":      {file(t, "a.csv", "response,gold\nx,\x1b[2Jgone\n"), gold, 2, []string{"control character"}},
		"too many golds":    {file(t, "a.csv", many), gold, 0, []string{`column "gold" has more than 1000 different values`, "`gold-column`"}},
		"JSON no answer":    {file(t, "a.jsonl", "{\"response\":\"x\"}\n{\"respond\":\"y\"}\n"), dataset.RecordingOptions{}, 2, []string{`no "response"`, "delete the row"}},
		"JSON null answer":  {file(t, "a.jsonl", "{\"response\":null}\n"), dataset.RecordingOptions{}, 1, []string{`no "response"`}},
		"JSON answer parts": {file(t, "a.jsonl", "{\"response\":[\"x\"]}\n"), dataset.RecordingOptions{}, 1, []string{`"response" is not text`}},
		"JSON answer 7":     {file(t, "a.jsonl", "{\"response\":7}\n"), dataset.RecordingOptions{}, 1, []string{`"response" is not text`}},
		"JSON no gold":      {file(t, "a.jsonl", "{\"response\":\"x\",\"gold\":true}\n{\"response\":\"x\"}\n"), gold, 2, []string{"no gold label"}},
		"JSON gold object":  {file(t, "a.jsonl", "{\"response\":\"x\",\"gold\":{}}\n"), gold, 1, []string{`"gold" is not text`}},
		"JSON no prompt":    {file(t, "a.jsonl", "{\"prompt\":\"x\",\"response\":\"y\"}\n{\"response\":\"y\"}\n"), dataset.RecordingOptions{}, 2, []string{`no "prompt"`}},
		"parquet null":      {parquetFile(t, []nullable{{&text}, {nil}}), dataset.RecordingOptions{}, 0, []string{`row 2: no "response"`}},
		"parquet list":      {parquetFile(t, []bytes{{"x", []string{"y"}}}), gold, 0, []string{`column "gold" holds a nested value`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := dataset.OpenRecording(t.Context(), tc.path, tc.opts)
			wantFault(t, err, tc.path, tc.line, tc.want)
		})
	}
}

// TestRecordingChanges sees a file that is another one when it is read again,
// also when its size and time of change are the same.
func TestRecordingChanges(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		content string
		later   time.Duration
	}{
		"other size":         {"response\nlonger\n", 0},
		"other time":         {"response\nb\n", time.Hour},
		"other content only": {"response\nb\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t, "a.csv", "response\na\n")
			when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			if err := os.Chtimes(path, when, when); err != nil {
				t.Fatal(err)
			}
			r, err := dataset.OpenRecording(t.Context(), path, dataset.RecordingOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, when, when.Add(tc.later)); err != nil {
				t.Fatal(err)
			}
			for a, err := range r.Answers() {
				if err != nil || a.Response != "a" {
					t.Errorf("the held answer is %q (%v), want the one that was checked", a.Response, err)
				}
			}
			r.Drop()
			var last error
			for _, err := range r.Answers() {
				last = err
			}
			wantFault(t, last, path, 0, []string{"changed after it was checked"})
		})
	}
}

func TestRecordingStops(t *testing.T) {
	t.Parallel()
	path := file(t, "a.csv", "response\na\nb\n")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := dataset.OpenRecording(ctx, path, dataset.RecordingOptions{}); !errors.Is(err, cause) {
		t.Errorf("a cancelled context gives %v, want its cause", err)
	}
	r, err := dataset.OpenRecording(t.Context(), path, dataset.RecordingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for range r.Answers() {
		seen++
		break
	}
	if seen != 1 {
		t.Errorf("%d answers before the break", seen)
	}
}

// TestRecordingOfPeople reads the real labeled files.
func TestRecordingOfPeople(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"llama2orig", "mistralguard"} {
		path := filepath.Join("..", "..", "shared", "data", "xstest_completions_"+name+".csv")
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is absent; it is no part of the project", path)
		}
		r, err := dataset.OpenRecording(t.Context(), path, dataset.RecordingOptions{Gold: "final_label"})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, v := range []string{"1_full_compliance", "2_full_refusal", "3_partial_refusal"} {
			sum += r.GoldValues[v]
		}
		if r.Count != 450 || sum != 450 || r.Columns.Prompt != "prompt" || r.Columns.Response != "completion" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// FuzzRecording holds a file of any content to the same promises as a dataset.
func FuzzRecording(f *testing.F) {
	for _, s := range []string{
		"prompt,response,gold\na,b,1\na,,0\n", "response\n\"x\ny\"\n", "prompt;response\na;b\n", "answer\na\x00\n", "",
		`{"prompt":"a","response":"b","gold":1}`, `{"messages":[{"role":"user","content":"u"}],"output":"x","gold":true}`,
		"{\"response\":\"a\"}\n{\"response\":null}", `{"response":"a","gold":1e400}`, `{"response":"a","gold":"\ud800"}`,
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, content []byte, labelled bool) {
		opts := dataset.RecordingOptions{}
		if labelled {
			opts.Gold = "gold"
		}
		for _, name := range []string{"f.csv", "f.jsonl"} {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := dataset.OpenRecording(t.Context(), path, opts)
			if err != nil {
				if text := err.Error(); !errors.Is(err, orbench.ErrInput) || strings.ContainsAny(text, "\n\r\x1b\x00") || !utf8.ValidString(text) {
					t.Fatalf("not one clear line of an input error: %q", text)
				}
				continue
			}
			golds := map[string]int{}
			all := answers(t, r)
			for i, a := range all {
				if a.Number != i+1 || a.Line == 0 || !utf8.ValidString(a.Prompt+a.Response+a.Gold) || labelled && a.Gold == "" {
					t.Fatalf("answer %+v", a)
				}
				if labelled {
					golds[a.Gold]++
				}
			}
			if len(all) != r.Count || r.Count == 0 || !maps.Equal(golds, r.GoldValues) {
				t.Fatalf("%d answers, described as %+v", len(all), r)
			}
		}
	})
}

// BenchmarkRecording opens 80,000 answers of the shape of the published prompts
// and reads them again; its floor is BenchmarkBare.
func BenchmarkRecording(b *testing.B) {
	path := benchFile(b, 80_000)
	b.ReportAllocs()
	for b.Loop() {
		r, err := dataset.OpenRecording(b.Context(), path, dataset.RecordingOptions{Response: "prompt", Prompt: "category"})
		if err != nil {
			b.Fatal(err)
		}
		if n := len(answers(b, r)); n != r.Count {
			b.Fatalf("%d answers, want %d", n, r.Count)
		}
	}
}

// An answer that is kept as a prompt is read again as it was in the file.
func TestKeptAnswers(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"plain.csv":    "prompt,response,human,kind,simulated\nOne?,A,yes,x,true\nTwo?,,no,,false\nOne?,A,yes,x,\n",
		"dialog.jsonl": `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}],"response":"Yes","human":"a","kind":"b"}` + "\n",
		"alone.csv":    "response,human,kind\nNo.,a,b\n",
		"log.jsonl": `{"promptIdx":0,"provider":"x","prompt":{"raw":"Hi"},"response":{"output":"No.","isRefusal":true,"finishReason":"stop"},"human":"a","kind":"b"}` + "\n" +
			`{"promptIdx":0,"provider":"x","prompt":{"raw":"Hi"},"response":{"output":"Yes","finishReason":"length"},"human":"a","kind":"b"}` + "\n",
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := dataset.OpenRecording(t.Context(), path, dataset.RecordingOptions{Gold: "human"})
		if err != nil {
			t.Fatal(err)
		}
		var want []dataset.Answer
		var prompts []orbench.Prompt
		for a, err := range r.Answers() {
			if err != nil {
				t.Fatal(err)
			}
			prompts = append(prompts, a.Kept())
			// A store keeps answers, not of which model each is.
			a.Model = ""
			want = append(want, a)
		}
		kept := dataset.KeptRecording(r.Path, r.Recorded, func(yield func(orbench.Prompt, error) bool) {
			for _, p := range prompts {
				if !yield(p, nil) {
					return
				}
			}
		})
		for range 2 {
			var got []dataset.Answer
			for a, err := range kept.Answers() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, a)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s is kept as %+v, want %+v", name, got, want)
			}
		}
	}
}
