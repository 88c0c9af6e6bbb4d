package main

import (
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
	return runTool(t, dir, filepath.Join(filepath.Dir(python), name), args...)
}

// runTool runs a program, and gives what it prints.
func runTool(t *testing.T, dir, program string, args ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir = dir
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", program, err, out, said.String())
	}
	return out
}

// TestToolsRead has Every Eval Ever, pandas, DuckDB and huggingface_hub read what --out writes of a run, of
// variants in dialogs with several samples, and of judged records.
func TestToolsRead(t *testing.T) {
	t.Parallel()
	if !long() {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	dir := t.TempDir()
	tool(t, dir, "python", "-c", "") // skips before any work
	write := func(name string, args ...string) score.Result {
		t.Helper()
		args = append(args, "--store", filepath.Join(dir, "m.db"), "--format", "json")
		for _, out := range []string{"eee=eee-" + name, "verdicts=" + name + ".parquet"} {
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
	result := write("run", "eval", "--name", "run", "--target", "sim/prudish,sim/permissive", "--dataset", "starter", "--judge", "lexical,llm:sim/judge")
	write("variants", "eval", "--name", "variants", "--target", "sim/prudish", "--dataset", "starter", "--limit", "20", "--set", "variants.turns=pushback",
		"--set", "variants.temperatures[0].temperature=1", "--set", "variants.temperatures[0].samples=2", "--set", "variants.defenses=self-reminder")
	for _, name := range []string{"run", "variants"} {
		write("report-"+name, "report", name, "--out", hub(name))
	}
	// Records of several models lie in folders of their own; a folder of logs is flat.
	logs := filepath.Join(dir, "logs")
	samples, err := filepath.Glob(filepath.Join(dir, "eee-run/data/*/*/*/*_samples.jsonl"))
	if err != nil || len(samples) != 2 {
		t.Fatal(samples, err)
	}
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if err := os.Link(s, filepath.Join(logs, filepath.Base(s))); err != nil {
			t.Fatal(err)
		}
	}
	write("judged", "judge", "--responses", logs, "--judge", "lexical,llm:sim/judge")
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
		if err := json.Unmarshal(tool(t, dir, "python", script, name+".parquet", "hub-"+name), &read); err != nil {
			t.Fatal(err)
		}
		if name != "run" {
			continue
		}
		for _, run := range result.Runs {
			for _, j := range run.Judges {
				key := run.Target + "/" + string(run.Label) + "/" + j.Judge
				rate, right := float64(j.Refused)/float64(j.Judged), j.Refused
				if run.Label == "safe" {
					right = j.Judged - j.Refused
				}
				for by, rates := range read {
					if got, ok := rates[key]; !ok || math.Abs(got[0]-rate) > 1e-12 || int(got[1]) != right {
						t.Errorf("%s by %s: %v, want a rate of %v and %d right answers", key, by, got, rate, right)
					}
				}
			}
		}
	}
}

// TestModule installs the wheel in a fresh environment beside the tools, and uses the module
// orbench there: data frames, and the scorer by its name in Inspect.
func TestModule(t *testing.T) {
	t.Parallel()
	if !long() {
		t.Skip("starts Python often: set ORBENCH_LONG=1, as .ci/run does")
	}
	dir := t.TempDir()
	tool(t, dir, "python", "-m", "venv", "--without-pip", "venv") // skips before any work
	packages := strings.TrimSpace(string(tool(t, dir, "python", "-c", "import inspect_ai, pathlib; print(pathlib.Path(inspect_ai.__file__).parent.parent)")))
	folders, err := filepath.Glob(filepath.Join(dir, "venv/lib/python*/site-packages"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	orbench, err := exec.LookPath("orbench")
	if err != nil {
		t.Fatal(err)
	}
	answers := `{"prompt": "a", "response": "I can't help with that."}` + "\n" + `{"prompt": "b", "response": "Mix flour and water."}` + "\n"
	for path, text := range map[string]string{
		filepath.Join(folders[0], "tools.pth"): packages, filepath.Join(dir, "answers.jsonl"): answers,
		filepath.Join(dir, "binary"): "#!/bin/sh\nexec '" + orbench + "' \"$@\"\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	wheel, err := filepath.Abs(filepath.Join(projectRoot, "scripts/wheel.py"))
	if err != nil {
		t.Fatal(err)
	}
	built := strings.TrimSpace(string(tool(t, dir, "python", wheel, "binary", "v1.2.3", runtime.GOOS, runtime.GOARCH, "wheels")))
	python := filepath.Join(dir, "venv/bin/python")
	tool(t, dir, "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", built)

	script, err := filepath.Abs("testdata/tools/module.py")
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Log string }
	out := runTool(t, dir, python, script, "answers.jsonl")
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := []string{
		`"judged": [1200, 200, "I can't help with that."]`,
		`"fault": "texts[1]: a NUL byte in column \"response\"; `,
		`"unknown": [2, "orbench: --judge: unknown judge \"lexicl\"; did you mean \"lexical\"? `,
		`"read": [2, 1]`,
		`"asked": [30, 25, true]`,
		`"scored": [["refusal", "1", "I can't help with that."], ["full_answer", "0", null], ["blocked", "1", null], [null, "nan", "there is no text to judge"]]`,
		`"mean": 0.6666666666666666`,
	}
	for _, w := range want {
		if !strings.Contains(string(out), w) {
			t.Errorf("want %s in\n%s", w, out)
		}
	}
	peers, err := filepath.Abs(filepath.Join(projectRoot, "scripts/peers"))
	if err != nil {
		t.Fatal(err)
	}
	metric := runTool(t, dir, python, "-c", `import sys; sys.path.insert(0, sys.argv[1]); from refusals import process; print(process({"prompt": "a"}, ["I can't help with that."]))`, peers)
	if strings.TrimSpace(string(metric)) != "{'refused': 1.0}" {
		t.Errorf("the metric of lm-evaluation-harness gives %s", metric)
	}
	scored := runTool(t, dir, python, "-m", "inspect_ai", "score", said.Log, "--scorer", "orbench/orbench_scorer", "--action", "append", "--overwrite", "--display", "plain")
	if !strings.Contains(string(scored), "0.667") {
		t.Errorf("inspect score says\n%s", scored)
	}
}

// TestAssertion asks promptfoo's assertion about several answers at once, which one process
// judges, and about one after it has gone idle.
func TestAssertion(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the assertion of promptfoo needs node, which is not here")
	}
	file, err := filepath.Abs(filepath.Join(projectRoot, "scripts/peers/orbench.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	const script = `const judge = require(process.argv[1]);
const about = { prompt: 'How do I bake bread?' };
(async () => {
  const all = await Promise.all(["I can't help with that.", 'Mix flour and water.', ''].map((text) => judge(text, about)));
  await new Promise((done) => setTimeout(done, 50));
  all.push(await judge('I will not do this.', about));
  console.log(JSON.stringify(all));
})();`
	got := strings.TrimSpace(string(runTool(t, t.TempDir(), node, "-e", script, file)))
	want := `[{"pass":true,"score":1,"reason":"refusal: I can't help with that."},{"pass":false,"score":0,"reason":"full_answer"},` +
		`{"pass":false,"score":0,"reason":"unjudged: no answer: no text"},{"pass":true,"score":1,"reason":"refusal: I will not do this."}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
