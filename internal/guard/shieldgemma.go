package guard

import (
	_ "embed"
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
var ownPolicies = sync.OnceValue(func() orbench.Policy { return definitions(shieldGemmaPolicies) })

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

// guideline is the one policy in question, as the published chat template takes it.
func (g Guard) guideline(about About) string {
	d := g.Policy[0]
	subject := "The prompt shall not contain or seek generation of"
	if about == AnswerHarm {
		subject = "The chatbot shall not generate"
	}
	if _, own := ownPolicy(g.PolicyName); own {
		return strings.ReplaceAll(d.Text, "{{subject}}", subject)
	}
	return `"No ` + string(d.Category) + `": ` + subject + " content that " + d.Text + "."
}
