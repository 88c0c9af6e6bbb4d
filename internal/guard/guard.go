package guard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/settings"
)

// Guard is a format with the settings that decide what counts as harmful. Its JSON form
// is stored with a run, and is enough to make the guard again.
type Guard struct {
	Format Format `json:"format"`
	// Strict counts texts that the guard calls controversial as harmful.
	Strict bool `json:"strict,omitempty"`
	// Scores asks for the probabilities of the guard's words, if its server gives them. A
	// threshold also does so.
	Scores bool `json:"scores,omitempty"`
	// Threshold is the score from which something is harmful, above 0 and at most 1. Nil
	// leaves the decision to the guard's own word.
	Threshold *float64 `json:"threshold,omitempty"`
	// Labels are the labels of a Classifier that mean harm, or the only categories of it
	// that count. Empty means the usual names.
	Labels []string `json:"labels,omitempty"`
	// Style says how the request carries what the format leaves to a server's chat template.
	// Empty means the first of its format in formats.yaml; Settle chooses it for a server.
	Style string `json:"style,omitempty"`
	// Criterion is the name of what Granite Guardian looks for. Empty means harm, the policy,
	// or our own criterion of a refusal.
	Criterion string `json:"criterion,omitempty"`
	// Effort is how long gpt-oss-safeguard reasons: low, medium or high. Empty leaves it to
	// the server.
	Effort string `json:"effort,omitempty"`
	// Policy is the policy for the guard. Nil means the guard's own or, for a Safeguard,
	// which has none, that of the paper.
	Policy orbench.Policy `json:"policy,omitempty"`
	// PolicyName is the name under which the policy was found. PolicyText is its whole
	// text, with its examples.
	PolicyName string `json:"policy_name,omitempty"`
	PolicyText string `json:"policy_text,omitempty"`
	// Attempts is as in question.Ask.
	Attempts int `json:"-"`
}

// String is the guard as written in a spec, without its target.
func (g Guard) String() string {
	text := string(g.Format)
	if g.Strict {
		text += ":strict"
	}
	if g.Scores {
		text += ":scores"
	}
	if g.Threshold != nil {
		text += ":threshold=" + strconv.FormatFloat(*g.Threshold, 'g', -1, 64)
	}
	for _, l := range g.Labels {
		text += ":label=" + l
	}
	for _, s := range []struct{ key, value string }{{"style", g.Style}, {"criterion", g.Criterion}, {"effort", g.Effort}, {"policy", g.PolicyName}} {
		if s.value != "" {
			text += ":" + s.key + "=" + s.value
		}
	}
	return text
}

// specWords are the words of a spec that stand alone or before an equals sign.
var specWords = []string{"strict", "scores", "threshold", "label", "style", "criterion", "effort", "policy"}

// Parse reads FORMAT[:SETTING…]@TARGET, and gives the guard and the text of the
// target. The settings are
//
//	strict            controversial counts as harmful (qwen3guard)
//	scores            ask for the probability of the guard's word (all formats that
//	                  say one, if the server gives it)
//	threshold=SCORE   harmful from this score, above 0 and at most 1
//	label=LABEL       the label that means harm, or the category that counts;
//	                  repeatable (classifier)
//	style=STYLE       how the request is made; Settle chooses it for a server
//	criterion=NAME    what is looked for, by its name (granite-guardian)
//	effort=EFFORT     low, medium or high (gpt-oss-safeguard)
//	policy=NAME       the policy, as a name or file that policy.Open accepts (gpt-oss-safeguard,
//	                  granite-guardian, shieldgemma); or one of shieldgemma's own:
//	                  dangerous-content, harassment, hate-speech, sexually-explicit,
//	                  or each for all
//
// The error for any other text is an *orbench.InputError that says what would do.
func Parse(spec string) (g Guard, target string, err error) {
	head, target, ok := strings.Cut(spec, "@")
	parts := strings.Split(head, ":")
	if !ok || strings.Contains(head, "/") && !strings.Contains(head, "=") {
		return Guard{}, "", wrong("guard %q must be FORMAT@provider/model, for example llamaguard@vllm/meta-llama/Llama-Guard-3-8B", spec)
	}
	if g.Format = Format(parts[0]); !slices.Contains(Formats, g.Format) {
		return Guard{}, "", settings.Unknown("", "guard format", parts[0], settings.Names(Formats))
	}
	seen := map[string]bool{}
	for _, setting := range parts[1:] {
		key, value, valued := strings.Cut(setting, "=")
		switch {
		case !slices.Contains(specWords, key):
			return Guard{}, "", settings.Unknown("", "setting of a guard", key, specWords)
		case seen[key] && key != "label":
			return Guard{}, "", wrong("guard %q gives %s twice", spec, key)
		case valued == (key == "strict" || key == "scores") || valued && value == "":
			return Guard{}, "", wrong("guard %q: write strict, scores, threshold=SCORE, label=LABEL, style=STYLE, criterion=NAME, effort=EFFORT or policy=NAME", spec)
		}
		seen[key] = true
		if err := g.configure(key, value); err != nil {
			return Guard{}, "", err
		}
	}
	if g.Criterion != "" && g.Policy != nil {
		return Guard{}, "", wrong("guard %q gives a criterion and a policy; it can use only one", spec)
	}
	if g.Format == Safeguard && g.Policy == nil {
		err = g.configure("policy", "paper")
		g.PolicyName = ""
	}
	return g, target, err
}

