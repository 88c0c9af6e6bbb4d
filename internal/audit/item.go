package audit

import "github.com/orbench/orbench"

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
	// Rewrite is false for seeds, which were voted on only for the toxic set. Full is
	// true when the prompt is in the full set.
	Rewrite, Full bool
}

// Build is a benchmark as far as an audit needs it.
type Build struct {
	// Name is the folder or file, for figures and errors.
	Name string
	// SHA256 is the hash of what the items were read from, in hex.
	SHA256 string
	Items  []Item
}
