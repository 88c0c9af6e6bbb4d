package benchmark

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"github.com/go-json-experiment/json"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// Origins maps a prompt of a benchmark to the prompt that it was rewritten from.
type Origins map[orbench.PromptID]orbench.PromptID

// Of gives the ID of the seed that a prompt finally goes back to, since a seed may itself
// be a rewrite that stayed toxic. For a seed, or a prompt that is not in the lineage, it
// gives the prompt's own ID.
func (o Origins) Of(id orbench.PromptID) orbench.PromptID {
	// This is more rounds than any build has. It stops the loop for a file with a cycle.
	const most = 1000
	for range most {
		next, ok := o[id]
		if !ok || next == id {
			break
		}
		id = next
	}
	return id
}

// Origins reads from the lineage where each prompt came from. It is nil if the manifest
// names no lineage or the file is gone. A lineage that is not the manifest's is an
// *orbench.InputError.
func (f *Folder) Origins(ctx context.Context) (Origins, error) {
	if f.Manifest.Files[LineageFile].SHA256 == "" {
		return nil, nil
	}
	origins := Origins{}
	n := 0
	for line, err := range f.lineage() {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		n++
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		id, seed, err := idsOf(line)
		if err != nil {
			return nil, f.notARow(n, err)
		}
		if id != seed {
			origins[id] = seed
		}
	}
	if f.Manifest.Config.Rewrites.Turns > 1 {
		return origins, f.addLastTurns(origins)
	}
	return origins, nil
}

// addLastTurns maps the seeds of later rounds to the conversations whose last turns they
// are. As prompts of their own they have other IDs.
func (f *Folder) addLastTurns(origins Origins) error {
	seeds, err := f.Seeds()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	first := map[orbench.PromptID]bool{}
	for _, s := range seeds {
		alone := orbench.NewPrompt(s.Text, "", "").ID
		if s.Round == 0 {
			first[alone] = true
		} else if !first[alone] {
			origins[alone] = s.ID
		}
	}
	return nil
}

var idPattern = regexp.MustCompile("^p[0-9a-fA-F]{16}$")

// idsOf gives the prompt's and its seed's ID in a row.
func idsOf(line []byte) (id, seed orbench.PromptID, err error) {
	var row struct {
		ID     orbench.PromptID `json:"id"`
		SeedID orbench.PromptID `json:"seed_id"`
	}
	if err := json.Unmarshal(line, &row); err != nil {
		return "", "", err
	}
	for _, id := range []orbench.PromptID{row.ID, row.SeedID} {
		if !idPattern.MatchString(string(id)) {
			return "", "", fmt.Errorf("%s is not the ID of a prompt", untrusted.Quote(string(id)))
		}
	}
	return row.ID, row.SeedID, nil
}
