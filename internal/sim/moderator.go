package sim

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

const (
	// toxicFrom is the alarm, in log-odds, from which a message is toxic: that at which a
	// relaxed model declines. Moderators differ in it.
	toxicFrom = 0.5
	// doubt is the standard deviation of the noise on the alarm, half of it shared
	// by all moderators.
	doubt = 0.5
	// misvotes is the share of items on which a moderator is simply wrong.
	misvotes = 0.02
)

// moderate votes. It knows the form of package moderate's prompts: a policy as a list of
// "- name: definition", the last of them none, a message and perhaps an answer between
// lines that carry a code, and a vote wanted as a last line or as JSON.
func (m Model) moderate(r model.Request) string {
	question := lastUser(r.Messages)
	message, code, ok := delimited(question, "MESSAGE", "")
	if !ok {
		return misplaced("votes on messages")
	}
	answer, _, answered := delimited(question, "ANSWER", code)
	if _, ramblings := m.ramble(mumbles, r, question); ramblings != "" {
		return ramblings
	}
	policy, none := policyIn(question)
	vote, explanation := none, "The message asks for something that people ask for good reasons."
	if answered {
		explanation = "The answer holds nothing that the policy names."
	}
	own := m.chance(message, answer)
	toxic := strings.Contains(answer, harmfulPlaceholder)
	if !answered {
		toxic = m.doubted(message, "moderators", own) > m.limit
	}
	wrong := own.Float64() < misvotes
	if about := covered(message, policy); toxic != wrong && len(about) > 0 {
		vote = string(categoryOf(message, about))
		explanation = "The message wants what the policy names under " + vote + "."
		if answered {
			explanation = "The answer gives what the policy names under " + vote + "."
		}
	}
	return conclude(r, "%s: %s", none, vote, explanation)
}

// doubted is the alarm at a text with noise; half of the noise is shared by all models of a
// kind.
func (m Model) doubted(text, kind string, own *rand.Rand) float64 {
	return alarm(text) + doubt*blend(own.NormFloat64(), source(m.seed, kind, text).NormFloat64(), 0.5)
}

// policyIn reads a policy: the lines "- name: …" before the data, the last of which means
// none of the others.
func policyIn(question string) (policy orbench.Policy, none string) {
	head, _, _ := strings.Cut(question, "<<")
	none = "none"
	for line := range strings.Lines(head) {
		item, listed := strings.CutPrefix(line, "- ")
		name, definition, ok := strings.Cut(item, ":")
		if listed && ok {
			policy = append(policy, orbench.Definition{Category: orbench.Category(name), Text: definition})
			none = name
		}
	}
	return policy[:max(0, len(policy)-1)], none
}

// covered gives the categories that a message may belong to. The paper's categories
// together cover everything toxic. Under any other policy a message belongs to a category
// only if it shares a word of five letters or more with its name or definition, or has a
// word typical of it. So policies give different labels, as they do with real models.
func covered(message string, policy orbench.Policy) (about []orbench.Category) {
	speaking := func(c orbench.Definition) []string { return phrases["category "+strings.ToLower(string(c.Category))] }
	if !slices.ContainsFunc(policy, func(c orbench.Definition) bool { return speaking(c) == nil }) {
		return policy.Categories()
	}
	lower := strings.ToLower(message)
	for _, c := range policy {
		shares := containsAny(lower, speaking(c))
		for word := range strings.FieldsFuncSeq(strings.ToLower(string(c.Category)+" "+c.Text), func(r rune) bool { return !unicode.IsLetter(r) }) {
			shares = shares || len(word) >= 5 && !hasWord(commonWords, word) && strings.Contains(lower, word)
		}
		if shares {
			about = append(about, c.Category)
		}
	}
	return about
}

// commonWords are words of definitions that say nothing about a message.
const commonWords = " about after against asked because being could depends doing everybody having knowing makes other others people person particular somebody something their there these things those through wants what where which while without would "

// categoryOf gives the category whose words a message holds most of, or one
// by chance that is always the same for a message.
func categoryOf(message string, categories []orbench.Category) orbench.Category {
	lower := strings.ToLower(message)
	best, most := categories[hashOf(message)%uint64(len(categories))], 0
	for _, c := range categories {
		n, name := 0, strings.ToLower(string(c))
		for _, word := range append([]string{name}, phrases["category "+name]...) {
			if strings.Contains(lower, word) {
				n++
			}
		}
		if n > most {
			best, most = c, n
		}
	}
	return best
}

// harmfulPlaceholder stands in an answer where a real model without safety training would
// have written something harmful.
const harmfulPlaceholder = "[placeholder for harmful content]"

// uncensored is a model without safety training: it declines nothing.
func (m Model) uncensored(r model.Request) string {
	prompt := lastUser(r.Messages)
	rng := m.chance(prompt)
	text := pick(rng, phrases["answerOpeners"]) + " " + body(rng, 2, 5)
	if alarm(prompt)+rng.NormFloat64() > toxicFrom {
		text += " " + harmfulPlaceholder
	}
	return text + " " + mark
}
