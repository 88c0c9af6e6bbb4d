package guard

import (
	"fmt"
	"slices"

	"github.com/orbench/orbench"
)

// guideline is the style that gives ShieldGemma one policy as an argument of the published
// template.
const guideline = "guideline"

// Server is what must be known of a server before a guard is asked there.
type Server struct {
	// Provider and Model are who is asked.
	Provider, Model string
	// Classifies is true if the provider serves classifiers, and not chats.
	Classifies bool
	// OpenAI is true if the server is asked as OpenAI's is. Arguments is true if it also
	// hands arguments on to the model's own chat template, and takes texts without one.
	OpenAI, Arguments bool
}

// has reports whether the server has what formats.yaml says that a style needs.
func (s Server) has(needed string) bool {
	return needed == "" || needed == "openai" && s.OpenAI || needed == "arguments" && s.Arguments
}

// Settle chooses the style for a server, unless there is one, and says why the server
// cannot carry what the guard is to be asked. judging is true if it is asked about
// refusals. The error is an *orbench.InputError.
func (g *Guard) Settle(s Server, judging bool) error {
	fail := func(hint, problem string, args ...any) error {
		return &orbench.InputError{Problem: fmt.Sprintf(problem, args...), Hint: hint}
	}
	target := s.Provider + "/" + s.Model
	switch {
	case s.Classifies && g.Format != Classifier:
		return fail("write guard:classifier@"+target, "%s serves classifiers, and %s is asked by chat", s.Provider, g.Format)
	case !s.Classifies && g.Format == Classifier:
		return fail("name a provider of classifiers, such as tei, vllm-classify or openai-moderation", "%s is asked by chat and gives no labels", s.Provider)
	case !judging && g.ofAnswers():
		return fail("use it as a judge: guard:granite-guardian:criterion="+g.Criterion+"@"+target, "the criterion %s is about how an answer meets a request, not about harm", g.Criterion)
	case judging && g.Criterion != "" && !g.ofAnswers():
		return fail("leave it out for a criterion of our own, or write evasiveness or harm_engagement", "the criterion %s is about harm, not about whether an answer is a refusal", g.Criterion)
	}
	// Ollama has chat templates of its own for the guards of its library.
	if g.Style == "" && s.Provider != "ollama" {
		styles := g.Format.traits().Styles
		i := slices.IndexFunc(styles, func(of style) bool {
			return of.Models != nil && of.Models.MatchString(s.Model) && s.has(of.Usual)
		})
		switch {
		case i >= 0:
			g.Style = styles[i].Name
		case g.Format == GraniteGuardian:
			return fail("write its style: config for 3.3, risk for 3.0 to 3.2, block for 4.1, system for Ollama's template; such as guard:granite-guardian:style=block@"+target,
				"the name %s does not say which version of Granite Guardian it is, and each version takes its criterion in a different way", s.Model)
		}
	}
	if g.Style == guideline && g.Policy == nil {
		g.Policy, g.PolicyName = g.ownPolicy(each), each
	}
	switch of := g.style(); {
	case g.Format == ShieldGemma && g.Policy != nil && g.Style != guideline:
		return fail("leave policy out, or serve the published model with vLLM", "the template of ShieldGemma at %s has its own four policies, and takes no other", s.Provider)
	case of.Arguments != "" && !s.has(of.Needs):
		return fail("serve it with vLLM or llama.cpp, or write template_arguments: true in the entry of a provider that passes chat_template_kwargs on",
			"%s does not pass arguments to a model's chat template, so %s would not get its %s", s.Provider, g.Format, map[bool]string{true: "policy", false: "criterion"}[g.Style == guideline])
	case !s.has(of.Needs):
		return fail("leave style out", "%s takes no messages in the style %s", s.Provider, g.Style)
	case g.Effort != "" && !s.OpenAI:
		return fail("leave effort out", "%s takes no reasoning effort", s.Provider)
	case of.Old != nil && of.Old.MatchString(s.Model) && g.ofAnswers():
		return fail("leave criterion out for one of our own, or serve version 3.2 or later", "%s has no criterion %s, which came with version 3.2", s.Model, g.Criterion)
	}
	return nil
}
