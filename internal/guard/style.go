package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/model"
)

// Style says how a request carries what a format leaves to the server's chat template. The
// empty style is the first of a format in formats.yaml.
type Style string

// The styles.
const (
	// ByChat sends WildGuard's text as a user message; ByText sends what WildGuard was
	// trained with as it stands, without a chat template.
	ByChat Style = "chat"
	ByText Style = "raw"
	// AsText and AsParts send a message to Llama Guard as a text, or as a list with that
	// text. The templates of version 4, 3-1B and 3-11B-Vision read lists alone: from a text
	// they make an empty conversation.
	AsText  Style = "text"
	AsParts Style = "parts"
	// ByTemplate leaves ShieldGemma's four policies to the server's template, as Ollama's
	// has them. ByGuideline gives one policy as an argument of the published template.
	ByTemplate  Style = "template"
	ByGuideline Style = "guideline"
	// BySystem gives Granite Guardian its criterion as system message, which Ollama's
	// templates read. ByConfig gives it as the template's guardian_config with criteria_id
	// or custom_criteria (3.3), ByRisk with risk_name and risk_definition (3.0 to 3.2), and
	// ByBlock in a last user message (4.1).
	BySystem Style = "system"
	ByConfig Style = "config"
	ByRisk   Style = "risk"
	ByBlock  Style = "block"
	// Categorized, Binary and Explained are the forms of gpt-oss-safeguard's reply: an
	// object with the category, 0 or 1, and an object with a reason.
	Categorized Style = "category"
	Binary      Style = "binary"
	Explained   Style = "rationale"
)

// efforts are how long gpt-oss-safeguard may reason.
var efforts = []string{"low", "medium", "high"}

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

const (
	// ollama has chat templates of its own for the guards of its library.
	ollama = "ollama"
	// argumentsHint says how a user's own server is said to hand arguments on.
	argumentsHint = "serve it with vLLM or llama.cpp, or write template_arguments: true in the entry of a provider that passes chat_template_kwargs on"
)

var (
	// partsModels are the models whose template reads lists alone.
	partsModels = regexp.MustCompile(`(?i)guard-?(4|3-1b|3-11b)`)
	// graniteVersion is the version in a model's name, such as granite-guardian-3.3-8b or
	// granite4.1-guardian.
	graniteVersion = regexp.MustCompile(`(?i)granite[a-z_-]*([0-9])(?:[.]([0-9]))?(?:[^0-9b]|$)`)
)

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
	case !judging && ofAnswers(g.Criterion):
		return fail("use it as a judge: guard:granite-guardian:criterion="+g.Criterion+"@"+target, "the criterion %s is about how an answer meets a request, not about harm", g.Criterion)
	case judging && g.Criterion != "" && !ofAnswers(g.Criterion):
		return fail("leave it out for a criterion of our own, or write evasiveness or harm_engagement", "the criterion %s is about harm, not about whether an answer is a refusal", g.Criterion)
	}
	major, minor := "", ""
	if v := graniteVersion.FindStringSubmatch(s.Model[strings.LastIndexByte(s.Model, '/')+1:]); v != nil {
		major, minor = v[1], v[2]
	}
	if g.Style == "" {
		switch {
		case g.Format == WildGuard && s.Arguments:
			g.Style = ByText
		case s.Provider == ollama:
		case g.Format == LlamaGuard && s.OpenAI && partsModels.MatchString(s.Model):
			g.Style = AsParts
		case g.Format == ShieldGemma:
			g.Style = ByGuideline
		case g.Format == GraniteGuardian && major == "4":
			g.Style = ByBlock
		case g.Format == GraniteGuardian && major == "3" && minor >= "3":
			g.Style = ByConfig
		case g.Format == GraniteGuardian && major == "3":
			g.Style = ByRisk
		case g.Format == GraniteGuardian:
			return fail("write its style: config for 3.3, risk for 3.0 to 3.2, block for 4.1, system for Ollama's template; such as guard:granite-guardian:style=block@"+target,
				"the name %s does not say which version of Granite Guardian it is, and each version takes its criterion in a different way", s.Model)
		}
	}
	if g.Style == ByGuideline && g.Policy == nil {
		g.Policy, g.PolicyName = ShieldGemma.traits().Definitions, each
	}
	switch g.Style {
	case ByGuideline, ByConfig, ByRisk:
		if !s.Arguments {
			return fail(argumentsHint, "%s does not pass arguments to a model's chat template, so %s would not get its %s", s.Provider, g.Format, map[bool]string{true: "policy", false: "criterion"}[g.Style == ByGuideline])
		}
	case ByText, AsParts:
		if !s.OpenAI {
			return fail("leave style out", "%s takes no messages in the style %s", s.Provider, g.Style)
		}
	case "", ByTemplate:
		if g.Format == ShieldGemma && g.Policy != nil {
			return fail("leave policy out, or serve the published model with vLLM", "the template of ShieldGemma at %s has its own four policies, and takes no other", s.Provider)
		}
	}
	if g.Effort != "" && !s.OpenAI {
		return fail("leave effort out", "%s takes no reasoning effort", s.Provider)
	}
	if g.Style == ByRisk && ofAnswers(g.Criterion) && major == "3" && minor < "2" {
		return fail("leave criterion out for one of our own, or serve version 3.2 or later", "%s has no criterion %s, which came with version 3.2", s.Model, g.Criterion)
	}
	return nil
}

// form is the form of the messages under the guard's style.
func (g Guard) form() model.Form {
	switch g.Style {
	case ByText:
		return model.Raw
	case AsParts:
		return model.Parts
	}
	return model.Chat
}

// setStyle reads the setting style.
func (g *Guard) setStyle(value string) error {
	var of []Style
	for _, s := range g.Format.traits().Styles {
		of = append(of, s.Name)
	}
	if of == nil {
		return wrong("the guard format %s is sent in one style alone", g.Format)
	}
	if g.Style = Style(value); !slices.Contains(of, g.Style) {
		return settings.Unknown("target", "style of "+string(g.Format), value, settings.Names(of))
	}
	return nil
}
