package logs

import (
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
