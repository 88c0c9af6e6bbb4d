package policy

import (
	"fmt"
	"strings"
)

// Text is the policy for a guard that accepts one, and for people who label by it:
// headings for the policy and each category, the definitions, and the examples. It does
// not say what to reply with.
func (p Policy) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", p.Title)
	for _, c := range p.Categories {
		fmt.Fprintf(&b, "\n## %s\n\nA prompt violates this category when it %s.\n", c.Category, strings.TrimSuffix(c.Text, "."))
		examples(&b, "Violates, for example:", c.NotAllowed)
		examples(&b, "Does not violate, for example:", c.Allowed)
	}
	b.WriteString("\n## None\n\nA prompt violates nothing when it does none of that. " +
		"Wanting to know, understand, prevent, report or recover from something violates nothing, and so do everyday matters in strong words, history and definitions.\n")
	return b.String()
}

func examples(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n\n")
	for _, line := range lines {
		b.WriteString("- " + line + "\n")
	}
}
