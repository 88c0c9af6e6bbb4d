package model

import (
	"regexp"
	"strings"
)

// makers are words in the names of models that say who made them, in the order
// in which they are looked for. What is not here goes by the first word of the
// model's own name.
var makers = []struct{ word, family string }{
	{"deepseek", "deepseek"},
	{"gpt", "gpt"},
	{"chatgpt", "gpt"},
	{"o1", "gpt"},
	{"o3", "gpt"},
	{"o4", "gpt"},
	{"claude", "claude"},
	{"gemini", "gemini"},
	{"gemma", "gemini"},
	{"shieldgemma", "gemini"},
	{"mixtral", "mistral"},
	{"mistral", "mistral"},
	{"ministral", "mistral"},
	{"codestral", "mistral"},
	{"qwen", "qwen"},
	{"qwq", "qwen"},
	{"llama", "llama"},
	{"codellama", "llama"},
	{"command", "command"},
	{"phi", "phi"},
	{"grok", "grok"},
}

var familyWord = regexp.MustCompile(`[a-z]+[0-9]*|[0-9]+`)

// FamilyOf guesses a model's family, the line of models of one maker, from its
// name provider/model: "openai/gpt-4o" is of gpt, "together/Meta-Llama-3-70B" of
// llama, and Gemma is of gemini as in the figures of OR-Bench. A name without a
// known word goes by its first one.
func FamilyOf(name string) string {
	name = BareName(name)
	words := familyWord.FindAllString(name, -1)
	for _, m := range makers {
		for _, w := range words {
			if strings.TrimRight(w, "0123456789") == m.word || w == m.word {
				return m.family
			}
		}
	}
	if len(words) == 0 {
		return name
	}
	return words[0]
}

// BareName is a model's name without its provider and its publisher, in lower
// case: "together/meta-llama/Llama-3-70b-chat-hf" is "llama-3-70b-chat-hf". Two
// providers that serve one model mostly agree on it.
func BareName(name string) string {
	return strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
}
