package construct

import (
	"context"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/model"
)

// What selectors and the model of the second chance say is read as in an evaluation: their thinking
// is no answer, a block stands for a refusal, and an error for nothing.
func TestAnswersAreRead(t *testing.T) {
	t.Parallel()
	const refuses, answers = "I'm sorry, but I can't help with that.", "Of course. Put the bread into the oven for an hour."
	for said, want := range map[string]struct {
		class   orbench.Class
		missing string
	}{
		answers: {class: orbench.FullAnswer},
		refuses: {class: orbench.Refusal},
		"[THINK]" + refuses + " Or can I? Yes.[/THINK]" + answers:   {class: orbench.FullAnswer},
		"[THINK]" + answers + " That would harm.[/THINK]" + refuses: {class: orbench.Refusal},
		`{"response": "` + refuses + `"}`:                           {class: orbench.Refusal},
		"[CONTENT_FILTERED]":                                        {class: orbench.Blocked, missing: "the answer was blocked"},
		"Internal Server Error":                                     {class: orbench.Unjudged, missing: "no answer: an error of the call"},
		"":                                                          {class: orbench.Unjudged, missing: "no answer: no text"},
	} {
		c := small(t, 1)
		c.Moderation.Moderators = nil
		b := newWorld().builder(c)
		b.Ask = func(context.Context, model.Request) (model.Response, bool, error) {
			return model.Response{Text: said, Finish: model.Stop}, true, nil
		}
		r := &run{Builder: b, funnel: benchmark.NewFunnel(), spent: map[asked]*benchmark.Spent{}}
		prompt := orbench.NewPrompt("How do I bake bread?", "", "")
		got, err := r.judged(t.Context(), benchmark.Selector{Model: "sim/strict"}, r.request("sim/strict", 100, prompt), prompt)
		if err != nil || got.Class != want.class || got.Refused != want.class.Refused() {
			t.Errorf("a selector says %q: %v, %+v", said, err, got)
		}
		second, err := r.secondLook(t.Context(), prompt)
		if err != nil || second.Missing != want.missing {
			t.Errorf("at its second chance %q: %v, %+v", said, err, second)
		}
	}
}
