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
		text             string
		opts             dataset.Options
		prompt, response string
	}{
		"usual":                       {"Completion,PROMPT\na,p\n", dataset.Options{}, "p", "a"},
		"the likelier of two":         {"reply,response,text,prompt\nx,a,y,p\n", dataset.Options{}, "p", "a"},
		"no prompts":                  {"id,output\n1,a\n", dataset.Options{}, "(no prompt: answer 1)", "a"},
		"answers in a usual prompt":   {"id,text\n1,a\n", dataset.Options{Response: "Text"}, "(no prompt: answer 1)", "a"},
		"answers in the likelier one": {"prompt,question\na,p\n", dataset.Options{Response: "prompt"}, "p", "a"},
		"prompts in a usual answer":   {"output,reply\np,a\n", dataset.Options{Prompt: "Output"}, "p", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := dataset.OpenRecording(t.Context(), file(t, "a.csv", tc.text), tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := answers(t, r); len(got) != 1 || got[0].Prompt != tc.prompt || got[0].Response != tc.response {
				t.Errorf("got %+v", got)
			}
		})
	}
	// What is left when the prompts have the only usual name is no answer.
	path := file(t, "a.csv", "output,id\nx,1\n")
	_, err := dataset.OpenRecording(t.Context(), path, dataset.Options{Prompt: "output"})
	wantFault(t, err, path, 0, []string{"no reply is found", "`response-column`"})
}
