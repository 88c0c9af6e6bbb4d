package training

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/overlap"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
)

// CheckOptions say what a check compares the folder with.
type CheckOptions struct {
	// Decontaminate and Except are as in overlap.Against. The evaluation sets in the
	// folder's own manifest are compared with too, without the exceptions that the
	// manifest lists. Cache is the folder of pulled datasets.
	Decontaminate, Except []string
	Cache                 string
	// Threshold is the smallest Jaccard index of near-duplicate turns. 0 means
	// overlap.NearThreshold, or the manifest's threshold if that is lower.
	Threshold float64
}

// Check checks a folder as overlap.Check does. The folder need not come from Write; if it
// does, its seeds and hashes are checked too.
func Check(ctx context.Context, dir string, o CheckOptions) (*overlap.Checked, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	against, err := compareWith(ctx, manifest, o)
	if err != nil {
		return nil, err
	}
	var skip []string
	if manifest != nil {
		skip = []string{ManifestFile, OriginsFile, CardFile, FactoryFile}
	}
	c, err := overlap.Check(ctx, dir, o.Cache, against, skip)
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
func compareWith(ctx context.Context, m *Manifest, o CheckOptions) (*overlap.Evaluations, error) {
	refs, gone := slices.Clone(o.Decontaminate), []overlap.Unchecked{}
	if m != nil {
		// A folder's own manifest can make its check stricter, never looser.
		if t := m.Evaluations.Threshold; o.Threshold == 0 && t > 0 {
			o.Threshold = min(t, overlap.NearThreshold)
		}
		for _, e := range m.Evaluations.Checked {
			if e.Ref == e.Name || slices.Contains(refs, e.Ref) {
				continue
			}
			if _, err := os.Stat(e.Ref); err != nil {
				gone = append(gone, overlap.Unchecked{Name: e.Ref, Why: "it was compared when the set was made, but is no longer there"})
			} else {
				refs = append(refs, e.Ref)
			}
		}
	}
	if o.Threshold == 0 {
		o.Threshold = overlap.NearThreshold
	}
	e, err := overlap.Against(ctx, refs, o.Except, o.Cache, o.Threshold)
	if err == nil {
		e.Unchecked = append(e.Unchecked, gone...)
	}
	return e, err
}

// seeds checks that no seed is in two splits, using the folder's record of each row's
// seed.
func seeds(c *overlap.Checked) error {
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
	for {
		row, err := file.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		cluster, split := row.Cells[0], row.Cells[1]
		if first, ok := splits[cluster]; !ok {
			splits[cluster] = split
		} else if first != split {
			c.Findings = append(c.Findings, overlap.Finding{
				Problem: overlap.SeedAcrossSplits, File: OriginsFile, Row: row.Line,
				Text: fmt.Sprintf("seed %s is in %s and in %s", untrusted.Quote(cluster), first, split),
			})
		}
	}
}

// hashes compares the files with the manifest.
func hashes(c *overlap.Checked, m *Manifest) error {
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		sum, err := untrusted.HashFile(filepath.Join(c.Dir, filepath.Base(name)))
		if errors.Is(err, fs.ErrNotExist) {
			c.Findings = append(c.Findings, overlap.Finding{Problem: overlap.Changed, File: name, Text: "it is missing"})
			continue
		}
		if err != nil {
			return err
		}
		if sum != m.Files[name].SHA256 {
			c.Findings = append(c.Findings, overlap.Finding{Problem: overlap.Changed, File: name, Text: "its content differs from that of " + ManifestFile})
		}
	}
	for _, name := range c.Files {
		if _, ok := m.Files[name]; !ok {
			c.Findings = append(c.Findings, overlap.Finding{Problem: overlap.Changed, File: name, Text: "it is not in " + ManifestFile})
		}
	}
	return nil
}
