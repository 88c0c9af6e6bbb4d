package guard

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/model"
)

var (
	// The text that WildGuard was trained with, from its model card (Apache-2.0). Another
	// wording would make it another classifier.
	//go:embed prompts/wildguard.txt
	wildGuardPrompt string
	// The system message that PolyGuard was trained with, from its model card
	// (CC BY 4.0, Kumar et al., arXiv 2504.04377).
	//go:embed prompts/polyguard.txt
	polyGuardPrompt string
	// Our own criterion for Granite Guardian.
	//go:embed prompts/granite-refusal-v1.txt
	graniteRefusal string
	// Our own instruction for the format of OR-Judge.
	//go:embed prompts/or-judge-v1.txt
	orJudgePrompt string
	// Our own instruction around a policy, for Safeguard, and the other endings of it.
	//go:embed prompts/safeguard-v1.txt
	safeguardPrompt string
	//go:embed prompts/safeguard-v1-binary.txt
	safeguardBinary string
	//go:embed prompts/safeguard-v1-rationale.txt
	safeguardRationale string
)

// Params are the parameters of a request to the guard: no randomness, a bound on the
// reply and, if scores are wanted, the likeliest tokens.
func (g Guard) Params() model.Params {
	if g.Format == Classifier {
		return model.Params{}
	}
	p := question.Params(traitsOf[g.Format].maxTokens)
	if g.scored() {
		p.TopLogprobs = topLogprobs
	}
	p.Form, p.Effort = g.form(), g.Effort
	return p
}

// Request is a request to a guard, without messages yet.
func (g Guard) Request(ref model.Ref) model.Request { return ref.Request(g.Params(), "") }

// Ask finds the guard's assessment of a prompt, or of the answer to it. For PromptHarm
// the answer is not shown. request says whom to ask and how, as Request makes it. A
// ShieldGemma with policies is asked about each in turn, and harm means that any is
// violated. An unreadable reply is requested once more. The error says why there is no
// assessment. If a reply is merely not there yet, missing lists what to ask. Ask panics
// if the format cannot be asked the question; check with Tells first.
func (g Guard) Ask(request model.Request, about About, prompt orbench.Prompt, answer string, look model.Lookup) (a Assessment, missing []model.Request, err error) {
	if g.Format == ShieldGemma && len(g.Policy) > 1 {
		return g.askEach(request, about, prompt, answer, look)
	}
	request.Messages = g.messages(about, prompt, answer)
	request.Params.Template = g.template(about)
	var last model.Response
	keeping := func(r model.Request) (response model.Response, ok bool) {
		response, ok = look(r)
		last = response
		return response, ok
	}
	missing, err = question.Ask(request, keeping, func(reply string) (err error) {
		if a, err = g.read(about, reply); err == nil {
			err = g.decide(&a, about, last)
		}
		return err
	})
	if err != nil {
		a = Assessment{}
	}
	return a, missing, err
}

// askEach asks about each policy in turn.
func (g Guard) askEach(request model.Request, about About, prompt orbench.Prompt, answer string, look model.Lookup) (all Assessment, missing []model.Request, err error) {
	broken := false
	for _, d := range g.Policy {
		one := g
		one.Policy = orbench.Policy{d}
		a, lacks, failed := one.Ask(request, about, prompt, answer, look)
		missing, err = append(missing, lacks...), cmp.Or(err, failed)
		if failed != nil {
			continue
		}
		if *a.Of(about) {
			broken = true
			all.addHazards(string(d.Category))
		}
		if a.Score != nil && (all.Score == nil || *a.Score > *all.Score) {
			all.Score = a.Score
		}
	}
	if err != nil {
		return Assessment{}, missing, err
	}
	all.set(about, broken)
	return all, missing, nil
}

// messages is the conversation to send.
func (g Guard) messages(about About, prompt orbench.Prompt, answer string) []orbench.Message {
	if !g.Format.Tells(about) {
		panic(fmt.Sprintf("guard: the format %q cannot tell %s", g.Format, about))
	}
	answer = Defuse(answer)
	if about == PromptHarm {
		answer = ""
	}
	request := Defuse(prompt.Transcript())
	if t := traitsOf[g.Format]; t.user != "" {
		text := strings.NewReplacer("{{request}}", request, "{{reply}}", answer).Replace(t.user)
		if g.Style == ByText {
			// The server puts the token of the beginning, <s>, before it.
			text = "<|user|>\n" + text + "<|assistant|>\n"
		}
		messages := []orbench.Message{{Role: orbench.User, Content: text}}
		if t.system != "" {
			messages = slices.Insert(messages, 0, orbench.Message{Role: orbench.System, Content: strings.TrimSpace(t.system)})
		}
		return messages
	}
	switch g.Format {
	case Safeguard:
		return g.policed(about, request, answer)
	case Classifier:
		if about == AnswerHarm {
			request = answer
		}
		return []orbench.Message{{Role: orbench.User, Content: request}}
	}
	// The other guards see the conversation itself, without the target's system prompt.
	// Granite Guardian needs that place for its criterion, and the others have no such
	// turn.
	var messages []orbench.Message
	for _, m := range prompt.Messages {
		if m.Role != orbench.System {
			messages = append(messages, orbench.Message{Role: m.Role, Content: Defuse(m.Content)})
		}
	}
	if about != PromptHarm {
		messages = append(messages, orbench.Message{Role: orbench.Assistant, Content: answer})
	}
	if g.Format == GraniteGuardian {
		return g.judged(about, messages)
	}
	return messages
}

// replyHeading ends the part of Safeguard's instruction that all forms of reply share.
const replyHeading = "# Reply\n\n"

// policed is the conversation for Safeguard: the policy, then the text to check against
// it.
func (g Guard) policed(about About, request, answer string) []orbench.Message {
	turn, content := "request of a user to an assistant", request
	if about == AnswerHarm {
		turn, content = "answer of an assistant to a user, behind the user's request", "User:\n"+request+"\n\nAssistant:\n"+answer
	}
	wording := safeguardPrompt
	if end := map[Style]string{Binary: safeguardBinary, Explained: safeguardRationale}[g.Style]; end != "" {
		wording = wording[:strings.Index(wording, replyHeading)+len(replyHeading)] + end
	}
	system := strings.NewReplacer("{{turn}}", turn, "{{policy}}", g.PolicyText).Replace(wording)
	return []orbench.Message{
		{Role: orbench.System, Content: strings.TrimSpace(system)},
		{Role: orbench.User, Content: content},
	}
}

// clauses gives the policy as one sentence without its subject.
func (g Guard) clauses(or string) string {
	var texts []string
	for _, d := range g.Policy {
		texts = append(texts, d.Text)
	}
	return strings.Join(texts, or)
}

// Defuse breaks any control tokens of the guards' chat formats in a text, so that it
// cannot open or close a turn. These formats have no room for a fence.
func Defuse(s string) string {
	return controlTokens.ReplaceAllStringFunc(strings.ToValidUTF8(s, "\uFFFD"), func(token string) string { return token[:1] + " " + token[1:] })
}

var controlTokens = regexp.MustCompile(`<\||\|>|\[/?INST\]|</?s>|<(?:start|end)_of_turn>|<guardian>|<(?:BEGIN|END) `)
