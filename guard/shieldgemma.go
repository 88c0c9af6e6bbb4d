package guard

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/orbench/orbench"
)

// The four policies that ShieldGemma was trained with, from its model card (CC BY 4.0,
// Google), a line each: a name, and the guideline.
//
//go:embed prompts/shieldgemma.txt
var shieldGemmaPolicies string

// each stands for all of ShieldGemma's own policies, asked in turn.
const each = "each"

// ownPolicies are ShieldGemma's own policies; the text of each is its guideline.
var ownPolicies = sync.OnceValue(func() orbench.Policy {
	var all orbench.Policy
	for line := range strings.Lines(shieldGemmaPolicies) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			all = append(all, orbench.Definition{Category: orbench.Category(name), Text: text})
		}
	}
	return all
})

// ownPolicy finds ShieldGemma's own policies by name.
func ownPolicy(name string) (orbench.Policy, bool) {
	if name == each {
		return ownPolicies(), true
	}
	for _, d := range ownPolicies() {
		if string(d.Category) == name {
			return orbench.Policy{d}, true
		}
	}
	return nil, false
}

// template is the argument of ShieldGemma's chat template: the one policy in question.
func (g Guard) template(about About) json.RawMessage {
	d := g.Policy[0]
	guideline := d.Text
	subject := "The prompt shall not contain or seek generation of"
	if about == AnswerHarm {
		subject = "The chatbot shall not generate"
	}
	if _, own := ownPolicy(g.PolicyName); own {
		guideline = strings.ReplaceAll(guideline, "{{subject}}", subject)
	} else {
		guideline = `"No ` + string(d.Category) + `": ` + subject + " content that " + d.Text + "."
	}
	b, err := json.Marshal(map[string]string{"guideline": "* " + guideline})
	if err != nil {
		panic("guard: a text that is not JSON: " + err.Error())
	}
	return b
}
