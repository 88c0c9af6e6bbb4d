package audit

import (
	"regexp"
	"strings"

	"github.com/orbench/orbench"
)

// Item is what a benchmark's build recorded of one prompt.
type Item struct {
	ID       orbench.PromptID
	Prompt   string
	Category orbench.Category
	// Votes are the moderators' labels by moderator. A moderator that abstained
	// has none, or Undecided.
	Votes map[string]orbench.Label
	// Decision is what the build made of the prompt in the end, which decides
	// whether it passes as safe; empty where no build decided.
	Decision orbench.Label
	// RefusedBy says of each selector that was asked whether it refused. It is
	// empty for prompts that no selector saw.
	RefusedBy map[string]bool
}

// Build is a benchmark as far as an audit needs it.
type Build struct {
	// Name is the folder or file, for figures and errors.
	Name string
	// SHA256 is the hash of what the items were read from, in hex.
	SHA256 string
	Items  []Item
}

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

var modelWord = regexp.MustCompile(`[a-z]+[0-9]*|[0-9]+`)

// FamilyOf guesses a model's family, the line of models of one maker, from its
// name provider/model: "openai/gpt-4o" is of gpt, "together/Meta-Llama-3-70B" of
// llama, and Gemma is of gemini as in the paper's figures. A name without a known
// word goes by its first one.
func FamilyOf(model string) string {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	words := modelWord.FindAllString(name, -1)
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
