package model

import (
	"regexp"
	"slices"
	"strings"
)

// makers are words in the names of models that say who made them, by family, in the order
// in which they are looked for. What is not here goes by the first word of the
// model's own name.
var makers = []struct {
	family string
	words  []string
}{
	{"deepseek", []string{"deepseek"}},
	{"gpt", []string{"gpt", "chatgpt", "o1", "o3", "o4"}},
	{"claude", []string{"claude"}},
	{"gemini", []string{"gemini", "gemma", "shieldgemma"}},
	{"mistral", []string{"mixtral", "mistral", "ministral", "codestral"}},
	{"qwen", []string{"qwen", "qwq"}},
	{"llama", []string{"llama", "codellama"}},
	{"command", []string{"command"}},
	{"phi", []string{"phi"}},
	{"grok", []string{"grok"}},
}

var familyWord = regexp.MustCompile(`[a-z]+[0-9]*|[0-9]+`)

// FamilyOf guesses a model's family, the line of models of one maker, from its
// name provider/model: "openai/gpt-4o" is of gpt, "together/Meta-Llama-3-70B" of
// llama, and Gemma is of gemini as in the figures of OR-Bench. A name without a
// known word goes by its first one.
func FamilyOf(name string) string {
	name = BareName(name)
	words := familyWord.FindAllString(name, -1)
	if maker := makerOf(words); maker != "" {
		return maker
	}
	if len(words) == 0 {
		return name
	}
	return words[0]
}

// makerOf is the family that the words of a name tell, empty for none that is known.
func makerOf(words []string) string {
	for _, m := range makers {
		known := func(w string) bool {
			return slices.Contains(m.words, w) || slices.Contains(m.words, strings.TrimRight(w, "0123456789"))
		}
		if slices.ContainsFunc(words, known) {
			return m.family
		}
	}
	return ""
}

// BareName is a model's name without its provider and its publisher, in lower
// case: "together/meta-llama/Llama-3-70b-chat-hf" is "llama-3-70b-chat-hf". Two
// providers that serve one model mostly agree on it.
func BareName(name string) string {
	return strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
}
