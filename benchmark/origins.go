package benchmark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// Origins leads from a prompt of a benchmark to what it was rewritten from.
type Origins map[orbench.PromptID]orbench.PromptID

// Of gives the ID of the seed that a prompt goes back to in the end: a seed may
// itself be a rewrite that stayed toxic. A seed, and a prompt that the lineage
// lacks, is its own.
func (o Origins) Of(id orbench.PromptID) orbench.PromptID {
	// More rounds than any build has; a file that leads in a circle ends too.
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

// Origins reads of the lineage where each prompt came from. It is nil where the
// folder has no lineage, by its manifest or any more; a lineage that is not the
// manifest's is an *orbench.InputError.
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

// addLastTurns leads from the seeds of later rounds to the conversations whose last
// turns they are: as prompts they have IDs of their own.
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

// idsOf finds the prompt's and its seed's ID in a row. It reads no further than
// these: most of a row are votes.
func idsOf(line []byte) (id, seed orbench.PromptID, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(line))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return "", "", errors.Join(errors.New("no object"), err)
	}
	for id == "" || seed == "" {
		name, err := d.ReadToken()
		if err == nil && name.Kind() == '}' {
			err = errors.New("no id, or no seed_id")
		}
		if err != nil {
			return "", "", err
		}
		var into *orbench.PromptID
		switch name.String() {
		case "id":
			into = &id
		case "seed_id":
			into = &seed
		default:
			if err := d.SkipValue(); err != nil {
				return "", "", err
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil {
			return "", "", err
		}
		if *into = orbench.PromptID(value.String()); !idPattern.MatchString(string(*into)) {
			return "", "", fmt.Errorf("%s is not the ID of a prompt", untrusted.Quote(string(*into)))
		}
	}
	return id, seed, nil
}
