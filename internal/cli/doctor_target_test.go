package cli

import (
	"testing"

	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/model"
)

// What a target says is read as in an evaluation.
func TestTrialAnswer(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Paris is the capital.":                       `"Paris is the capital."`,
		"[THINK]France, so Paris.[/THINK]Paris it is": `"Paris it is"`,
		"[THINK]France, so Paris.[/THINK]":            "! thinking and no answer: raise the token limit, or turn thinking off",
		"[CONTENT_FILTERED]":                          "! withheld by the provider",
		"Internal Server Error":                       `! no answer (an error of the call): "Internal Server Error"`,
		" ":                                           "! empty: check the chat template, the stop tokens and the reasoning parser of the server",
	} {
		if got := trialAnswer(reply.Reading{}.Answer(model.Response{Text: said, Finish: model.Stop})); got != want {
			t.Errorf("%q: %s, want %s", said, got, want)
		}
	}
}
