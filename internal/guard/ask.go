package guard

import (
	"cmp"
	"encoding/json"
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
	p.Form, p.Effort = g.style().Form, g.Effort
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
	request.Params.Template = g.arguments(about)
	missing, err = question.Ask(request, g.Attempts, look, func(reply model.Response) (err error) {
		if a, err = g.read(about, reply.Text); err == nil {
			err = g.decide(&a, about, reply)
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
	for i, d := range g.Policy {
		one := g
		one.Policy = g.Policy[i : i+1]
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
func (g Guard) messages(about About, prompt orbench.Prompt, answer string) (messages []orbench.Message) {
	if !g.Format.Tells(about) {
		panic(fmt.Sprintf("guard: the format %q cannot tell %s", g.Format, about))
	}
	answer = Defuse(answer)
	if about == PromptHarm {
		answer = ""
	}
	t, s := g.Format.traits(), g.style()
	if t.User == "" {
		// The guard sees the conversation itself, without the target's system prompt: there
		// Granite Guardian needs its criterion, and the others have no such turn.
		for _, m := range prompt.Messages {
			if m.Role != orbench.System {
				messages = append(messages, orbench.Message{Role: m.Role, Content: Defuse(m.Content)})
			}
		}
		if about != PromptHarm {
			messages = append(messages, orbench.Message{Role: orbench.Assistant, Content: answer})
		}
	}
	name, text := g.sought(about)
	values := strings.NewReplacer("{{request}}", Defuse(prompt.Transcript()), "{{reply}}", answer,
		"{{policy}}", g.PolicyText, "{{name}}", cmp.Or(name, text), "{{criterion}}", text)
	of := func(own, usual, place string) string {
		return values.Replace(t.worded(strings.Replace(cmp.Or(own, usual), place, usual, 1), about))
	}
	if user := of(s.User, t.User, "{{user}}"); user != "" {
		messages = append(messages, orbench.Message{Role: orbench.User, Content: user})
	}
	if system := of(s.System, t.System, "{{system}}"); system != "" {
		messages = slices.Insert(messages, 0, orbench.Message{Role: orbench.System, Content: strings.TrimSpace(system)})
	}
	return messages
}

// sought is what the guard is to find: its own name for that, if it has one, and the text.
func (g Guard) sought(about About) (name, text string) {
	t := g.Format.traits()
	switch {
	case g.Criterion != "" || about != Refusal && g.Policy == nil:
		name = cmp.Or(g.Criterion, "harm")
		for _, d := range t.defined(name) {
			text = d.Text
		}
		return name, text
	case about == Refusal:
		return "", t.Refusal
	case g.ownPolicy(g.PolicyName) != nil:
		return "", t.worded(g.Policy[0].Text, about)
	}
	var texts []string
	for _, d := range g.Policy {
		texts = append(texts, d.Text)
	}
	return "", strings.NewReplacer("{{category}}", string(g.Policy[0].Category), "{{text}}", strings.Join(texts, "; or it ")).Replace(t.worded(t.Own, about))
}

// arguments are those of the model's chat template, nil if it takes none.
func (g Guard) arguments(about About) json.RawMessage {
	s := g.style()
	name, text := g.sought(about)
	if s.Arguments == "" || text == "" {
		return nil
	}
	if name == "" {
		s.Arguments = cmp.Or(s.Unnamed, s.Arguments)
	}
	quoted, _ := json.Marshal(text) // which a text always can
	return json.RawMessage(strings.NewReplacer("{{name}}", name, `"{{criterion}}"`, string(quoted)).Replace(s.Arguments))
}

// style is how the guard is asked: by its style, or else by the first of its format.
// ShieldGemma gets a policy as an argument.
func (g Guard) style() style {
	if g.Format == ShieldGemma && g.Policy != nil {
		g.Style = guideline
	}
	for i, s := range g.Format.traits().Styles {
		if s.Name == g.Style || g.Style == "" && i == 0 {
			return s
		}
	}
	return style{}
}

// Defuse breaks any control tokens of the guards' chat formats in a text, so that it
// cannot open or close a turn. These formats have no room for a fence.
func Defuse(s string) string {
	return controlTokens.ReplaceAllStringFunc(strings.ToValidUTF8(s, "\uFFFD"), func(token string) string { return token[:1] + " " + token[1:] })
}

var controlTokens = regexp.MustCompile(`<\||\|>|\[/?INST\]|</?s>|<(?:start|end)_of_turn>|<guardian>|<(?:BEGIN|END) `)
