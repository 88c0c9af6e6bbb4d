package guard

import (
	"strings"

	"github.com/orbench/orbench"
)

// each stands for all of ShieldGemma's own policies, asked in turn.
const each = "each"

// ownPolicy finds ShieldGemma's own policies by name; the text of each is its guideline.
func ownPolicy(name string) (orbench.Policy, bool) {
	if name == each {
		return ShieldGemma.traits().Definitions, true
	}
	return ShieldGemma.defined(name)
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
