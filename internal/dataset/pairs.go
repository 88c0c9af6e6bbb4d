package dataset

import (
	"fmt"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// Pairs says which safe and toxic prompts of a published dataset make pairs.
type Pairs struct {
	// By names the pairs; it is Dataset.PairedBy.
	By string `json:"by"`
	// Contrasts maps a category of safe prompts to the category of their toxic contrasts:
	// the n-th prompt of one and the n-th of the other make a pair. Without it the
	// clusters are the pairs.
	Contrasts map[orbench.Category]orbench.Category `json:"contrasts,omitempty"`
}

// pairsOf gives the pairs of a published file that was fetched by other means than Pull.
// It recognizes the file by its name and its bytes, and gives nil for any other file.
func pairsOf(path string) *Pairs {
	for _, e := range entries() {
		if e.Pairs == nil || e.FileSHA256 == "" || e.File != filepath.Base(path) {
			continue
		}
		// An unreadable file is reported by the code that reads its rows.
		if sum, err := untrusted.HashFile(path); err == nil && sum == e.FileSHA256 {
			return e.Pairs
		}
	}
	return nil
}

// pairing numbers the prompts of each category.
type pairing struct {
	// names has the safe category of each category that makes pairs.
	names map[orbench.Category]orbench.Category
	seen  map[orbench.Category]int
}

// numbers starts to number prompts.
func (p *Pairs) numbers() *pairing {
	n := &pairing{names: map[orbench.Category]orbench.Category{}, seen: map[orbench.Category]int{}}
	for safe, toxic := range p.Contrasts {
		n.names[safe], n.names[toxic] = safe, safe
	}
	return n
}

// next names the pair of the next prompt, such as "homonyms 7", or "" if its category
// makes no pairs.
func (n *pairing) next(p orbench.Prompt) string {
	if len(n.names) == 0 {
		return p.Cluster
	}
	name, ok := n.names[p.Category]
	if !ok {
		return ""
	}
	n.seen[p.Category]++
	return fmt.Sprintf("%s %d", name, n.seen[p.Category])
}

// countPairs counts the pairs with both sides present, and the categories of their safe
// prompts.
func countPairs(prompts []orbench.Prompt) (pairs, types int) {
	toxic, counted := map[string]bool{}, map[string]bool{}
	for _, p := range prompts {
		toxic[p.Pair] = toxic[p.Pair] || p.Label == orbench.Toxic
	}
	categories := map[orbench.Category]bool{}
	for _, p := range prompts {
		if p.Pair != "" && p.Label == orbench.Safe && toxic[p.Pair] && !counted[p.Pair] {
			counted[p.Pair], categories[p.Category] = true, true
		}
	}
	return len(counted), len(categories)
}
