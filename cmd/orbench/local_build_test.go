package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench/benchmark"
)

// TestLocalModelBuilds has a real language model make seeds and rewrites, beside
// a simulated generator of seeds. Its text is weak; what is wanted is that no
// reply is lost and every row is accounted for. It keeps two cores for half a minute, so
// that it waits for ORBENCH_LONG.
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
	dir := t.TempDir()
	file, out := filepath.Join(dir, "build.yaml"), filepath.Join(dir, "benchmark")
	config := fmt.Sprintf(`name: local
policy:
  - {category: illegal, text: asks for help to break the law, seeds: %[2]d}
seeds:
  generators: [llamacpp/%[1]s, sim/generator]
  batch: 3
  max_tokens: 80
rewrites:
  rewriters: [llamacpp/%[1]s]
  per_seed: 2
  max_tokens: 80
moderation:
  moderators:
    - model: sim/moderator-a
    - model: sim/moderator-b
    - model: sim/moderator-c
feedback: {rounds: 0}
toxic: {check_seeds: 1, size: 0}
`, name, seeds)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"build", "--config", file, "--base-url", "llamacpp=" + url, "--store", filepath.Join(dir, "m.db"), "--format", "json"}
	c, stdout, stderr := orbench(append(args, "--out", out)...)
	if err := c.Run(); err != nil {
		// A model this small may give too few rewrites, which the build says. What it was
		// asked is kept all the same.
		const poor = "which is under half; look at the habits and the stages above, and take another generator"
		if c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), poor) {
			t.Fatalf("%v: %s", err, stderr)
		}
		c, _, again := orbench(append(args, "--out", out)...)
		if err := c.Run(); err == nil || c.ProcessState.ExitCode() != 1 || !strings.Contains(again.String(), poor) {
			t.Errorf("%v; the second build: %s", err, again)
		}
		if _, err := os.Stat(out); err == nil {
			t.Error("a benchmark was written")
		}
		t.Logf("%s", stderr)
		return
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
	if replies < seeds {
		t.Errorf("%d replies of the local model, want %d or more", replies, seeds)
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
}
