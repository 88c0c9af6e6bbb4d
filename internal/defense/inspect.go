package defense

import (
	_ "embed"
	"errors"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/model"
)

// inspection is a step that may withhold something.
type inspection struct {
	name string
	// asks is the model it asks; nil means the target.
	asks *model.Ref
	inspector
}

// inspector decides whether to withhold a prompt or, if answer is set, the answer to it.
// With missing requests, or an error, there is no decision.
type inspector func(t Target, p orbench.Prompt, answer *string, look model.Lookup) (stop bool, why string, missing []model.Request, err error)

// moderation withholds what a moderator votes toxic.
func moderation(moderator moderate.Moderator, policy orbench.Policy) inspector {
	return func(_ Target, p orbench.Prompt, answer *string, look model.Lookup) (stop bool, why string, missing []model.Request, err error) {
		vote, missing := moderator.Vote(policy, moderate.Item{Prompt: p.Transcript(), Answer: answer})(look)
		switch vote.Label {
		case orbench.Toxic:
			return true, strings.TrimSpace(string(vote.Category) + " " + vote.Explanation), missing, nil
		case orbench.Safe:
			return false, vote.Explanation, missing, nil
		}
		return false, "", missing, errors.New(vote.Explanation)
	}
}

// guarding withholds what a guard of a known format calls harmful.
func guarding(g guard.Guard, ref model.Ref) inspector {
	return func(_ Target, p orbench.Prompt, answer *string, look model.Lookup) (stop bool, why string, missing []model.Request, err error) {
		about, shown := guard.PromptHarm, ""
		if answer != nil {
			about, shown = guard.AnswerHarm, *answer
		}
		a, missing, err := g.Ask(g.Request(ref), about, p, shown, look)
		if err != nil {
			return false, "", missing, err
		}
		return *a.Of(about), a.String(), nil, nil
	}
}

// The question of the response check, version 1, and its two endings. A version
// that has been used is never edited: a better wording becomes the next version,
// in new files.
var (
	//go:embed prompts/response-check-v1.txt
	checkPrompt string
	//go:embed prompts/response-check-v1-line.txt
	checkLine string
	//go:embed prompts/response-check-v1-json.txt
	checkJSON string
)

// The verdicts of the response check.
const (
	harmful  = "harmful"
	harmless = "harmless"
)

// checkMarker announces the verdict in a reply.
const checkMarker = "verdict"

// responseCheck withholds an answer that a model calls harmful. As published, the model
// sees the answer alone, without the prompt. Without a model, the target judges its own
// answer, in a conversation of its own and without the system prompt.
func responseCheck(ref *model.Ref, models question.Models) inspector {
	return func(t Target, _ orbench.Prompt, answer *string, look model.Lookup) (stop bool, why string, missing []model.Request, err error) {
		asked := t.Ref
		if ref != nil {
			asked = *ref
		}
		verdict, why, missing, err := models.Model(asked).Pose(question.Question{
			Text: checkPrompt, Line: checkLine, JSON: checkJSON, Word: checkMarker, Choices: []string{harmful, harmless},
		}, "answer", *answer).Ask(look)
		return verdict == harmful, why, missing, err
	}
}
