package dataset_test

import (
	"testing"

	"github.com/orbench/orbench/internal/dataset"
)

// TestRecordingColumns finds columns by their usual names, and none as two
// things unless the user says so.
func TestRecordingColumns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header string
		opts   dataset.RecordingOptions
		want   dataset.RecordingColumns
	}{
		"usual":                       {"Completion,PROMPT", dataset.RecordingOptions{}, dataset.RecordingColumns{Prompt: "PROMPT", Response: "Completion"}},
		"the likelier of two":         {"reply,response,text,prompt", dataset.RecordingOptions{}, dataset.RecordingColumns{Prompt: "prompt", Response: "response"}},
		"no prompts":                  {"id,output", dataset.RecordingOptions{}, dataset.RecordingColumns{Response: "output"}},
		"answers in a usual prompt":   {"id,text", dataset.RecordingOptions{Response: "Text"}, dataset.RecordingColumns{Response: "text"}},
		"answers in the likelier one": {"prompt,question", dataset.RecordingOptions{Response: "prompt"}, dataset.RecordingColumns{Prompt: "question", Response: "prompt"}},
		"prompts in a usual answer":   {"output,reply", dataset.RecordingOptions{Prompt: "Output"}, dataset.RecordingColumns{Prompt: "output", Response: "reply"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := dataset.OpenRecording(t.Context(), file(t, "a.csv", tc.header+"\n"+tc.header+"\n"), tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			if r.Columns != tc.want {
				t.Errorf("got %+v, want %+v", r.Columns, tc.want)
			}
		})
	}
	// What is left when the prompts have the only usual name is no answer.
	path := file(t, "a.csv", "output,id\nx,1\n")
	_, err := dataset.OpenRecording(t.Context(), path, dataset.RecordingOptions{Prompt: "output"})
	wantFault(t, err, path, 1, []string{"no response column", "`response-column`"})
}
