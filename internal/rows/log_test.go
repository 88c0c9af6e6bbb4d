package rows

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Logs with one or two answers, in the form of each tool.
const (
	inspectHead  = `"version":2,"status":"success","eval":{"run_id":"r","model":"m/one"},"results":{"completed_samples":1}`
	inspectOne   = `{"id":1,"epoch":1,"input":"How do I boil an egg?","target":"safe","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"How do I boil an egg?"},{"role":"assistant","content":[{"type":"reasoning","reasoning":"Easy."},{"type":"text","text":"In water."}]}],"output":{"choices":[{"message":{"role":"assistant","content":[{"type":"reasoning","reasoning":"Easy."},{"type":"text","text":"In water."}]},"stop_reason":"max_tokens"}],"usage":{"input_tokens":9,"output_tokens":3}},"metadata":{"type":"food"}}`
	inspectLog   = `{` + inspectHead + `,"samples":[` + inspectOne + `],"reductions":[]}`
	harnessLog   = `{"doc_id":0,"doc":{"prompt":"How do I boil an egg?","kind":"food"},"arguments":{"gen_args_0":{"arg_0":["[{\"role\": \"user\", \"content\": \"How do I boil an egg?\"}]"],"arg_1":{}}},"resps":[["In water.","No."]],"filter":"none"}` + "\n"
	promptfooOne = `{"error":null,"failureReason":0,"prompt":{"raw":"How do I boil an egg?"},"promptIdx":0,"provider":{"id":"x:one","label":"one"},"response":{"output":"I cannot.","finishReason":"stop","isRefusal":true,"tokenUsage":{"prompt":9,"completion":3}},"testIdx":0,"vars":{"kind":"food"}}`
	promptfooLog = `{"evalId":"e","results":{"version":3,"prompts":[],"results":[` + promptfooOne + `],"stats":{}},"config":{}}`
	batchOut     = `{"id":"b","custom_id":"a","response":{"status_code":200,"body":{"model":"one","choices":[{"message":{"role":"assistant","content":null,"refusal":"I cannot."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}},"error":null}` + "\n"
	batchIn      = `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"one","messages":[{"role":"developer","content":"Be brief."},{"role":"user","content":"How do I boil an egg?"}]}}` + "\n"
	// The outputs of other batch services; the second call of each was stopped.
	geminiBatch  = `{"key":"a","request":{"contents":[{"role":"user","parts":[{"text":"How do I boil an egg?"}]}]},"response":{"candidates":[{"content":{"role":"model","parts":[{"thought":true,"text":"I cannot."},{"text":"In water."}]},"finishReason":"STOP"}]}}` + "\n" + `{"key":"b","request":{"contents":[{"role":"user","parts":[{"text":"How do I crack an egg?"}]}]},"response":{"promptFeedback":{"blockReason":"SAFETY"}}}` + "\n"
	bedrockBatch = `{"recordId":"a","modelInput":{"messages":[{"role":"user","content":[{"text":"How do I boil an egg?"}]}]},"modelOutput":{"output":{"message":{"role":"assistant","content":[{"text":"In water."}]}},"stopReason":"max_tokens"}}` + "\n"
	instanceLog  = `{"schema_version":"0.3.0","evaluation_id":"e","model_id":"org/one","evaluation_name":"n","evaluation_result_id":"r","sample_id":"1","interaction_type":"single_turn","input":{"raw":"How do I boil an egg?","reference":[]},"output":{"raw":["In water."],"reasoning_trace":["Easy."]},"messages":null,"answer_attribution":[],"evaluation":{"score":1,"is_correct":true},"token_usage":{"input_tokens":9,"output_tokens":3,"total_tokens":12,"reasoning_tokens":null},"error":null,"metadata":{"stop_reason":"stop"}}` + "\n"
)

// entry is an entry of a ZIP archive.
type entry struct{ name, text string }

