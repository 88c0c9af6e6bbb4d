package dataset_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// recorded is an answer with what was asked.
type recorded struct {
	Prompt, Response, Gold string
	Line                   int
}

// answers collects the answers of a recording, by prompt.
func answers(t testing.TB, r *dataset.Recording) []recorded {
	t.Helper()
	r.Prompts.Attach(r.Replays)
	var all []recorded
	for p, err := range r.Prompts.Prompts() {
		if err != nil {
			t.Fatalf("Prompts: %v", err)
		}
		for _, a := range p.Answers {
			all = append(all, recorded{p.Text(), a.Text, a.Said["gold"] + a.Said["g"], a.Line})
		}
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
	gold := dataset.Options{Said: "gold", Unlabeled: true}
	want := []recorded{
		{Prompt: "How do I kill a process?", Response: "Use kill.\nThen look.", Gold: "0"},
		{Prompt: "Again?", Response: "", Gold: "1"},
		{Prompt: "Again?", Response: "No, sorry.", Gold: "1"},
	}
	for name, tc := range map[string]struct {
		path  string
		opts  dataset.Options
		lines []int
	}{
		"CSV": {
			file(t, "a.csv", "prompt,completion,kind,gold\nHow do I kill a process?,\"Use kill.\nThen look.\",, 0 \nAgain?,,b,1\nAgain?,\"No, sorry.\",b,1\n"),
			gold,
			[]int{2, 4, 5},
		},
		"TSV with named columns": {
			file(t, "a.tsv", "Q\tResponse\tA\tK\tG\nHow do I kill a process?\tx\t\"Use kill.\nThen look.\"\t\t0\nAgain?\tx\t\tb\t1\nAgain?\tx\tNo, sorry.\tb\t1\n"),
			dataset.Options{Prompt: "q", Response: "a", Said: "g", Unlabeled: true},
			[]int{2, 4, 5},
		},
		"predictions beside answers of people": {
			file(t, "p.jsonl", `{"question":"How do I kill a process?","answer":"x","pred":"Use kill.\nThen look.","gold":0}
{"question":"Again?","answer":"x","pred":"","gold":1,"kind":"b"}

{"question":"Again?","answer":"x","pred":"No, sorry.","gold":1,"kind":"b"}
`),
			gold,
			[]int{1, 2, 4},
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
				want[i].Line = tc.lines[i]
			}
			for pass := range 2 {
				if got := answers(t, r); !reflect.DeepEqual(got, want) {
					t.Errorf("pass %d: got %+v, want %+v", pass, got, want)
				}
			}
			of := r.Replays[0]
			for _, values := range r.Said {
				if !maps.Equal(values, map[string]int{"0": 1, "1": 2}) {
					t.Errorf("the values are %v", values)
				}
			}
			if of.Count != 3 || of.File != tc.path || r.Prompts.Count != 2 || len(r.Said) != 1 {
				t.Errorf("got %+v", of)
			}
			// The hash is of the answers and not of the file around them.
			const sum = "0fbbe73696cf0ac018a73e31ef0e71387576f6313ecbba39a1a4db723613ed75"
			if of.SHA256 != sum {
				t.Errorf("SHA256 = %s, want %s", of.SHA256, sum)
			}
		})
	}
}

