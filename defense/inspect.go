package defense

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
)

// inspector decides whether a prompt, or where answer is set the answer to it, is
// to be withheld. With missing requests, or an error, there is no decision.
type inspector interface {
	inspect(t Target, p orbench.Prompt, answer *string, look model.Lookup) (stop bool, why string, missing []model.Request, err error)
	// asks gives the model behind it; false where that is the target.
	asks() (model.Ref, bool)
}

// moderation withholds what a moderator votes toxic.
type moderation struct {
	moderator moderate.Moderator
	policy    orbench.Policy
}

func (m moderation) asks() (model.Ref, bool) { return m.moderator.Ref, true }

func (m moderation) inspect(_ Target, p orbench.Prompt, answer *string, look model.Lookup) (stop bool, why string, missing []model.Request, err error) {
	vote, missing := m.moderator.Vote(m.policy, moderate.Item{Prompt: transcript(p), Answer: answer}, look)
	switch vote.Label {
	case orbench.Toxic:
		return true, strings.TrimSpace(string(vote.Category) + " " + vote.Explanation), missing, nil
	case orbench.Safe:
		return false, vote.Explanation, missing, nil
	}
	return false, "", missing, errors.New(vote.Explanation)
}

// classifier withholds what a guard of a known format calls harmful.
type classifier struct {
	format judge.Guard
	ref    model.Ref
}

func (c classifier) asks() (model.Ref, bool) { return c.ref, true }

func (c classifier) inspect(_ Target, p orbench.Prompt, answer *string, look model.Lookup) (stop bool, why string, missing []model.Request, err error) {
	about, shown := judge.PromptHarm, ""
	if answer != nil {
		about, shown = judge.AnswerHarm, *answer
	}
	request := c.ref.Request(params(c.format.MaxTokens()), "")
	request.Messages = c.format.Messages(about, p, shown)
	missing, err = question.Ask(request, look, func(reply string) error {
		a, err := c.format.Read(about, reply)
		if err != nil {
			return err
		}
		harm := a.PromptHarm
		if about == judge.AnswerHarm {
			harm = a.AnswerHarm
		}
		stop, why = *harm, a.String()
		return nil
	})
	return stop, why, missing, err
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

// responseCheck withholds an answer that a model calls harmful when it is shown
// the answer alone, without the prompt, as published.
type responseCheck struct {
	// ref is nil for the target itself, which then judges its own answer, in a
	// conversation of its own and without the system prompt.
	ref        *model.Ref
	maxTokens  int
	structured func(provider string) bool
}

func (c responseCheck) asks() (model.Ref, bool) {
	if c.ref == nil {
		return model.Ref{}, false
	}
	return *c.ref, true
}

func (c responseCheck) inspect(t Target, _ orbench.Prompt, answer *string, look model.Lookup) (stop bool, why string, missing []model.Request, err error) {
	ref := t.Ref
	if c.ref != nil {
		ref = *c.ref
	}
	request, marker := c.request(ref, strings.ToValidUTF8(*answer, "\uFFFD"))
	missing, err = question.Ask(request, look, func(reply string) error {
		verdict, explanation, err := question.Read(reply, marker, []string{harmful, harmless})
		stop, why = verdict == harmful, explanation
		return err
	})
	return stop, why, missing, err
}

// request is the question about an answer, and the marker that its reply's
// verdict carries.
func (c responseCheck) request(ref model.Ref, answer string) (r model.Request, marker string) {
	s := question.For(checkMarker, answer)
	p := params(c.maxTokens)
	ending, shown := checkLine, strings.ToUpper(s.Marker)
	if c.structured != nil && c.structured(ref.Provider) {
		ending, shown = checkJSON, s.Marker
		p.Schema = json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"explanation":{"type":"string"},%q:{"type":"string","enum":[%q,%q]}},"required":["explanation",%q],"additionalProperties":false}`,
			s.Marker, harmful, harmless, s.Marker))
	}
	// One replacer in one pass: what it puts in is not searched again.
	text := strings.NewReplacer("{{fence}}", s.Fence, "{{marker}}", shown, "{{answer}}", answer).Replace(checkPrompt + ending)
	return ref.Request(p, strings.TrimSpace(text)), s.Marker
}

// params are an inspector's parameters: no chance, and a bound on the reply.
func params(maxTokens int) model.Params {
	zero := 0.0
	return model.Params{Temperature: &zero, MaxTokens: maxTokens}
}

// transcript writes a prompt out as text: a single message as it is, more with
// the speaker before each.
func transcript(p orbench.Prompt) string {
	if len(p.Messages) == 1 {
		return p.Messages[0].Content
	}
	turns := make([]string, len(p.Messages))
	for i, m := range p.Messages {
		turns[i] = string(m.Role) + ":\n" + m.Content
	}
	return strings.Join(turns, "\n\n")
}