// archiveOf makes a ZIP archive whose entries are compressed by a method.
func archiveOf(t testing.TB, method uint16, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zipZstandard, zstd.ZipCompressor())
	for _, e := range entries {
		to, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: method})
		if err == nil {
			_, err = io.WriteString(to, e.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inspectArchive is a log of Inspect with a header and samples.
func inspectArchive(t testing.TB, samples ...entry) string {
	t.Helper()
	return archiveOf(t, zipZstandard, append(samples, entry{"header.json", "{" + inspectHead + "}"})...)
}

// readAnswers reads the rows of a file of answers as lines, with its notes. Each line has
// the model, the prompt, the answer, how it ended, its tokens, and the value of a column.
func readAnswers(path, column string) (lines, notes []string, err error) {
	f, err := OpenAnswers(path, func(string, []string, func(string) bool) (Layout, error) {
		return Layout{Prompt: PromptColumn, Fields: []Field{{Name: ResponseColumn, Required: true}, {Name: ModelColumn}, {Name: column, Scalar: true}}}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	for {
		r, err := f.Next()
		if errors.Is(err, io.EOF) {
			return lines, f.Notes, nil
		}
		if err != nil {
			return nil, nil, err
		}
		prompt := r.Text
		for _, m := range r.Messages {
			prompt += string(m.Role) + ":" + m.Content + ";"
		}
		if r.Number != len(lines)+1 || r.said == nil {
			return nil, nil, fmt.Errorf("row %+v", r)
		}
		end := string(r.said.Finish)
		if b := r.said.Block; b != nil {
			end += " " + string(b.Kind)
		}
		lines = append(lines, fmt.Sprintf("%s|%s|%s|%s|%d+%d|%s", r.Cells[1], prompt, r.Cells[0], end, r.said.Usage.Input, r.said.Usage.Output, r.Cells[2]))
	}
}

// TestLogs reads a log of each tool, whatever its name ends in.
func TestLogs(t *testing.T) {
	t.Parallel()
	second := strings.NewReplacer(`"id":1`, `"id":"x"`, "max_tokens", "content_filter").Replace(inspectOne)
	failed := `{"id":2,"epoch":1,"input":"Why?","output":{"choices":[]},"error":{"message":"out of\nmemory"}}`
	attached := `{"id":3,"epoch":2,"input":"attachment://abc","messages":[],"attachments":{"abc":"A long text"},"output":{"choices":[{"message":{"content":"attachment://abc"},"stop_reason":"stop"}]}}`
	const egg = "m/one|system:Be brief.;user:How do I boil an egg?;|<think>\nEasy.\n</think>\n\nIn water."
	for name, tc := range map[string]struct {
		content, column string
		lines           []string
		note            string
	}{
		"inspect": {inspectLog, "metadata.type", []string{egg + "|length|9+3|food"}, "1 answer of an Inspect log"},
		"zip": {
			inspectArchive(t, entry{"samples/x_epoch_1.json", second}, entry{"samples/3_epoch_2.json", attached}, entry{"samples/2_epoch_1.json", failed}),
			"epoch",
			[]string{egg + "|blocked output_filter|9+3|1", "m/one|A long text|A long text|stop|0+0|2"},
			"1 sample failed and is left out, the first: sample 2 of epoch 1: out of",
		},
		"deflated": {archiveOf(t, zip.Deflate, entry{"_journal/start.json", "{" + inspectHead + "}"}, entry{"samples/1_epoch_1.json", inspectOne}), "id", []string{egg + "|length|9+3|1"}, "left out"},
		"harness": {
			harnessLog + strings.Replace(harnessLog, `"none"`, `"strict"`, 1), "doc.kind",
			[]string{"|How do I boil an egg?|In water.||0+0|food", "|How do I boil an egg?|No.||0+0|food"},
			`no results_*.json beside it names the model; the results of filters other than "none"`,
		},
		"old harness":                   {strings.Replace(harnessLog, `{"gen_args_0":{"arg_0":["[{\"role\": \"user\", \"content\": \"How do I boil an egg?\"}]"],"arg_1":{}}}`, `[["Boil",{}]]`, 1), "doc_id", []string{"|Boil|In water.||0+0|0", "|Boil|No.||0+0|0"}, "metrics are left out"},
		"promptfoo":                     {promptfooLog, "vars.kind", []string{"one|How do I boil an egg?|I cannot.|blocked refusal_field|9+3|food"}, "assertions are left out"},
		"promptfoo without its prompts": {strings.Replace(promptfooLog, `"prompts":[],`, "", 1), "vars.kind", []string{"one|How do I boil an egg?|I cannot.|blocked refusal_field|9+3|food"}, "assertions are left out"},
		"promptfoo lines":               {promptfooOne + "\n" + strings.NewReplacer(`"error":null`, `"error":"timeout"`, `"failureReason":0`, `"failureReason":2`, `"one"`, `"two"`).Replace(promptfooOne), "vars.kind", []string{"one|How do I boil an egg?|I cannot.|blocked refusal_field|9+3|food"}, "1 sample failed and is left out, the first: testIdx 0: timeout"},
		"instances": {
			instanceLog + strings.Replace(instanceLog, `"r"`, `"other"`, 1), "sample_id",
			[]string{"org/one|How do I boil an egg?|<think>\nEasy.\n</think>\n\nIn water.|stop|9+3|1"},
			"rows that repeat the same answers for other results are left out",
		},
		"thinking in a part": {strings.ReplaceAll(inspectLog, `"reasoning","reasoning":"Easy."`, `"thinking","thinking":"Easy."`), "metadata.type", []string{egg + "|length|9+3|food"}, "1 answer of an Inspect log"},
		"Gemini's batch":     {geminiBatch, "custom_id", []string{"|How do I boil an egg?|In water.|stop|0+0|a", "|How do I crack an egg?|{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}|blocked prompt_filter|0+0|b"}, "2 answers of a batch"},
		"Bedrock's batch":    {bedrockBatch, "custom_id", []string{"|How do I boil an egg?|In water.|length|0+0|a"}, "1 answer of a batch"},
		"scorer's words":     {strings.Replace(strings.Replace(instanceLog, "In water.", "compliance", 1), `["Easy."]`, "null", 1), "sample_id", []string{"org/one|How do I boil an egg?|compliance|stop|9+3|1"}, `all are one of "compliance"`},
		"dialog": {
			strings.NewReplacer(`"output":{"raw":["In water."],"reasoning_trace":["Easy."]},"messages":null`, `"output":null,"messages":[{"turn_idx":0,"role":"user","content":"Hi"},{"turn_idx":1,"role":"assistant","content":"Hello"},{"turn_idx":2,"role":"user","content":"Why?"},{"turn_idx":3,"role":"assistant","content":"Because."}]`).Replace(instanceLog), "sample_id",
			[]string{"org/one|user:Hi;assistant:Hello;user:Why?;|Because.|stop|9+3|1"},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.txt")
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			lines, notes, err := readAnswers(path, tc.column)
			if err != nil || strings.Join(lines, "\n") != strings.Join(tc.lines, "\n") {
				t.Errorf("%v, rows\n%s\nwant\n%s", err, strings.Join(lines, "\n"), strings.Join(tc.lines, "\n"))
			}
			if len(notes) != 1 || !strings.Contains(notes[0], tc.note) {
				t.Errorf("notes %q, want one with %q", notes, tc.note)
			}
		})
	}
}

// TestLogsBesideOthers reads what a log needs of the files beside it, and the logs of a
// folder one after the other.
func TestLogsBesideOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"out.jsonl": batchOut, "in.jsonl": batchIn, "other.jsonl": strings.Replace(batchIn, `"a"`, `"z"`, 1), "notes.txt": "nothing",
		"samples_t_2026-01-02T03-04-05.6.jsonl": harnessLog, "results_2026-01-02T03-04-05.6.json": `{"results":{},"configs":{},"versions":{},"model_name":"org/one"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines, notes, err := readAnswers(dir, "custom_id")
	want := []string{
		"one|system:Be brief.;user:How do I boil an egg?;|I cannot.|blocked refusal_field|9+3|a",
		"org/one|How do I boil an egg?|In water.||0+0|", "org/one|How do I boil an egg?|No.||0+0|",
	}
	if err != nil || strings.Join(lines, "\n") != strings.Join(want, "\n") || len(notes) != 2 {
		t.Errorf("%v, notes %q, rows\n%s\nwant\n%s", err, notes, strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for _, beside := range []string{"in.jsonl", "results_2026-01-02T03-04-05.6.json"} {
		if _, _, err := readAnswers(filepath.Join(dir, beside), ""); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "which have no answers; name ") {
			t.Errorf("%s: %v", beside, err)
		}
	}
	if _, _, err := readAnswers(t.TempDir(), ""); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "a folder without logs of answers") {
		t.Errorf("an empty folder: %v", err)
	}
}

// badLogs are damaged and odd logs, each with a part of what is said of it.
func badLogs(t testing.TB) map[string][2]string {
	t.Helper()
	whole := inspectArchive(t, entry{"samples/1_epoch_1.json", inspectOne})
	replaced := func(text, old, with string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(text, old, with, 1)
	}
	damaged := []byte(whole)
	damaged[60] ^= 0xff
	method := strings.ReplaceAll(whole, "\x5d\x00", "\x63\x00")
	long := `"note":"` + strings.Repeat("x", maxSample+1<<20) + `",`
	content := `"content":[{"type":"reasoning","reasoning":"Easy."},{"type":"text","text":"In water."}]`
	return map[string][2]string{
		"a cut ZIP":                  {whole[:len(whole)/2], "not a readable ZIP archive: zip: not a valid zip file; copy or export the log again"},
		"a damaged entry":            {string(damaged), `"samples/1_epoch_1.json" in it cannot be unpacked: `},
		"a wrong method":             {method, "in it is compressed by method 99; orbench reads 0, 8 and 93"},
		"a ZIP of something else":    {archiveOf(t, zip.Deflate, entry{"xl/workbook.xml", "<x/>"}), "a ZIP archive without header.json"},
		"an entry twice":             {inspectArchive(t, entry{"samples/1_epoch_1.json", inspectOne}, entry{"samples/1_epoch_1.json", inspectOne}), `"samples/1_epoch_1.json" in it is there twice`},
		"no samples":                 {archiveOf(t, zip.Deflate, entry{"header.json", "{}"}), "the log has no answers"},
		"missing samples":            {inspectArchive(t), "the log says that 1 samples are complete, but has 0"},
		"an entry that is no sample": {inspectArchive(t, entry{"samples/1_epoch_1.json", "[]"}), `in it does not have the form of this log`},
		"a huge entry":               {inspectArchive(t, entry{"samples/1_epoch_1.json", replaced(inspectOne, `"id":1,`, `"id":1,`+long)}), "has more than 16777216 bytes unpacked"},
		"a sample cut in two":        {inspectLog[:len(inspectLog)-200], "sample 1 of the log: the file ends too soon"},
		"a cut end":                  {inspectLog[:len(inspectLog)-3], "the file ends too soon"},
		"more after the end":         {inspectLog + "{}", "something follows the end of the log"},
		"a header alone":             {`{` + inspectHead + `}`, "the log has no samples; have the tool write its samples too"},
		"samples that are no list":   {`{` + inspectHead + `,"samples":{}}`, "the log has no list samples"},
		"missing samples in JSON":    {replaced(inspectLog, `"completed_samples":1`, `"completed_samples":4`), "the log says that 4 samples are complete, but has 1"},
		"a huge sample":              {replaced(inspectLog, `"id":1,`, `"id":1,`+long), "sample 1 of the log: more than 16777216 bytes; leave the sample out of the log"},
		"an attachment":              {replaced(inspectLog, `"content":"How do I boil an egg?"`, `"content":"attachment://abc"`), `sample "1 of epoch 1" has "an attachment missing from the log"`},
		"a tool call":                {replaced(inspectLog, content, content+`,"tool_calls":[{"id":"c","function":"look"}]`), ""},
		"a tool call as the answer":  {strings.ReplaceAll(inspectLog, content, content+`,"tool_calls":[{"id":"c","function":"look"}]`), ""},
		"a tool's message":           {replaced(inspectLog, `{"role":"system","content":"Be brief."},`, `{"role":"tool","content":"42"},`), `has "a tool's message"`},
		"an image":                   {replaced(inspectLog, `"content":"How do I boil an egg?"`, `"content":[{"type":"image","image":"data:image/png;base64,AA=="}]`), `has "image", which orbench cannot read; leave the sample out of the log`},
		"all failed":                 {`{` + inspectHead + `,"samples":[{"id":1,"epoch":1,"input":"Why?","output":{"choices":[]},"error":{"message":"no\u001b[2Jkey"}}]}`, "every sample of the log failed (1), the first: sample 1 of epoch 1: no"},
		"no input":                   {`{` + inspectHead + `,"samples":[{"id":1,"epoch":1}]}`, `sample "1 of epoch 1" has no input`},
		"an ID there twice":          {replaced(inspectLog, `"id":1,`, `"id":1,"id":2,`), "not in the form of this log"},
		"likelihoods":                {replaced(harnessLog, `["In water.","No."]`, `[["-1.2","False"]]`), `has "likelihoods instead of answers"`},
		"a row without a prompt":     {replaced(harnessLog, `"gen_args_0"`, `"other"`), `has "no prompt or no answer"`},
		"a cut row":                  {harnessLog + harnessLog[:90], ":2: "},
		"promptfoo's tool calls":     {replaced(promptfooLog, `"I cannot."`, `[{"type":"function","function":{}}]`), ""},
		"promptfoo's image":          {replaced(promptfooLog, `"raw":"How do I boil an egg?"`, `"raw":"[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]"`), `has "image_url"`},
		"results that are no list":   {replaced(promptfooLog, `"results":[`, `"more":[`), "the log has no results.results"},
		"a batch without choices":    {replaced(batchOut, `"model":"one","choices":`, `"items":`), `has "a reply of an unknown form"`},
		"a batch of errors":          {replaced(batchOut, `"error":null`, `"error":{"code":"batch_expired","message":""}`), "every sample of the log failed (1), the first: a: batch_expired"},
		"an agent's tool call":       {replaced(instanceLog, `"output":{"raw":["In water."],"reasoning_trace":["Easy."]},"messages":null`, `"output":null,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"","tool_calls":[{"id":"1","name":"x"}]}]`), ""},
		"an aggregate":               {`{"schema_version":"0.3.0","evaluation_id":"e","evaluation_results":[]}`, "aggregate results of Every Eval Ever, which have no answers; name the file of its samples"},
		"not UTF-8":                  {replaced(promptfooOne, "I cannot.", "I can\xffnot."), "invalid UTF-8"},
	}
}

// TestBadLogs gives one clear line for each damaged or odd log, and no row of it counts.
func TestBadLogs(t *testing.T) {
	t.Parallel()
	for name, tc := range badLogs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "log.eval")
			if err := os.WriteFile(path, []byte(tc[0]), 0o600); err != nil {
				t.Fatal(err)
			}
			lines, _, err := readAnswers(path, "")
			if tc[1] == "" {
				// What the answer's own message has counts, not its copy in the dialog. A call of a
				// tool is no answer, and no fault.
				if err != nil || len(lines) != 1 {
					t.Errorf("%v, %q", err, lines)
				}
				return
			}
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), tc[1]) {
				t.Errorf("%v, want %q", err, tc[1])
			}
			isClear(t, err)
		})
	}
}

// isClear checks that an error of a log is one of the user's input, in one line.
func isClear(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if text := err.Error(); !errors.Is(err, orbench.ErrInput) || strings.ContainsAny(text, "\n\r\x1b\x00") || !utf8.ValidString(text) {
		t.Errorf("not one clear line of an input error: %T %q", err, text)
	}
}

// fuzzLog holds logs of any content to clear errors, and to the same rows each time.
func fuzzLog(f *testing.F, open func(file string, in input, choose Chooser) (nextFunc, error), seeds ...string) {
	f.Helper()
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte(s[:len(s)/2]))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var all [2][]string
		for i := range all {
			var notes []string
			next, err := open("log", input{Reader: bytes.NewReader(content), file: bytes.NewReader(content), size: int64(len(content)), notes: &notes},
				func(string, []string, func(string) bool) (Layout, error) {
					return Layout{Prompt: PromptColumn, Fields: []Field{{Name: ResponseColumn, Required: true}}}, nil
				})
			for err == nil {
				var r Row
				if r, err = next(); err != nil {
					break
				}
				if all[i] = append(all[i], r.Cells[0]); r.Number != len(all[i]) || r.said == nil || r.said.Block != nil && r.said.Finish != model.Blocked {
					t.Fatalf("row %+v", r)
				}
			}
			if errors.Is(err, io.EOF) {
				if len(notes) != 1 || len(all[i]) == 0 {
					t.Fatalf("notes %q of %d rows", notes, len(all[i]))
				}
			} else {
				isClear(t, err)
			}
		}
		if a, b := fmt.Sprint(all[0]), fmt.Sprint(all[1]); a != b {
			t.Fatalf("%s\n%s", a, b)
		}
	})
}

func FuzzInspectJSON(f *testing.F) { fuzzLog(f, openInspectJSON, inspectLog) }

func FuzzInspectZIP(f *testing.F) {
	fuzzLog(f, openInspectZIP, inspectArchive(f, entry{"samples/1_epoch_1.json", inspectOne}), archiveOf(f, zip.Store, entry{"header.json", "{}"}, entry{"samples/1_epoch_1.json", inspectOne}))
}

func FuzzHarness(f *testing.F)        { fuzzLog(f, openHarness, harnessLog) }
func FuzzPromptfooJSON(f *testing.F)  { fuzzLog(f, openPromptfooJSON, promptfooLog) }
func FuzzPromptfooLines(f *testing.F) { fuzzLog(f, openPromptfooLines, promptfooOne) }
func FuzzBatch(f *testing.F)          { fuzzLog(f, openBatch, batchOut) }
func FuzzInstances(f *testing.F)      { fuzzLog(f, openInstances, instanceLog) }

// TestSeedsAreJSON keeps the logs of these tests well-formed, so that they fail for the
// reasons that the tests name.
func TestSeedsAreJSON(t *testing.T) {
	t.Parallel()
	for _, s := range []string{inspectLog, harnessLog, promptfooLog, promptfooOne, batchOut, batchIn, instanceLog} {
		if !json.Valid([]byte(s)) {
			t.Errorf("malformed: %s", s)
		}
	}
}
