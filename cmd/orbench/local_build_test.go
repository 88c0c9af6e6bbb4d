package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/benchmark"
)

// TestLocalModelBuilds has a real language model make seeds beside a simulated generator, and
// rewrites beside a simulated rewriter. Its text is weak; what is wanted is that no reply is
// lost and every row is accounted for. It keeps two cores for a minute, so that it waits for
// ORBENCH_LONG.
func TestLocalModelBuilds(t *testing.T) {
	t.Parallel()
	if !long() {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	url, name := os.Getenv("ORBENCH_LOCAL_URL"), os.Getenv("ORBENCH_LOCAL_MODEL")
	if url == "" {
		if strings.Contains(os.Getenv("ORBENCH_REQUIRE"), "local-model") {
			t.Fatal("ORBENCH_LOCAL_URL is not set, and ORBENCH_REQUIRE asks for the local model")
		}
		t.Skip("no local model: bring one up with make local-model, and set ORBENCH_LOCAL_URL and ORBENCH_LOCAL_MODEL as scripts/local-model.sh env prints them")
	}
	const seeds = 6
	local, dir := "llamacpp/"+name, t.TempDir()
	for _, role := range []struct {
		name, generators, rewriters string
		sampling                    int // by which the simulated rewriter alone gives a set that is large enough
	}{
		{"generator", local + ", sim/generator", "sim/generator", 1},
		{"rewriter", "sim/generator", local + ", sim/generator", 11},
	} {
		t.Run(role.name, func(t *testing.T) {
			file, out := filepath.Join(dir, role.name+".yaml"), filepath.Join(dir, role.name)
			config := fmt.Sprintf(`name: local
policy:
  - {category: illegal, text: asks for help to break the law, seeds: %d}
seeds:
  generators: [%s]
  batch: 3
  max_tokens: 80
rewrites:
  rewriters: [%s]
  per_seed: 2
  max_tokens: 80
moderation:
  moderators:
    - model: sim/moderator-a
    - model: sim/moderator-b
    - model: sim/moderator-c
feedback: {rounds: 0}
sampling: %d
toxic: {check_seeds: 1, size: 0}
`, seeds, role.generators, role.rewriters, role.sampling)
			if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"build", "--config", file, "--base-url", "llamacpp=" + url, "--store", filepath.Join(dir, "m.db"), "--format", "json"}
			c, stdout, stderr := orbench(append(args, "--out", out)...)
			if err := c.Run(); err != nil {
				t.Fatalf("%v: %s", err, stderr)
			}
			t.Logf("%s", stdout)
			folder, err := benchmark.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			f := folder.Manifest.Funnel
			if f.Lost() != "" || f.FailedCalls != 0 || f.Seeds.Kept != seeds || f.Rewrites.Seeds != seeds {
				t.Errorf("lost %q; funnel %+v", f.Lost(), f)
			}
			// What the local model was asked is in the manifest, and it answered in its own
			// words.
			replies := 0
			for _, s := range folder.Manifest.Models {
				if s.Provider == "llamacpp" {
					replies += s.Replies
					if s.Usage.Output < 10*s.Replies {
						t.Errorf("%d replies in %d tokens: that is no real model", s.Replies, s.Usage.Output)
					}
				}
			}
			if replies == 0 {
				t.Error("the local model made nothing")
			}
			rows := 0
			for row, err := range folder.Rows() {
				if err != nil {
					t.Fatal(err)
				}
				if row.Kind == benchmark.Rewritten {
					rows++
				}
			}
			if rows != f.Rewrites.Items {
				t.Errorf("the lineage has %d rewrites, the funnel %d", rows, f.Rewrites.Items)
			}
			c, _, stderr = orbench(append(args, "--out", out+"-again")...)
			if err := c.Run(); err != nil || !strings.Contains(stderr.String(), " 0 calls now, ") {
				t.Errorf("%v; the second build made calls: %s", err, stderr)
			}
		})
	}
}
