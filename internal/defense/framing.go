package defense

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/orbench/orbench"
)

// The wordings, version 1. A version that has been used is never edited: a better
// wording becomes the next version, in new files.
var (
	//go:embed prompts/system-helpful-and-safe-v1.txt
	helpfulAndSafe string
	//go:embed prompts/framing-authority-v1.txt
	authority string
	//go:embed prompts/framing-purpose-v1.txt
	purpose string
)

// HelpfulAndSafe is the text of a system prompt that plays the role of the default prompt of
// Llama 2 in published comparisons, in other words.
func HelpfulAndSafe() string { return strings.TrimSpace(helpfulAndSafe) }

// Framing is text that a user puts around a request to make a helpful answer more likely.
// It is no defense: it belongs to the prompt, and guards see it.
type Framing struct {
	Name string `yaml:"name" json:"name" jsonschema_description:"Name in the names of variants: letters, digits, dots, hyphens and underscores."`
	// Prefix and Suffix stand before and after the user's last message, each in its own
	// paragraph. Either or both may be empty.
	Prefix string `yaml:"prefix" json:"prefix,omitempty" jsonschema_description:"Stands before the prompt, in a paragraph of its own."`
	Suffix string `yaml:"suffix" json:"suffix,omitempty" jsonschema_description:"Stands after the prompt, in a paragraph of its own."`
}

// around puts texts before and after the user's last message.
func around(messages []orbench.Message, before, after string) []orbench.Message {
	messages = slices.Clone(messages)
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == orbench.User {
			messages[i].Content = before + messages[i].Content + after
			break
		}
	}
	return messages
}

// Framings lists the named framings: "none", "authority", a prefix that claims a
// profession, and "purpose", a suffix that states a good purpose.
func Framings() []Framing {
	return []Framing{
		{Name: none},
		{Name: "authority", Prefix: strings.TrimSpace(authority)},
		{Name: "purpose", Suffix: strings.TrimSpace(purpose)},
	}
}

// Apply gives the framed prompt. It keeps the label and the category. Its ID is new
// unless the framing is empty, so a caller that pairs the two must keep the original's
// ID.
func (f Framing) Apply(p orbench.Prompt) orbench.Prompt {
	prefix, suffix := "", ""
	if f.Prefix != "" {
		prefix = f.Prefix + "\n\n"
	}
	if f.Suffix != "" {
		suffix = "\n\n" + f.Suffix
	}
	p.Messages = around(p.Messages, prefix, suffix)
	p.ID = orbench.PromptIDOf(p.Messages)
	return p
}
