package dataset_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// clustersOf lists the clusters of a dataset's prompts.
func clustersOf(t *testing.T, d *dataset.Dataset) []string {
	t.Helper()
	var all []string
	for _, p := range prompts(t, d) {
		all = append(all, p.Cluster)
	}
	return all
}

// TestClusterColumn finds the column of clusters, or takes the one that is named.
func TestClusterColumn(t *testing.T) {
	t.Parallel()
	alone := string(orbench.NewPrompt("Three?", "", orbench.Safe).ID)
	for name, test := range map[string]struct {
		file, content string
		opts          dataset.Options
		by            string
		want          []string
	}{
		"none":       {"a.csv", "prompt\nOne?\n", dataset.Options{}, "", []string{""}},
		"usual":      {"a.csv", "prompt,Seed_ID\nOne?,s1\nTwo?, s1 \nThree?,\n", dataset.Options{}, "Seed_ID", []string{"s1", "s1", alone}},
		"shorter":    {"a.csv", "prompt,seed\nOne?,7\n", dataset.Options{}, "seed", []string{"7"}},
		"named":      {"a.csv", "prompt,seed,story\nOne?,s1,a\nTwo?,s1,b\n", dataset.Options{Cluster: "story"}, "story", []string{"a", "b"}},
		"JSON Lines": {"a.jsonl", `{"prompt": "One?", "seed": 7}` + "\n" + `{"prompt": "Three?"}`, dataset.Options{}, "seed", []string{"7", alone}},
	} {
		d, err := dataset.Open(t.Context(), file(t, test.file, test.content), test.opts)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := clustersOf(t, d); !slices.Equal(got, test.want) || d.ClusteredBy != test.by {
			t.Errorf("%s: clusters %q by %q, want %q by %q", name, got, d.ClusteredBy, test.want, test.by)
		}
	}
	// What prompts share is no part of what they are.
	one, err := dataset.Open(t.Context(), file(t, "h.csv", "prompt,seed\nOne?,s1\n"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	two, err := dataset.Open(t.Context(), file(t, "h.csv", "prompt\nOne?\n"), dataset.Options{})
	if err != nil || one.SHA256 != two.SHA256 {
		t.Errorf("the hashes are %s and %s, %v", one.SHA256, two.SHA256, err)
	}
	for content, want := range map[string]string{
		"prompt,seed\nOne?,a\x01b\n":                           "control character",
		"prompt,seed\nOne?," + strings.Repeat("x", 201) + "\n": "has 201 bytes",
	} {
		if _, err := dataset.Open(t.Context(), file(t, "b.csv", content), dataset.Options{}); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	if _, err := dataset.Open(t.Context(), file(t, "c.csv", "prompt\nOne?\n"), dataset.Options{Cluster: "sede"}); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("a column that is not there: %v", err)
	}
}

// TestLineage leads the prompts of a built set back to their seeds, over rewrites
// that became seeds.
func TestLineage(t *testing.T) {
	t.Parallel()
	id := func(text string) string { return string(orbench.NewPrompt(text, "", orbench.Safe).ID) }
	row := func(text, seed string) string {
		return fmt.Sprintf(`{"kind":"rewrite","id":%q,"text":%q,"round":0,"seed_id":%q,"votes":[{"class":"safe"}]}`, id(text), text, id(seed))
	}
	lineage := strings.Join([]string{
		row("Grown twice?", "Stayed toxic?"), row("Stayed toxic?", "First seed?"), row("Grown once?", "First seed?"),
		row("Of another?", "Second seed?"), row("Second seed?", "Second seed?"),
	}, "\n") + "\n"
	write := func(t *testing.T, dir, name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	build := func(t *testing.T, lineage, sha string) string {
		t.Helper()
		dir := t.TempDir()
		write(t, dir, "lineage.jsonl", lineage)
		write(t, dir, "manifest.json", `{"orbench_benchmark": 1, "files": {"full.csv": {}, "lineage.jsonl": {"sha256": "`+sha+`"}}}`)
		return write(t, dir, "full.csv", "prompt,category\nGrown twice?,a\nGrown once?,a\nOf another?,b\nSecond seed?,b\nAdded later?,b\n")
	}
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	path := build(t, lineage, hash(lineage))
	d, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{id("First seed?"), id("First seed?"), id("Second seed?"), id("Second seed?"), id("Added later?")}
	if got := clustersOf(t, d); !slices.Equal(got, want) || d.ClusteredBy != "seed" {
		t.Errorf("the clusters are %q by %q, want %q", got, d.ClusteredBy, want)
	}
	if d, err = dataset.Open(t.Context(), path, dataset.Options{Cluster: "category"}); err != nil || d.ClusteredBy != "category" || clustersOf(t, d)[0] != "a" {
		t.Errorf("a column that is named goes before the lineage: %+v, %v", d, err)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(path), "lineage.jsonl")); err != nil {
		t.Fatal(err)
	}
	if d, err = dataset.Open(t.Context(), path, dataset.Options{}); err != nil || d.ClusteredBy != "" {
		t.Errorf("without its lineage: %+v, %v", d, err)
	}
	circle := row("Grown once?", "Of another?") + "\n" + row("Of another?", "Grown once?") + "\n"
	if d, err = dataset.Open(t.Context(), build(t, circle, hash(circle)), dataset.Options{}); err != nil || len(clustersOf(t, d)) != 5 {
		t.Errorf("a circle: %v", err)
	}
	for name, bad := range map[string]string{
		"another hash": lineage + row("More?", "Second seed?"),
		"no JSON":      "{",
		"no object":    "[]",
		"no seed":      `{"id":"` + id("x") + `"}`,
		"no ID":        `{"id":"p12","seed_id":"` + id("x") + `"}`,
		"empty line":   "\n",
	} {
		sum := hash(bad)
		if name == "another hash" {
			sum = hash(lineage)
		}
		if _, err := dataset.Open(t.Context(), build(t, bad, sum), dataset.Options{}); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "lineage.jsonl") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
