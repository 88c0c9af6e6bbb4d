package guard

import (
	"encoding/json"
	"strings"

	"github.com/orbench/orbench"
)

// The criteria that are about an answer to a request.
const (
	evasiveness = "evasiveness"
	engagement  = "harm_engagement"
)

// ofAnswers reports whether a criterion tells how an answer meets a request.
func ofAnswers(criterion string) bool { return criterion == evasiveness || criterion == engagement }

// OfToxic reports whether the guard tells refusals of toxic prompts alone, because it looks
// for an answer that engages with harm.
func (g Guard) OfToxic() bool { return g.Criterion == engagement }

// criterion is what Granite Guardian looks for: the name of a criterion that it knows, empty
// for one of ours or the user's, and its text.
func (g Guard) criterion(about About) (name, text string) {
	switch {
	case g.Criterion != "":
		name = g.Criterion
	case about == Refusal:
		return "", strings.TrimSpace(g.Format.traits().Texts["refusal"])
	case g.Policy != nil:
		return "", "The last message " + g.clauses("; or it ") + "."
	default:
		name = "harm"
	}
	known, _ := g.Format.defined(name)
	return name, known[0].Text
}

// judged adds the criterion to a conversation, unless it is an argument of the template.
func (g Guard) judged(about About, messages []orbench.Message) []orbench.Message {
	name, text := g.criterion(about)
	switch g.Style {
	case ByConfig, ByRisk:
		return messages
	case ByBlock:
		block := strings.Replace(strings.TrimSpace(g.Format.traits().Texts["block"]), "{{criterion}}", text, 1)
		return append(messages, orbench.Message{Role: orbench.User, Content: block})
	}
	if name == "" {
		name = text
	}
	return append([]orbench.Message{{Role: orbench.System, Content: name}}, messages...)
}

// template is the arguments of the model's chat template, nil if it has none.
func (g Guard) template(about About) json.RawMessage {
	var arguments map[string]any
	switch {
	case g.Format == ShieldGemma && g.Policy != nil:
		arguments = map[string]any{"guideline": g.guideline(about)}
	case g.Style == ByConfig:
		name, text := g.criterion(about)
		config := map[string]string{"criteria_id": name}
		if name == "" {
			config = map[string]string{"custom_criteria": text}
		}
		arguments = map[string]any{"guardian_config": config, "think": false}
	case g.Style == ByRisk:
		name, text := g.criterion(about)
		config := map[string]string{"risk_name": name}
		if name == "" {
			config = map[string]string{"risk_name": "criterion", "risk_definition": text}
		}
		arguments = map[string]any{"guardian_config": config}
	default:
		return nil
	}
	b, err := json.Marshal(arguments)
	if err != nil {
		panic("guard: a text that is not JSON: " + err.Error())
	}
	return b
}
