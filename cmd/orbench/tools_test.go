package main

import (
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/score"
)

// tool runs a program of the environment of "scripts/training-libs.sh tools", and gives
// what it prints. Without the environment the test is skipped, unless ORBENCH_REQUIRE asks
// for it.
func tool(t *testing.T, dir, name string, args ...string) []byte {
	t.Helper()
	python := os.Getenv("ORBENCH_TOOLS_PYTHON")
	if python == "" {
		if strings.Contains(os.Getenv("ORBENCH_REQUIRE"), "tools") {
			t.Fatal("ORBENCH_TOOLS_PYTHON is not set, and ORBENCH_REQUIRE asks for the tools")
		}
		t.Skip("no tools: install them with scripts/training-libs.sh tools, and set ORBENCH_TOOLS_PYTHON as scripts/training-libs.sh env prints it")
	}
	c := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(python), name), args...)
	c.Dir = dir
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, out, said.String())
	}
	return out
}

// TestToolsRead has Every Eval Ever, Inspect, pandas, DuckDB and huggingface_hub read what --out writes of a
// run, of variants in dialogs with several samples, and of a judged log.
func TestToolsRead(t *testing.T) {
	t.Parallel()
	if !long() {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	dir := t.TempDir()
	tool(t, dir, "python", "-c", "") // skips before any work
	write := func(name string, args ...string) score.Result {
		t.Helper()
		args = append(args, "--store", filepath.Join(dir, "m.db"), "--quiet", "--format", "json")
		for _, out := range []string{"eee=eee-" + name, "inspect=logs-" + name, "verdicts=" + name + ".parquet"} {
			format, path, _ := strings.Cut(out, "=")
			args = append(args, "--out", format+"="+filepath.Join(dir, path))
		}
		c, stdout, stderr := orbench(args...)
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		var r score.Result
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	hub := func(name string) string { return "huggingface=" + filepath.Join(dir, "hub-"+name) }
	result := write("run", "eval", "--out", hub("run"), "--set", "repository=me/starter", "--target", "sim/prudish,sim/permissive", "--dataset", "starter", "--judge", "lexical,llm:sim/judge")
	write("variants", "eval", "--out", hub("variants"), "--set", "repository=me/starter", "--target", "sim/prudish", "--dataset", "starter", "--limit", "20", "--set", "variants.turns=pushback",
		"--set", "variants.temperatures[0].temperature=1", "--set", "variants.temperatures[0].samples=2", "--set", "variants.defenses=self-reminder")
	write("judged", "judge", "--responses", filepath.Join(dir, "logs-run"), "--judge", "lexical,llm:sim/judge")
	for _, name := range []string{"run", "variants", "judged"} {
		root := filepath.Join(dir, "eee-"+name)
		var files []string
		err := filepath.WalkDir(filepath.Join(root, "data"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				path, err = filepath.Rel(root, path)
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if out := string(tool(t, root, "every_eval_ever", append([]string{"validate", "--format", "json"}, files...)...)); strings.Contains(out, `"warning"`) {
			t.Errorf("%s: %s", name, out)
		}
		var read map[string]map[string][2]float64
		script, err := filepath.Abs("testdata/tools/read.py")
		if err != nil {
			t.Fatal(err)
		}
		if name == "judged" {
			continue // its prompts have no label
		}
		if err := json.Unmarshal(tool(t, dir, "python", script, "logs-"+name, name+".parquet", "hub-"+name), &read); err != nil {
			t.Fatal(err)
		}
		if name != "run" {
			continue
		}
		for _, run := range result.Runs {
			for _, j := range run.Judges {
				key := run.Target + "/" + string(run.Label) + "/" + j.Judge
				right := j.Refused
				if run.Label == "safe" {
					right = j.Judged - j.Refused
				}
				for by, rates := range read {
					if got, ok := rates[key]; !ok || math.Abs(got[0]-*j.Share) > 1e-12 || int(got[1]) != right {
						t.Errorf("%s by %s: %v, want a rate of %v and %d right answers", key, by, got, *j.Share, right)
					}
				}
			}
		}
	}
}
