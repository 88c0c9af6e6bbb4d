package cli

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench"
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

// lineageRow is a line of lineage.jsonl, as far as an audit reads it.
type lineageRow struct {
	Kind     string           `json:"kind"`
	ID       orbench.PromptID `json:"id"`
	Text     string           `json:"text"`
	Category orbench.Category `json:"category"`
	Label    orbench.Label    `json:"label"`
	Sets     []string         `json:"sets"`
	Votes    []struct {
		Moderator string        `json:"moderator"`
		Label     orbench.Label `json:"label"`
	} `json:"votes"`
	Refusals []struct {
		Selector string `json:"selector"`
		Refused  bool   `json:"refused"`
	} `json:"refusals"`
}

// readLineage reads lineage.jsonl in the folder of a built benchmark. Rows that
// nobody voted on, such as duplicates, are passed over.
func readLineage(dir string) (*lineage, error) {
	l := &lineage{dir: dir, path: filepath.Join(dir, "lineage.jsonl"), at: map[orbench.PromptID]int{}}
	file, err := os.Open(l.path)
	if err != nil {
		return nil, inputError(dir, "not the folder of a built benchmark: "+err.Error(), "name one that has a lineage.jsonl")
	}
	defer file.Close()
	hash := sha256.New()
	lines := bufio.NewReader(io.TeeReader(file, hash))
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read %s: %w", l.path, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var row lineageRow
			fault := func(problem string) error {
				return &orbench.InputError{File: l.path, Line: number, Problem: problem, Hint: "build the benchmark again"}
			}
			if err := json.Unmarshal(line, &row); err != nil {
				return nil, fault("not a row of a lineage: " + err.Error())
			}
			if row.ID == "" {
				return nil, fault("the row has no id")
			}
			if len(row.Votes) > 0 {
				l.add(row.item())
			}
		}
		if err != nil {
			break
		}
	}
	if len(l.items) == 0 {
		return nil, inputError(l.path, "no prompt was voted on", "name the folder of a finished build")
	}
	l.sha256 = hex.EncodeToString(hash.Sum(nil))
	return l, nil
}

func (r *lineageRow) item() lineageItem {
	it := lineageItem{
		Item: audit.Item{
			ID: r.ID, Prompt: r.Text, Category: r.Category, Decision: r.Label,
			Votes: map[string]orbench.Label{}, RefusedBy: map[string]bool{},
		},
		rewrite: r.Kind != "seed",
		full:    slices.Contains(r.Sets, "full"),
	}
	for _, v := range r.Votes {
		it.Votes[v.Moderator] = v.Label
	}
	for _, s := range r.Refusals {
		it.RefusedBy[s.Selector] = s.Refused
	}
	return it
}