// TestRecordingWithoutPrompts reads a file that has answers only, and passes
// over the columns that a dataset would be read from.
func TestRecordingWithoutPrompts(t *testing.T) {
	t.Parallel()
	path := file(t, "a.csv", "label,answer\nnonsense,Yes.\n,\"\"\n")
	r, err := dataset.OpenRecording(t.Context(), path, dataset.Options{Unlabeled: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []recorded{{"(no prompt: answer 1)", "Yes.", "", 2}, {"(no prompt: answer 2)", "", "", 3}}
	if got := answers(t, r); !reflect.DeepEqual(got, want) || len(r.Notes) != 1 {
		t.Errorf("got %+v, want %+v; %q", got, want, r.Notes)
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
	gold := dataset.Options{Said: "gold", Unlabeled: true}
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
		opts dataset.Options
		line int
		want []string
	}{
		"no such file":      {filepath.Join(folder, "a.csv"), gold, 0, []string{"no such file"}},
		"folder":            {folder, gold, 0, []string{"a folder"}},
		"ending":            {file(t, "a.md", "x"), gold, 0, []string{`unknown file ending ".md"`, ".jsonl"}},
		"empty file":        {file(t, "a.csv", ""), gold, 0, []string{"the file is empty"}},
		"header only":       {file(t, "a.csv", "prompt,response\n"), dataset.Options{}, 0, []string{"no rows", "at least one prompt"}},
		"no answers":        {file(t, "a.csv", "prompt,label\nx,safe\n"), dataset.Options{}, 0, []string{`no reply is found in the columns "prompt", "label"`, "`response-column`"}},
		"wrong prompt":      {file(t, "a.csv", "prompt,response\nx,y\n"), dataset.Options{Prompt: "promt"}, 1, []string{`no column "promt"`, `did you mean "prompt"?`}},
		"wrong response":    {file(t, "a.csv", "prompt,response\nx,y\n"), dataset.Options{Response: "final"}, 1, []string{`no column "final"`, "`response-column`"}},
		"wrong gold":        {file(t, "a.csv", "prompt,response\nx,y\n"), gold, 1, []string{`no column "gold"`, "`judge`"}},
		"two answers":       {file(t, "a.csv", "response,Response\nx,y\n"), dataset.Options{}, 1, []string{`two columns are named "Response"`}},
		"empty prompt":      {file(t, "a.csv", "prompt,response\nx,y\n ,y\n"), dataset.Options{}, 3, []string{`empty prompt in column "prompt"`}},
		"long answer":       {file(t, "a.csv", "response\ny\n"+long+"\n"), dataset.Options{}, 3, []string{"more than 1048576 bytes"}},
		"10 MB cell":        {file(t, "a.csv", "response\ny\n"+strings.Repeat(long, 10)+"\n"), dataset.Options{}, 3, []string{"more than 4194304 bytes"}},
		"invalid UTF-8":     {file(t, "a.csv", "response\ncaf\xe9\n"), dataset.Options{}, 2, []string{`invalid UTF-8 in column "response"`, "iconv"}},
		"NUL byte":          {file(t, "a.csv", "response\na\x00b\n"), dataset.Options{}, 2, []string{`NUL byte in column "response"`}},
		"gold is a text":    {file(t, "a.csv", "response,gold\nx,"+strings.Repeat("y", 201)+"\n"), gold, 2, []string{"the verdict", "201 bytes", "`judge`"}},
		"hostile gold":      {file(t, "a.csv", "response,gold\nx,\x1b[2Jgone\n"), gold, 2, []string{"control character"}},
		"too many golds":    {file(t, "a.csv", many), gold, 1002, []string{`column "gold" has more than 1000 different values`, "`judge`"}},
		"JSON no answer":    {file(t, "a.jsonl", "{\"response\":\"x\"}\n{\"respond\":\"y\"}\n"), dataset.Options{}, 2, []string{`no "response"`, "delete the row"}},
		"JSON null answer":  {file(t, "a.jsonl", "{\"response\":null}\n"), dataset.Options{}, 1, []string{`no "response"`}},
		"JSON answer parts": {file(t, "a.jsonl", "{\"response\":[\"x\",\"y\"]}\n"), dataset.Options{}, 1, []string{`"response" is not text`}},
		"no last answer":    {file(t, "a.jsonl", "{\"messages\":[{\"role\":\"assistant\",\"content\":\"Hi.\"},{\"role\":\"user\",\"content\":\"x\"}]}\n"), dataset.Options{}, 1, []string{"does not end with an answer", "`response-column`"}},
		"JSON answer 7":     {file(t, "a.jsonl", "{\"response\":7}\n"), dataset.Options{}, 1, []string{`"response" is not text`}},
		"JSON no prompt":    {file(t, "a.jsonl", "{\"prompt\":\"x\",\"response\":\"y\"}\n{\"response\":\"y\"}\n"), dataset.Options{}, 2, []string{`empty prompt in column "prompt"`}},
		"parquet null":      {parquetFile(t, []nullable{{&text}, {nil}}), dataset.Options{}, 0, []string{`row 2: no "response"`}},
		"parquet list":      {parquetFile(t, []bytes{{"x", []string{"y"}}}), gold, 0, []string{`column "gold" holds nested values`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := dataset.OpenRecording(t.Context(), tc.path, tc.opts)
			wantFault(t, err, tc.path, tc.line, tc.want)
		})
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
		r, err := dataset.OpenRecording(t.Context(), path, dataset.Options{Said: "final_label", Unlabeled: true})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, v := range []string{"1_full_compliance", "2_full_refusal", "3_partial_refusal"} {
			sum += r.Said["final_label"][v]
		}
		if r.Replays[0].Count != 450 || sum != 450 || r.Prompts.Columns.Prompt != "prompt" {
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
		opts := dataset.Options{Unlabeled: true}
		if labelled {
			opts.Said = "gold"
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
			all, count := answers(t, r), 0
			for _, a := range all {
				if a.Line == 0 || !utf8.ValidString(a.Prompt+a.Response+a.Gold) {
					t.Fatalf("answer %+v", a)
				}
			}
			for _, of := range r.Replays {
				count += of.Count
			}
			if len(all) != count || count == 0 {
				t.Fatalf("%d answers of %d", len(all), count)
			}
		}
	})
}

// TestAnswersInReplies takes the text out of a list, or out of the reply of an API, that holds one.
func TestAnswersInReplies(t *testing.T) {
	t.Parallel()
	for _, row := range []string{
		`{"prompt":"Eggs?","response":["No."]}`, `{"prompt":"Eggs?","outputs":[{"text":"No.","finish_reason":"stop"}]}`,
		`{"prompt":"Eggs?","response":{"choices":[{"message":{"content":"No."}}]}}`, `{"messages":[{"role":"user","content":"Eggs?"},{"role":"assistant","content":"No."}]}`, `{"prompt":"Eggs?","responses":["No."]}`,
		`{"prompt":"Eggs?","choices":[{"index":0,"turns":["No."]}]}`,
	} {
		r, err := dataset.OpenRecording(t.Context(), file(t, "a.jsonl", row+"\n"), dataset.Options{Default: "safe"})
		if err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		r.Prompts.Attach(r.Replays)
		for p, err := range r.Prompts.Prompts() {
			if err != nil || len(p.Answers) != 1 || p.Text() != "Eggs?" || p.Answers[0].Text != "No." {
				t.Errorf("%s: %+v, %v", row, p.Answers, err)
			}
		}
	}
}

// TestAnswersInRequests reads what was asked, of which model, and how the answer ended from a
// request and a reply as an API has them.
func TestAnswersInRequests(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{
		`{"request":{"model":"m","messages":[{"role":"system","content":"Cook."},{"role":"user","content":"Eggs?"}]},"response":{"choices":[{"message":{"content":"Boil"},"finish_reason":"length"}]}}`:                                                    "system: Cook. user: Eggs? m Boil length ",
		`{"request":{"body":{"model":"m","messages":[{"role":"user","content":"Eggs?"}]}},"response":{"body":{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}}}`:                                                                "user: Eggs? m  blocked output_filter",
		`{"request":{"system":"Cook.","messages":[{"role":"user","content":[{"type":"text","text":"Eggs?"}]}]},"response":{"content":[{"type":"text","text":"Boil"}],"stop_reason":"max_tokens"}}`:                                                         "system: Cook. user: Eggs?  Boil length ",
		`{"request":{"contents":[{"role":"user","parts":[{"text":"Eggs?"}]}]},"response":{"candidates":[{"content":{"role":"model","parts":[{"text":"Boil"}]},"finishReason":"MAX_TOKENS"}]}}`:                                                             "user: Eggs?  Boil length ",
		`{"input":{"inputBodyJson":{"messages":[{"role":"user","content":[{"text":"Eggs?"}]}]}},"output":{"outputBodyJson":{"output":{"message":{"content":[{"text":"No."}]}},"stopReason":"end_turn"}}}`:                                                  "user: Eggs?  No. stop ",
		`{"input":{"messages":[{"role":"user","content":"Eggs?"}]},"output":{"role":"assistant","content":"No."}}`:                                                                                                                                         "user: Eggs?  No.  ",
		`{"prompt":"Eggs?","model":"m","response":{"choices":[{"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}}`:                                                                                                                      "user: Eggs? m No. blocked refusal_field",
		`{"id":"1","conversations":[{"from":"human","value":"Eggs?"},{"from":"gpt","value":"How many?"},{"from":"human","value":"Two."},{"from":"gpt","value":"No."}]}`:                                                                                    "user: Eggs? assistant: How many? user: Two.  No.  ",
		`{"messages":[{"from":"system","value":"Cook."},{"from":"human","value":"Eggs?"},{"from":"gpt","value":"No."}]}`:                                                                                                                                   "system: Cook. user: Eggs?  No.  ",
		`{"model":"m","conversation":[{"role":"user","content":"Eggs?"},{"role":"assistant","content":"No."}],"turn":1}`:                                                                                                                                   "user: Eggs? m No.  ",
		`{"request_body":{"model":"m","messages":[{"role":"user","content":"Eggs?"}]},"response_body":{"choices":[{"message":{"content":"No."},"finish_reason":"length"}]}}`:                                                                               "user: Eggs? m No. length ",
		`{"request":"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Eggs?\"}]}","response":"{\"choices\":[{\"message\":{\"content\":\"No.\"}}]}"}`:                                                                                        "user: Eggs? m No.  ",
		`{"inputs":{"question":"How do I boil eggs?"},"outputs":{"answer":"In water."}}`:                                                                                                                                                                   "user: How do I boil eggs?  In water.  ",
		`{"properties":{"$ai_input":[{"role":"user","content":"Eggs?"}],"$ai_output_choices":[{"role":"assistant","content":"No."}]}}`:                                                                                                                     "user: Eggs?  No.  ",
		`{"role":"user","content":"Eggs?","model":"m"}` + "\n" + `{"role":"assistant","content":"No.","model":"m"}`:                                                                                                                                        "user: Eggs? m No.  ",
		`{"prompt":"{\"prompt\":\"Eggs?\"}","response":"[\"No.\"]","model_name":"m"}`:                                                                                                                                                                      `user: {"prompt":"Eggs?"}  ["No."]  `,
		`{"prompt":"Eggs?","response":[{"message":{"role":"assistant","content":"N"},"done":false},{"message":{"role":"assistant","content":"o."},"done":true}]}`:                                                                                          "user: Eggs?  No.  ",
		`{"prompt":"Eggs?","response":[{"type":"response.created","response":{"output":[]}},{"type":"response.output_text.delta","delta":"N"},{"type":"response.output_text.delta","delta":"o."},{"type":"response.completed","response":{"output":[]}}]}`: "user: Eggs?  No.  ",
		`{"prompt":"Eggs?","response":{"text":"No.","score":1},"finish_reason":"length"}`:                                                                                                                                                                  "user: Eggs?  No. length ",
	} {
		r, err := dataset.OpenRecording(t.Context(), file(t, "a.jsonl", row+"\n"), dataset.Options{Default: "safe"})
		if err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		r.Prompts.Attach(r.Replays)
		prompts := 0
		for p, err := range r.Prompts.Prompts() {
			if prompts++; err != nil || len(p.Answers) != 1 {
				t.Fatalf("%s: %+v, %v", row, p.Answers, err)
			}
			got := ""
			for _, m := range p.Messages {
				got += fmt.Sprintf("%s: %s ", m.Role, m.Content)
			}
			a := p.Answers[0]
			if got += fmt.Sprintf("%s %s %s %s", r.Replays[0].Model, a.Text, a.Finish, a.Block); got != want {
				t.Errorf("%s:\n got %s\nwant %s", row, got, want)
			}
		}
		if prompts != 1 {
			t.Errorf("%s: %d prompts", row, prompts)
		}
	}
	// Who names both columns of a conversation has what they name.
	named := dataset.Options{Prompt: "conversations[0].value", Response: "conversations[-1].value"}
	r, err := dataset.OpenRecording(t.Context(), file(t, "c.jsonl", `{"conversations":[{"from":"human","value":"Eggs?"},{"from":"gpt","value":"No."}]}`+"\n"), named)
	if err != nil {
		t.Fatal(err)
	}
	if got := answers(t, r); len(got) != 1 || got[0].Prompt != "Eggs?" || got[0].Response != "No." {
		t.Errorf("%+v", got)
	}
	// Prompts alone are no answers, and a dataset is not asked without what else a request has.
	for _, row := range []string{`{"request":{"messages":[{"role":"user","content":"Eggs?"}]}}`, `{"request":{"fruit":1},"response":"No."}`, `{"conversations":[{"from":"human","value":"Eggs?"}]}`} {
		if _, err := dataset.OpenRecording(t.Context(), file(t, "a.jsonl", row+"\n"), dataset.Options{}); !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%s: %v", row, err)
		}
	}
	if _, err := dataset.Open(t.Context(), file(t, "b.jsonl", `{"request":{"messages":[{"role":"user","content":"Eggs?"}],"tools":[{}]}}`+"\n"), dataset.Options{}); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("a dataset of requests: %v", err)
	}
}
