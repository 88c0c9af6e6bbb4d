package audit

import (
	"path/filepath"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
)

// OpenBuild reads from the folder of a built benchmark every prompt that
// moderators voted on. It skips rows without votes, such as duplicates. A
// prompt that appears twice, as a seed and as a rewrite, was voted on in the
// same calls; the information of both rows is merged.
func OpenBuild(dir string) (*Build, error) {
	folder, err := benchmark.Open(dir)
	if err != nil {
		return nil, err
	}
	b := &Build{Name: dir, SHA256: folder.Manifest.Files[benchmark.LineageFile].SHA256}
	at := map[orbench.PromptID]int{}
	for row, err := range folder.Rows() {
		if err != nil {
			return nil, err
		}
		if len(row.Votes) == 0 {
			continue
		}
		it := itemOf(&row)
		i, ok := at[it.ID]
		if !ok {
			at[it.ID] = len(b.Items)
			b.Items = append(b.Items, it)
			continue
		}
		b.Items[i].Rewrite = b.Items[i].Rewrite || it.Rewrite
		b.Items[i].Full = b.Items[i].Full || it.Full
	}
	if len(b.Items) == 0 {
		return nil, &orbench.InputError{
			File: filepath.Join(dir, benchmark.LineageFile), Problem: "no prompt was voted on", Hint: "name the folder of another build",
		}
	}
	return b, nil
}

func itemOf(r *benchmark.Record) Item {
	it := Item{
		ID: r.ID, Prompt: r.Text, Category: r.Category, Decision: r.Label,
		Votes:   map[string]orbench.Label{},
		Rewrite: r.Kind == benchmark.Rewritten, Full: slices.Contains(r.Sets, benchmark.FullSet),
	}
	for _, v := range r.Votes {
		it.Votes[v.Moderator] = v.Label
	}
	return it
}
