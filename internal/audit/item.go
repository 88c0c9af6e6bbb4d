package audit

import "github.com/orbench/orbench"

// Item is what a benchmark's build recorded about one prompt.
type Item struct {
	ID       orbench.PromptID
	Prompt   string
	Category orbench.Category
	// Votes holds the moderators' labels by moderator. A moderator that
	// abstained has none, or Undecided.
	Votes map[string]orbench.Label
	// Decision is the build's final label, which decides whether the prompt
	// passes as safe. It is empty if no build decided.
	Decision orbench.Label
	// Rewrite is false for seeds, which were voted on only for the toxic set.
	// Full is true if the prompt is in the full set.
	Rewrite, Full bool
}

// Build is the part of a benchmark that an audit needs.
type Build struct {
	// Name is the folder or file, for figures and errors.
	Name string
	// SHA256 is the hash of the data that the items were read from, in hex.
	SHA256 string
	Items  []Item
}
