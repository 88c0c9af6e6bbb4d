package logs

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTranscripts reads transcripts with calls of tools, made by hand in the forms of
// OpenAI and Anthropic, and judges each to its end.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "transcripts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	ends := map[End]int{}
	n := 0
	for line := range strings.Lines(string(text)) {
		want, row, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		n++
		ends[End(want)]++
		// A refusal at once counts beside a transcript with tools.
		beside := `{"messages":[{"role":"user","content":"Look."},{"role":"assistant","tool_calls":[{"id":"1"}]},{"role":"tool","content":"seen"},{"role":"assistant","content":"I looked at it, and all is well."}]}`
		r := resultOf(t, row+"\n"+beside+"\n", Options{})
		if r.Transcripts == nil || r.Transcripts.All != 2 {
			t.Errorf("%s: %+v, want two transcripts", row, r.Transcripts)
			continue
		}
		wanted := 1
		if End(want) == Done {
			wanted = 2
		}
		if r.Transcripts.counts[End(want)] != wanted {
			t.Errorf("%s: %v, want %s", row, r.Transcripts.counts, want)
		}
	}
	if n != 31 || len(ends) != len(Ends) {
		t.Errorf("%d transcripts with the ends %v, want 31 with all", n, ends)
	}
}

// TestInspectTranscripts reads logs of Inspect, made by hand, as one JSON object and as an
// archive. Each sample has calls of tools but those that are refused at once.
func TestInspectTranscripts(t *testing.T) {
	t.Parallel()
	const (
		look   = `{"role":"assistant","content":"","tool_calls":[{"id":"1","function":"look","arguments":{}}]}`
		seen   = `{"role":"tool","content":"seen","tool_call_id":"1","function":"look"}`
		no     = `{"role":"assistant","content":"I'm sorry, but I can't help with that."}`
		well   = `{"role":"assistant","content":[{"type":"reasoning","reasoning":"Done now."},{"type":"text","text":"I looked at it, and all is well."}]}`
		attach = `{"role":"assistant","content":"attachment://a1"}`
		hand   = `{"role":"assistant","content":"","tool_calls":[{"id":"2","function":"submit","arguments":{}}]}`
	)
	samples := []struct {
		end      End
		messages []string
	}{
		{RefusedAtOnce, []string{no}},
		{RefusedAtOnce, []string{`{"role":"assistant","content":"I cannot assist with this request."}`}},
		{RefusedLater, []string{look, seen, no}},
		{RefusedLater, []string{look, seen, look, seen, attach}},
		{RefusedLater, []string{look, seen, hand, `{"role":"tool","content":"I cannot assist with this request.","function":"submit"}`}},
		{Stopped, []string{look}},
		{Stopped, []string{look, seen}},
		{TriedAndFailed, []string{look, `{"role":"tool","content":"","function":"look","error":{"type":"timeout","message":"too slow"}}`, well}},
		{TriedAndFailed, []string{look, `{"role":"tool","content":"Error: no such file","function":"look"}`, well}},
		{Done, []string{look, seen, well}},
		{Done, []string{look, seen, hand, `{"role":"tool","content":"I looked at it, and all is well.","function":"submit"}`}},
	}
	const head = `"version":2,"status":"success","eval":{"run_id":"r","model":"m"}`
	for n := range samples {
		s := samples[n]
		var all []string
		for i, messages := range [][]string{s.messages, {look, seen, well}, {look, seen, look, seen, well}} {
			all = append(all, fmt.Sprintf(`{"id":%d,"epoch":1,"input":"Look.","attachments":{"a1":"I cannot assist with this request."},"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Look at file %d."},%s],"output":{"choices":[{"message":%s,"stop_reason":"stop"}]}}`,
				i+1, i, strings.Join(messages, ","), messages[0]))
		}
		folder := t.TempDir()
		text, archive := filepath.Join(folder, "log.json"), filepath.Join(folder, "log.eval")
		if err := os.WriteFile(text, []byte("{"+head+`,"samples":[`+strings.Join(all, ",")+"]}"), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(archive)
		if err != nil {
			t.Fatal(err)
		}
		packed := zip.NewWriter(file)
		entries := map[string]string{"header.json": "{" + head + "}"}
		for i, sample := range all {
			entries[fmt.Sprintf("samples/%d_epoch_1.json", i+1)] = sample
		}
		for name, content := range entries {
			into, err := packed.Create(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(into, content); err != nil {
				t.Fatal(err)
			}
		}
		if err := packed.Close(); err != nil {
			t.Fatal(err)
		}
		file.Close()
		wanted := 1
		if s.end == Done {
			wanted = 3
		}
		for _, log := range []string{text, archive} {
			r, _, err := Read(t.Context(), []string{log}, Options{})
			if err != nil {
				t.Fatalf("%v: %v", s, err)
			}
			if r.Transcripts == nil || r.Transcripts.All != 3 || r.Transcripts.counts[s.end] != wanted {
				t.Errorf("%v of %s: %+v", s, filepath.Ext(log), r.Transcripts)
			}
		}
	}
}
