package guard

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/model"
)

// Params are the parameters of a request to the guard: no randomness, a bound on the
// reply and, if scores are wanted, the likeliest tokens.
func (g Guard) Params() model.Params {
	if g.Format == Classifier {
		return model.Params{}
	}
	p := question.Params(g.Format.traits().MaxTokens)
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
	missing, err = question.Ask(request, g.Attempts, keeping, func(reply string) (err error) {
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
	if t := g.Format.traits(); t.User != "" {
		text := strings.NewReplacer("{{request}}", request, "{{reply}}", answer).Replace(t.User)
		if g.Style == ByText {
			// The server puts the token of the beginning, <s>, before it.
			text = "<|user|>\n" + text + "<|assistant|>\n"
		}
		messages := []orbench.Message{{Role: orbench.User, Content: text}}
		if t.System != "" {
			messages = slices.Insert(messages, 0, orbench.Message{Role: orbench.System, Content: strings.TrimSpace(t.System)})
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

// policed is the conversation for Safeguard: the policy, then the text to check against
// it.
func (g Guard) policed(about About, request, answer string) []orbench.Message {
	turn, content := "request of a user to an assistant", request
	if about == AnswerHarm {
		turn, content = "answer of an assistant to a user, behind the user's request", "User:\n"+request+"\n\nAssistant:\n"+answer
	}
	t := g.Format.traits()
	wording := t.System
	for i, s := range t.Styles {
		if s.Name == g.Style || g.Style == "" && i == 0 {
			wording += s.Ending
		}
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
