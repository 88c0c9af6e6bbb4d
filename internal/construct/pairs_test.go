package construct

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/dataset"
)

// Every safe prompt of the full set that has a toxic seed stands beside it, once, in
// the pair that the lineage puts both into.
func TestPairsAreTheLineages(t *testing.T) {
	t.Parallel()
	dir := built(t)
	rows, err := csv.NewReader(strings.NewReader(contents(t, dir)["pairs.csv"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := benchmark.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if n := folder.Manifest.Files["pairs.csv"].Rows; n != len(rows)-1 || n == 0 {
		t.Errorf("%d rows, the manifest says %d", len(rows)-1, n)
	}
	d, err := dataset.Open(t.Context(), filepath.Join(dir, "pairs.csv"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.PairedBy != "seed" || d.ClusteredBy != "seed" || d.Duplicates != 0 || d.Count != len(rows)-1 {
		t.Errorf("the dataset is %+v", d)
	}
	sides := map[string]map[orbench.Label]int{}
	inPairs := map[orbench.PromptID]bool{}
	n := 1
	for p, err := range d.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		if row := rows[n]; row[0] != p.Text() || row[2] != string(p.Label) || row[3] != p.Pair || row[5] != string(p.ID) {
			t.Errorf("row %d is %q, the prompt %+v", n, row, p)
		}
		n++
		if sides[p.Pair] == nil {
			sides[p.Pair] = map[orbench.Label]int{}
		}
		sides[p.Pair][p.Label]++
		inPairs[p.ID] = p.Label == orbench.Safe
	}
	for name, labels := range sides {
		if labels[orbench.Safe] == 0 || labels[orbench.Toxic] == 0 {
			t.Errorf("the pair %s has %v", name, labels)
		}
	}
	// A safe prompt without a pair has a seed that was not called toxic.
	cleared := map[orbench.PromptID]bool{}
	for r, err := range folder.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == benchmark.CheckedSeed && r.Label != orbench.Toxic {
			cleared[r.ID] = true
		}
	}
	for r, err := range folder.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if r.Dropped == benchmark.Duplicate {
			continue // of the same ID as the row that was kept
		}
		if full := len(r.Sets) > 0 && r.Sets[0] == benchmark.FullSet; full && !inPairs[r.ID] && !cleared[r.SeedID] || inPairs[r.ID] && !full {
			t.Errorf("%s, of the sets %v and the seed %s, is in pairs: %v", r.ID, r.Sets, r.SeedID, inPairs[r.ID])
		}
	}
}

// In a build of conversations a seed of a later round is the last turn of one: a prompt
// of its own, in the pair of its family, and in no set for the conversation.
func TestPairsOfConversations(t *testing.T) {
	t.Parallel()
	c := small(t, 4)
	c.Rewrites.Turns = 2
	dir := write(t, newWorld().builder(c))
	files := contents(t, dir)
	type row struct {
		Label orbench.Label
		Pair  string
		Set   string
	}
	d, err := dataset.Open(t.Context(), filepath.Join(dir, "pairs.jsonl"), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines, n, alone := strings.Split(files["pairs.jsonl"], "\n"), 0, 0
	for p, err := range d.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		var r row
		if err := json.Unmarshal([]byte(lines[n]), &r); err != nil {
			t.Fatal(err)
		}
		n++
		if p.Pair != r.Pair || p.Cluster != r.Pair {
			t.Errorf("%s prompt %s is in the pair %s and the cluster %s, and in %s by the file", r.Label, p.ID, p.Pair, p.Cluster, r.Pair)
		}
		if r.Label == orbench.Toxic && string(p.ID) != r.Pair {
			alone++
		}
		text, err := json.Marshal(p.Text())
		if err != nil {
			t.Fatal(err)
		}
		if r.Set == string(benchmark.ToxicSet) && !strings.Contains(files["toxic.jsonl"], `"messages":[{"role":"user","content":`+string(text)+`}]`) {
			t.Errorf("%q is not in the toxic set", p.Text())
		}
	}
	if n != len(lines)-1 || alone == 0 {
		t.Errorf("%d prompts of %d lines, %d seeds of later rounds; want some", n, len(lines)-1, alone)
	}
}
