package guard

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/model"
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
	// Style says how the request carries what the format leaves to a server. Empty means
	// the first of its format in formats.yaml; Settle chooses it for a server.
	Style Style `json:"style,omitempty"`
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
	parts := []string{string(g.Format)}
	if g.Strict {
		parts = append(parts, "strict")
	}
	if g.Scores {
		parts = append(parts, "scores")
	}
	if g.Threshold != nil {
		parts = append(parts, "threshold="+strconv.FormatFloat(*g.Threshold, 'g', -1, 64))
	}
	for _, l := range g.Labels {
		parts = append(parts, "label="+l)
	}
	for _, s := range []struct{ key, value string }{{"style", string(g.Style)}, {"criterion", g.Criterion}, {"effort", g.Effort}, {"policy", g.PolicyName}} {
		if s.value != "" {
			parts = append(parts, s.key+"="+s.value)
		}
	}
	return strings.Join(parts, ":")
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
	if g.Format, err = ParseFormat("target", parts[0]); err != nil {
		return Guard{}, "", err
	}
	seen := map[string]bool{}
	for _, setting := range parts[1:] {
		key, value, valued := strings.Cut(setting, "=")
		if seen[key] && key != "label" {
			return Guard{}, "", wrong("guard %q gives %s twice", spec, key)
		}
		seen[key] = true
		if !slices.Contains(specWords, key) {
			return Guard{}, "", settings.Unknown("target", "setting of a guard", key, specWords)
		}
		if valued != (key != "strict" && key != "scores") || valued && value == "" {
			return Guard{}, "", wrong("guard %q: write strict, scores, threshold=SCORE, label=LABEL, style=STYLE, criterion=NAME, effort=EFFORT or policy=NAME", spec)
		}
		if err := g.configure(key, value); err != nil {
			return Guard{}, "", err
		}
	}
	if g.Criterion != "" && g.Policy != nil {
		return Guard{}, "", wrong("guard %q gives a criterion and a policy; it can use only one", spec)
	}
	if g.Format == Safeguard && g.Policy == nil {
		if err := g.configure("policy", usualPolicy); err != nil {
			return Guard{}, "", err
		}
		g.PolicyName = ""
	}
	return g, target, nil
}

// usualPolicy is the policy of a guard without one of its own.
const usualPolicy = "paper"

// configure sets one setting.
func (g *Guard) configure(key, value string) error {
	switch key {
	case "strict":
		if !slices.ContainsFunc(g.Format.traits().Lines, func(l line) bool { return l.Between != "" }) {
			return wrong("the guard format %s has no grade controversial, which strict needs; qwen3guard has one", g.Format)
		}
		g.Strict = true
	case "scores":
		if !g.Format.words() {
			return wrong("the guard format %s does not answer with one word, so it has no probability to use as a score", g.Format)
		}
		g.Scores = true
	case "threshold":
		t, err := strconv.ParseFloat(value, 64)
		if err != nil || !(t > 0 && t <= 1) {
			return wrong("the threshold %q of a guard must be a number above 0 and at most 1", value)
		}
		if g.Format != Classifier && !g.Format.words() {
			return wrong("the guard format %s gives no score, so it takes no threshold", g.Format)
		}
		g.Threshold = &t
	case "label":
		if g.Format != Classifier {
			return wrong("the guard format %s gives no labels to choose from; classifier does", g.Format)
		}
		if !slices.Contains(g.Labels, value) {
			g.Labels = append(g.Labels, value)
		}
	case "style":
		return g.setStyle(value)
	case "criterion":
		if g.Format != GraniteGuardian {
			return wrong("the guard format %s has no criteria by name; granite-guardian has", g.Format)
		}
		g.Criterion = value
		if _, known := g.Format.defined(value); !known {
			var names []string
			for _, d := range g.Format.traits().Definitions {
				names = append(names, string(d.Category))
			}
			return settings.Unknown("target", "criterion", value, names)
		}
	case "effort":
		if g.Format != Safeguard {
			return wrong("the guard format %s does not reason; gpt-oss-safeguard does", g.Format)
		}
		if g.Effort = value; !slices.Contains(efforts, value) {
			return settings.Unknown("target", "reasoning effort", value, efforts)
		}
	case "policy":
		if !g.Format.traits().Policy {
			return wrong("the guard format %s has a policy of its own; gpt-oss-safeguard, granite-guardian and shieldgemma take others", g.Format)
		}
		if own, ok := ownPolicy(value); ok && g.Format == ShieldGemma {
			g.Policy, g.PolicyName = own, value
			return nil
		}
		p, err := policy.Open(value)
		if err != nil {
			return err
		}
		g.Policy, g.PolicyName, g.PolicyText = p.Definitions(), value, p.Text()
	}
	return nil
}

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

// decide decides what the guard's word means under its settings.
func (g Guard) decide(a *Assessment, about About, reply model.Response) error {
	if about == Refusal {
		return nil
	}
	if g.Strict && a.Controversial {
		a.set(about, true)
	}
	if g.scored() {
		a.Score = g.score(about, reply.Logprobs)
		switch {
		case g.Threshold == nil:
		case a.Score == nil:
			return errors.New("its server gave no probabilities, but the threshold needs them")
		default:
			a.set(about, *a.Score >= *g.Threshold)
		}
	}
	return nil
}

// wrong is the error for a spec that Parse cannot use.
func wrong(format string, args ...any) error {
	return &orbench.InputError{Setting: "target", Problem: fmt.Sprintf(format, args...)}
}