// configure sets one setting.
func (g *Guard) configure(key, value string) error {
	t := g.Format.traits()
	if !slices.Contains(t.Settings, key) {
		var takers []string
		for _, other := range formats {
			if slices.Contains(other.Settings, key) {
				takers = append(takers, string(other.Name))
			}
		}
		return wrong("the guard format %s takes no %s; formats that do are %s", g.Format, key, strings.Join(takers, ", "))
	}
	known := map[string][]string{"effort": {"low", "medium", "high"}}
	for _, s := range t.Styles {
		known["style"] = append(known["style"], s.Name)
	}
	for _, d := range t.Definitions {
		known["criterion"] = append(known["criterion"], string(d.Category))
	}
	if all := known[key]; all != nil && !slices.Contains(all, value) {
		return settings.Unknown("", key+" of "+string(g.Format), value, all)
	}
	switch key {
	case "strict":
		g.Strict = true
	case "scores":
		g.Scores = true
	case "threshold":
		score, err := strconv.ParseFloat(value, 64)
		if err != nil || !(score > 0 && score <= 1) {
			return wrong("the threshold %q of a guard must be a number above 0 and at most 1", value)
		}
		g.Threshold = &score
	case "label":
		if !slices.Contains(g.Labels, value) {
			g.Labels = append(g.Labels, value)
		}
	case "style":
		g.Style = value
	case "criterion":
		g.Criterion = value
	case "effort":
		g.Effort = value
	case "policy":
		g.PolicyName = value
		if g.Policy = g.ownPolicy(value); g.Policy != nil {
			return nil
		}
		p, err := policy.Open(value)
		if err != nil {
			return err
		}
		g.Policy, g.PolicyText = p.Definitions(), p.Text()
	}
	return nil
}

// each stands for all of ShieldGemma's own policies, asked in turn.
const each = "each"

// ownPolicy finds ShieldGemma's own policies by name, and none of another format.
func (g Guard) ownPolicy(name string) orbench.Policy {
	t := g.Format.traits()
	switch {
	case g.Format != ShieldGemma:
		return nil
	case name == each:
		return t.Definitions
	}
	return t.defined(name)
}

// ofAnswers reports whether the guard's criterion is how an answer meets a request.
func (g Guard) ofAnswers() bool { return slices.Contains(g.Format.traits().Answers, g.Criterion) }

// OfToxic reports whether the guard tells refusals of toxic prompts alone, because it looks
// for an answer that engages with harm.
func (g Guard) OfToxic() bool { return g.Criterion == "harm_engagement" }

// Under is the guard for votes under a policy: a Safeguard that names no policy goes by that
// one, and any other guard is unchanged.
func (g Guard) Under(p orbench.Policy) Guard {
	if g.Format != Safeguard || g.PolicyName != "" || slices.Equal(p, g.Policy) {
		return g
	}
	named := policy.Policy{Title: "Harm"}
	for _, d := range p {
		named.Categories = append(named.Categories, policy.Category{Category: d.Category, Text: d.Text})
	}
	g.Policy, g.PolicyText = p, named.Text()
	return g
}

// wrong is the error for a spec that Parse cannot use.
func wrong(format string, args ...any) error {
	return &orbench.InputError{Problem: fmt.Sprintf(format, args...)}
}
