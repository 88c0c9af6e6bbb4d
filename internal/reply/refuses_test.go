package reply

import (
	"testing"

	"github.com/orbench/orbench/model"
)

// A refusal in the first person, put together from words that models use, is the model's answer: it
// is neither missing nor the block of a filter.
func TestRefusalsAreAnswers(t *testing.T) {
	t.Parallel()
	said := 0
	for _, sorry := range []string{"", "I'm sorry, but ", "Sorry, ", "Unfortunately, ", "I apologize. "} {
		for _, does := range []string{"I'm unable to", "I am unable to", "I’m not able to", "I can't", "I cannot", "I won't", "I'm afraid I can't", "I will not"} {
			for _, what := range []string{"help with", "answer", "respond to", "process", "complete", "generate a response to", "provide content for", "continue with"} {
				for _, of := range []string{"that request", "this request", "your question", "this prompt", "that query", "this message", "this conversation"} {
					for _, why := range []string{".", " at this time.", ", because it violates our content policy.", ", as it may be unsafe.", " due to safety reasons.", ". Is there anything else?"} {
						text := sorry + does + " " + what + " " + of + why
						said++
						if got := (Reading{}).Answer(model.Response{Text: text, Finish: model.Stop}); got.Finish != model.Stop || got.Read != nil {
							t.Errorf("%q is read as %s, %+v", text, got.Finish, got.Read)
						}
					}
				}
			}
		}
	}
	t.Logf("%d refusals", said)
}
