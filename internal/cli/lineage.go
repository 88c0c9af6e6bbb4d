package cli

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/internal/audit"
)

// lineage is what an audit takes from the folder of a built benchmark: every
// prompt that moderators voted on.
type lineage struct {
	dir, path, sha256 string
	items             []lineageItem
	at                map[orbench.PromptID]int
}

// add takes a prompt in. One that comes twice, as a seed and as a rewrite, was
// voted on in the same calls; what only one of the rows knows is put together.
func (l *lineage) add(it lineageItem) {
	i, ok := l.at[it.ID]
	if !ok {
		l.at[it.ID] = len(l.items)
		l.items = append(l.items, it)
		return
	}
	l.items[i].rewrite = l.items[i].rewrite || it.rewrite
	l.items[i].full = l.items[i].full || it.full
	maps.Copy(l.items[i].RefusedBy, it.RefusedBy)
}

type lineageItem struct {
	audit.Item
	// rewrite is false for seeds that were voted on only for the toxic set, full is
	// true when the prompt is in the full set.
	rewrite, full bool
}

// forAudit gives the prompts without their sets.
func (l *lineage) forAudit() *audit.Build {
	b := &audit.Build{Name: l.dir, SHA256: l.sha256}
	for _, it := range l.items {
		b.Items = append(b.Items, it.Item)
	}
	return b
}

// readLineage reads the lineage in the folder of a built benchmark. Rows that
// nobody voted on, such as duplicates, are passed over.
func readLineage(dir string) (*lineage, error) {
	folder, err := benchmark.Open(dir)
	if err != nil {
		return nil, err
	}
	l := &lineage{
		dir: dir, path: filepath.Join(dir, benchmark.LineageFile), sha256: folder.Manifest.Files[benchmark.LineageFile].SHA256,
		at: map[orbench.PromptID]int{},
	}
	for row, err := range folder.Rows() {
		if err != nil {
			return nil, err
		}
		if len(row.Votes) > 0 {
			l.add(itemOf(&row))
		}
	}
	if len(l.items) == 0 {
		return nil, inputError(l.path, "no prompt was voted on", "name the folder of another build")
	}
	return l, nil
}

func itemOf(r *benchmark.Record) lineageItem {
	it := lineageItem{
		Item: audit.Item{
			ID: r.ID, Prompt: r.Text, Category: r.Category, Decision: r.Label,
			Votes: map[string]orbench.Label{}, RefusedBy: map[string]bool{},
		},
		rewrite: r.Kind == benchmark.Rewritten, full: slices.Contains(r.Sets, benchmark.FullSet),
	}
	for _, v := range r.Votes {
		it.Votes[v.Moderator] = v.Label
	}
	for _, s := range r.Replies {
		it.RefusedBy[s.Selector] = s.Refused
	}
	return it
}
