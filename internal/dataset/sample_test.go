package dataset_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// strata writes a file with prompts of each kind, in the file's order, and pairs.
func strata(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("prompt,category,label,pair\n")
	for i := range 40 {
		fmt.Fprintf(&b, "Safe a %d?,a,safe,a%d\nToxic a %d?,a,toxic,a%d\n", i, i, i, i)
	}
	for i := range 19 {
		fmt.Fprintf(&b, "Safe b %d?,b,safe,\n", i)
	}
	b.WriteString("Safe c?,c,safe,\n")
	path := filepath.Join(t.TempDir(), "set.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func drawn(t *testing.T, path string, size int, seed uint64) (*dataset.Dataset, []orbench.Prompt) {
	t.Helper()
	set, err := dataset.Open(t.Context(), path, dataset.Options{Sample: size, SampleSeed: seed})
	if err != nil {
		t.Fatal(err)
	}
	var prompts []orbench.Prompt
	for p, err := range set.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, p)
	}
	return set, prompts
}

// TestSample draws evenly from every category and label, pairs together, smaller draws
// from larger ones, and describes what it drew.
func TestSample(t *testing.T) {
	t.Parallel()
	path := strata(t)
	whole, all := drawn(t, path, 0, 1)
	if whole.Sample != nil || len(all) != 100 {
		t.Fatalf("%d prompts, %+v", len(all), whole.Sample)
	}
	var before []orbench.Prompt
	for _, size := range []int{1, 7, 30, 50, 99} {
		set, prompts := drawn(t, path, size, 3)
		if len(prompts) != size || set.Count != size || *set.Sample != (dataset.Sample{Size: size, Of: 100, Seed: 3}) || set.SHA256 == whole.SHA256 {
			t.Errorf("%d drawn: %d prompts, %+v", size, len(prompts), set)
		}
		counts, pairs := map[string]float64{}, map[string]int{}
		for _, p := range prompts {
			counts[string(p.Category)+" "+string(p.Label)]++
			if p.Pair != "" {
				pairs[p.Pair]++
			}
		}
		for stratum, n := range map[string]float64{"a safe": 40, "a toxic": 40, "b safe": 19, "c safe": 1} {
			if share := n * float64(size) / 100; math.Abs(counts[stratum]-share) > 1.5 {
				t.Errorf("%d drawn: %v of %s, whose share is %v", size, counts[stratum], stratum, share)
			}
		}
		single := 0
		for _, n := range pairs {
			single += 2 - n
		}
		if single > 1 {
			t.Errorf("%d drawn: %d pairs are torn", size, single)
		}
		if int(counts["a safe"]+counts["b safe"]+counts["c safe"]) != set.Labels[orbench.Safe] || int(counts["b safe"]) != set.Categories["b"] {
			t.Errorf("%d drawn: counted %v and %v of %v", size, set.Labels, set.Categories, counts)
		}
		for _, p := range before {
			if !slices.ContainsFunc(prompts, func(o orbench.Prompt) bool { return o.ID == p.ID }) {
				t.Errorf("%d drawn: without %q of the smaller draw", size, p.Text())
			}
		}
		before = prompts
		again, same := drawn(t, path, size, 3)
		other, _ := drawn(t, path, size, 4)
		if again.SHA256 != set.SHA256 || len(same) != len(prompts) || size > 1 && other.SHA256 == set.SHA256 {
			t.Errorf("%d drawn: the seed does not choose", size)
		}
	}
	if set, prompts := drawn(t, path, 1000, 1); set.Sample != nil || len(prompts) != 100 || set.SHA256 != whole.SHA256 {
		t.Errorf("more than all: %+v", set)
	}
}

// TestSampleChances has every prompt drawn about equally often, also the only one of its
// category.
func TestSampleChances(t *testing.T) {
	t.Parallel()
	path := strata(t)
	const draws, size = 400, 30
	met := map[string]float64{}
	for seed := range uint64(draws) {
		_, prompts := drawn(t, path, size, seed)
		for _, p := range prompts {
			met[string(p.Category)+" "+string(p.Label)]++
			met[p.Text()]++
		}
	}
	for _, name := range []string{"Safe c?", "Safe b 0?", "Safe b 18?", "Safe a 0?", "Toxic a 39?"} {
		// Three standard errors of a share of 0.3.
		if share := met[name] / draws; math.Abs(share-0.3) > 0.07 {
			t.Errorf("%q is drawn with a chance of %.3f, not of 0.3", name, share)
		}
	}
	for stratum, n := range map[string]float64{"a safe": 40, "a toxic": 40, "b safe": 19} {
		if share := met[stratum] / draws / n; math.Abs(share-0.3) > 0.01 {
			t.Errorf("%s is drawn with a chance of %.3f, not of 0.3", stratum, share)
		}
	}
}
