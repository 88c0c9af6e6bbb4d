package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/table"
)

// Item is a rewrite of a build that moderators voted on.
type Item struct {
	ID orbench.PromptID
	// Prompt is what moderators saw: of a conversation all of it.
	Prompt   orbench.Prompt
	Category orbench.Category
	// Votes holds the moderators' labels by moderator. A moderator that
	// abstained has none, or Undecided.
	Votes map[string]orbench.Label
	// Decision is the build's final label, which decides whether the prompt
	// passes as safe.
	Decision orbench.Label
}

// ItemOf takes an item from a row of a lineage. It is false for a row that nobody voted on,
// such as a duplicate, and for a seed.
func ItemOf(r *benchmark.Record) (Item, bool) {
	if len(r.Votes) == 0 || r.Kind != benchmark.Rewritten {
		return Item{}, false
	}
	it := Item{ID: r.ID, Prompt: r.Asked(), Category: r.Category, Decision: r.Label, Votes: map[string]orbench.Label{}}
	for _, v := range r.Votes {
		it.Votes[v.Moderator] = v.Label
	}
	return it, true
}

// subject is what people's labels of the prompt are about.
func (it Item) subject() orbench.Subject {
	return orbench.PromptSubject(it.Prompt.Messages)
}

// design names the drawing from these items. Other items have another.
func design(items []Item) string {
	ids := table.RowsOf(items, func(it Item) string { return string(it.ID) + "\n" })
	slices.Sort(ids)
	sum := sha256.Sum256([]byte(strings.Join(ids, "")))
	return "prompts put to the vote #" + hex.EncodeToString(sum[:6])
}

// Entries are the drawn items for people to label.
func Entries(items []Item, words annotation.Words) (drawn []annotation.Entry) {
	of := design(items)
	for _, it := range items {
		if chance := words.ChanceIn(of, it.subject()); chance > 0 {
			drawn = append(drawn, annotation.Entry{Subject: it.subject(), Prompt: it.Prompt.Transcript(), OfPrompt: true, Chance: chance})
		}
	}
	return drawn
}
