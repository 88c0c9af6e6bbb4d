package dataset_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// cachedXSTest puts the published file into a cache, as Pull does, and gives its rows.
func cachedXSTest(t *testing.T) (cache string, rows []map[string]string) {
	t.Helper()
	content, err := os.ReadFile("../../shared/data/xstest_prompts.csv")
	if err != nil {
		t.Skip("no ../shared/data: ", err)
	}
	table, err := csv.NewReader(strings.NewReader(string(content))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range table[1:] {
		row := map[string]string{}
		for i, name := range table[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	cache = t.TempDir()
	path := filepath.Join(cache, "xstest.csv")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	plain, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sidecar, err := json.Marshal(map[string]any{"name": "xstest", "sha256": plain.SHA256})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cache, "xstest.json"), sidecar, 0o600); err != nil {
		t.Fatal(err)
	}
	return cache, rows
}

// XSTest has 25 safe prompts of each type against 25 contrasts. The file says by its
// column focus what each prompt is about, the same for both sides of a pair; two types
// of safe prompts have no contrasts line by line, and the authors write one bank
// account fraud as bank fraud.
func TestPairsOfXSTest(t *testing.T) {
	t.Parallel()
	cache, rows := cachedXSTest(t)
	d, err := dataset.Open(t.Context(), "xstest", dataset.Options{Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	if d.PairedBy != "xstest" || d.ClusteredBy != "" {
		t.Errorf("paired by %q, clustered by %q", d.PairedBy, d.ClusteredBy)
	}
	// The same file by its path is known as what it is, and one that was changed is not.
	byPath, err := dataset.Open(t.Context(), "../../shared/data/xstest_prompts.csv", dataset.Options{})
	if err != nil || byPath.PairedBy != "xstest" || byPath.SHA256 != d.SHA256 {
		t.Errorf("by its path: %+v, %v", byPath, err)
	}
	changed := filepath.Join(t.TempDir(), "xstest_prompts.csv")
	if err := os.WriteFile(changed, []byte("prompt,type,label\na,homonyms,safe\nb,contrast_homonyms,unsafe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if other, err := dataset.Open(t.Context(), changed, dataset.Options{}); err != nil || other.PairedBy != "" {
		t.Errorf("another file of the same name: %+v, %v", other, err)
	}
	type sides struct{ safe, toxic []map[string]string }
	pairs := map[string]*sides{}
	without := map[orbench.Category]int{}
	n := 0
	for p, err := range d.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		row := rows[n]
		n++
		if p.Text() != row["prompt"] {
			t.Fatalf("row %d is %q", n, p.Text())
		}
		if p.Pair == "" {
			without[p.Category]++
			continue
		}
		if pairs[p.Pair] == nil {
			pairs[p.Pair] = &sides{}
		}
		s := pairs[p.Pair]
		if p.Label == orbench.Safe {
			s.safe = append(s.safe, row)
		} else {
			s.toxic = append(s.toxic, row)
		}
	}
	types := map[string]int{}
	for name, s := range pairs {
		if len(s.safe) != 1 || len(s.toxic) != 1 {
			t.Errorf("%s has %d safe and %d toxic prompts", name, len(s.safe), len(s.toxic))
			continue
		}
		safe, toxic := s.safe[0], s.toxic[0]
		if a, b := safe["focus"], toxic["focus"]; a != b && a != "bank account fraud" {
			t.Errorf("%s is about %q on one side and %q on the other", name, a, b)
		}
		types[safe["type"]+" against "+toxic["type"]]++
	}
	if len(pairs) != 200 || len(types) != 8 {
		t.Errorf("%d pairs of %d types, want 200 of 8", len(pairs), len(types))
	}
	for _, name := range []string{
		"homonyms against contrast_homonyms", "figurative_language against contrast_figurative_language",
		"safe_targets against contrast_safe_targets", "safe_contexts against contrast_safe_contexts",
		"definitions against contrast_definitions", "real_group_nons_discr against contrast_discr",
		"historical_events against contrast_historical_events", "privacy_fictional against contrast_privacy",
	} {
		if types[name] != 25 {
			t.Errorf("%d pairs of %s, want 25", types[name], name)
		}
	}
	if s, err := d.Stats(t.Context()); err != nil || s.Pairs != 200 || s.PairTypes != 8 {
		t.Errorf("the statistics count %d pairs of %d types, %v", s.Pairs, s.PairTypes, err)
	}
	if len(without) != 2 || without["nons_group_real_discr"] != 25 || without["privacy_public"] != 25 {
		t.Errorf("in no pair: %v", without)
	}
}

// A column of pairs says which prompts belong together, on both counts, and moves no
// hash.
func TestPairColumn(t *testing.T) {
	t.Parallel()
	open := func(name, content string, opts dataset.Options) (*dataset.Dataset, []orbench.Prompt) {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := dataset.Open(t.Context(), path, opts)
		if err != nil {
			t.Fatal(err)
		}
		var prompts []orbench.Prompt
		for p, err := range d.Prompts() {
			if err != nil {
				t.Fatal(err)
			}
			prompts = append(prompts, p)
		}
		return d, prompts
	}
	const table = "prompt,label,pair_id,of\na,safe,1,x\nb,toxic,1,x\nc,safe,,y\n"
	d, prompts := open("found.csv", table, dataset.Options{})
	if d.PairedBy != "pair_id" || d.ClusteredBy != "pair_id" || d.Columns.Pair != "pair_id" {
		t.Errorf("paired by %q, clustered by %q, of the column %q", d.PairedBy, d.ClusteredBy, d.Columns.Pair)
	}
	if prompts[0].Pair != "1" || prompts[1].Pair != "1" || prompts[2].Pair != "" || prompts[2].Cluster != string(prompts[2].ID) || prompts[0].Cluster != "1" {
		t.Errorf("the prompts are %+v", prompts)
	}
	named, prompts := open("named.csv", table, dataset.Options{Pair: "of", Cluster: "pair_id"})
	if named.PairedBy != "of" || named.ClusteredBy != "pair_id" || prompts[2].Pair != "y" {
		t.Errorf("paired by %q, clustered by %q: %+v", named.PairedBy, named.ClusteredBy, prompts)
	}
	if plain, _ := open("plain.csv", "prompt,label\na,safe\nb,toxic\nc,safe\n", dataset.Options{}); plain.SHA256 != d.SHA256 || plain.PairedBy != "" || named.SHA256 != d.SHA256 {
		t.Error("pairs moved the hash, or come from nowhere")
	}
	// Numbers are names too.
	lines, prompts := open("lines.jsonl", `{"prompt":"a","label":"safe","pair":7}`+"\n"+`{"prompt":"b","label":"toxic","pair":"7"}`+"\n", dataset.Options{})
	if lines.PairedBy != "pair" || prompts[0].Pair != "7" || prompts[1].Pair != "7" {
		t.Errorf("paired by %q: %+v", lines.PairedBy, prompts)
	}
}
