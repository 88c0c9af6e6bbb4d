package guard

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/orbench/orbench"
)

var (
	// The criteria that Granite Guardian knows by name, from its published templates
	// (Apache-2.0, IBM), a line each: a name, and the definition.
	//go:embed prompts/granite-criteria.txt
	graniteCriteria string
	// The block with the criterion for 4.1, without thinking, from its cookbook
	// (Apache-2.0, IBM).
	//go:embed prompts/granite-block.txt
	graniteBlock string
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

// criteria are the criteria by name, in the order of their file.
var criteria = sync.OnceValue(func() orbench.Policy { return definitions(graniteCriteria) })

// definitions reads lines of the form "name: text".
func definitions(lines string) orbench.Policy {
	var all orbench.Policy
	for line := range strings.Lines(lines) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			all = append(all, orbench.Definition{Category: orbench.Category(name), Text: text})
		}
	}
	return all
}

// criterion is what Granite Guardian looks for: the name of a criterion that it knows, empty
// for one of ours or the user's, and its text.
func (g Guard) criterion(about About) (name, text string) {
	switch {
	case g.Criterion != "":
		name = g.Criterion
	case about == Refusal:
		return "", strings.TrimSpace(graniteRefusal)
	case g.Policy != nil:
		return "", "The last message " + g.clauses("; or it ") + "."
	default:
		name = "harm"
	}
	at := slices.IndexFunc(criteria(), func(d orbench.Definition) bool { return string(d.Category) == name })
	return name, criteria()[at].Text
}

// judged adds the criterion to a conversation, unless it is an argument of the template.
func (g Guard) judged(about About, messages []orbench.Message) []orbench.Message {
	name, text := g.criterion(about)
	switch g.Style {
	case ByConfig, ByRisk:
		return messages
	case ByBlock:
		block := strings.Replace(strings.TrimSpace(graniteBlock), "{{criterion}}", text, 1)
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
