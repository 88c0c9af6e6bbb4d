package training

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
)

// Check checks a folder as Compare does. The folder need not come from Write; if it
// does, its seeds and hashes are checked too. The rest is as in Against. The evaluation sets
// in the folder's own manifest are compared with too, without the exceptions that it lists.
// The threshold 0 means NearThreshold, or the manifest's if that is lower.
func Check(ctx context.Context, dir string, refs, except []string, cache string, threshold float64) (*Checked, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	against, err := compareWith(ctx, manifest, refs, except, cache, threshold)
	if err != nil {
		return nil, err
	}
	var skip []string
	if manifest != nil {
		skip = []string{ManifestFile, OriginsFile, CardFile, FactoryFile}
	}
	c, err := Compare(ctx, dir, cache, against, skip)
	if err != nil || manifest == nil {
		return c, err
	}
	if err := seeds(c); err != nil {
		return nil, err
	}
	return c, hashes(c, manifest)
}

// maxManifest is the longest manifest in bytes. A manifest names only a few files.
const maxManifest = 16 << 20

// readManifest reads the manifest of a folder. It is nil if there is none in our format.
func readManifest(dir string) (*Manifest, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, &orbench.InputError{File: dir, Problem: "is not a folder that can be read", Hint: "name a folder of training data"}
	}
	text, err := untrusted.ReadFile(filepath.Join(dir, ManifestFile), maxManifest)
	if err != nil {
		return nil, nil
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil || m.Format != FormatVersion {
		return nil, nil
	}
	return m, nil
}

// compareWith opens the evaluation sets.
func compareWith(ctx context.Context, m *Manifest, refs, except []string, cache string, threshold float64) (*Evaluations, error) {
	refs, gone := slices.Clone(refs), []Unchecked{}
	if m != nil {
		// A folder's own manifest can make its check stricter, never looser.
		if t := m.Evaluations.Threshold; threshold == 0 && t > 0 {
			threshold = min(t, NearThreshold)
		}
		for _, e := range m.Evaluations.Checked {
			if e.Ref == e.Name || slices.Contains(refs, e.Ref) {
				continue
			}
			if _, err := os.Stat(e.Ref); err != nil {
				gone = append(gone, Unchecked{Name: e.Ref, Why: "it was compared when the set was made, but is no longer there"})
			} else {
				refs = append(refs, e.Ref)
			}
		}
	}
	e, err := Against(ctx, refs, except, cache, cmp.Or(threshold, NearThreshold))
	if err == nil {
		e.Unchecked = append(e.Unchecked, gone...)
	}
	return e, err
}

// seeds checks that no seed is in two splits, using the folder's record of each row's
// seed.
func seeds(c *Checked) error {
	path := filepath.Join(c.Dir, OriginsFile)
	file, err := rows.Open(path, func(string, []string, func(string) bool) (rows.Layout, error) {
		return rows.Layout{Fields: []rows.Field{{Name: "cluster", Required: true}, {Name: "split", Required: true}}}, nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	splits := map[string]string{}
	for row, err := range file.All {
		if err != nil {
			return err
		}
		cluster, split := row.Cells[0], row.Cells[1]
		if first, ok := splits[cluster]; !ok {
			splits[cluster] = split
		} else if first != split {
			c.Findings = append(c.Findings, Finding{
				Problem: SeedAcrossSplits, File: OriginsFile, Row: row.Line,
				Text: fmt.Sprintf("seed %s is in %s and in %s", untrusted.Quote(cluster), first, split),
			})
		}
	}
	return nil
}

// hashes compares the files with the manifest.
func hashes(c *Checked, m *Manifest) error {
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		sum, err := untrusted.HashFile(filepath.Join(c.Dir, filepath.Base(name)))
		if errors.Is(err, fs.ErrNotExist) {
			c.Findings = append(c.Findings, Finding{Problem: Changed, File: name, Text: "it is missing"})
			continue
		}
		if err != nil {
			return err
		}
		if sum != m.Files[name].SHA256 {
			c.Findings = append(c.Findings, Finding{Problem: Changed, File: name, Text: "its content differs from that of " + ManifestFile})
		}
	}
	for _, name := range c.Files {
		if _, ok := m.Files[name]; !ok {
			c.Findings = append(c.Findings, Finding{Problem: Changed, File: name, Text: "it is not in " + ManifestFile})
		}
	}
	return nil
}
