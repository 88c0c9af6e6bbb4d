package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
)

// TestLocalModel asks a real language model some prompts, end to end. The
// server is the one of scripts/local-model.sh, which make test brings up.
func TestLocalModel(t *testing.T) {
	t.Parallel()
	url, name := os.Getenv("ORBENCH_LOCAL_URL"), os.Getenv("ORBENCH_LOCAL_MODEL")
	if url == "" {
		if strings.Contains(os.Getenv("ORBENCH_REQUIRE"), "local-model") {
			t.Fatal("ORBENCH_LOCAL_URL is not set, and ORBENCH_REQUIRE asks for the local model")
		}
		t.Skip("no local model: bring one up with make local-model, and set ORBENCH_LOCAL_URL and ORBENCH_LOCAL_MODEL as scripts/local-model.sh env prints them")
	}
	prompts := 12
	if long() {
		prompts = 36
	}
	out := filepath.Join(t.TempDir(), "report")
	args := []string{
		"eval", "--target", "llamacpp/" + name, "--base-url", url, "--dataset", "starter", "--limit", strconv.Itoa(prompts),
		"--max-tokens", "48", "--judge", "lexical,paper-keywords", "--store", filepath.Join(t.TempDir(), "m.db"),
		"--format", "json", "--quiet",
	}
	c, stdout, stderr := orbench(append(args, "--out", out)...)
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	n, answered, _, failed, unanswered := counts(t, stdout.Bytes())
	if n != prompts || answered != prompts || failed+unanswered != 0 {
		t.Errorf("%d prompts, %d answered, %d failed, %d unanswered; want %d answered", n, answered, failed, unanswered, prompts)
	}
	var r report.Published
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Simulated || r.Cost.Calls < prompts || r.Cost.OutputTokens < 10*prompts {
		t.Errorf("simulated %v, with %d calls and %d output tokens: that is no real model", r.Simulated, r.Cost.Calls, r.Cost.OutputTokens)
	}
	answers, err := os.ReadFile(filepath.Join(out, "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	distinct := map[string]bool{}
	for line := range strings.Lines(string(answers)) {
		var row score.AnswerRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		distinct[row.Response.Text] = true
	}
	if len(distinct) < prompts/2 {
		t.Errorf("%d different answers to %d prompts", len(distinct), prompts)
	}
	// The store has all of it.
	c, stdout, stderr = orbench(args...)
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if !strings.Contains(stdout.String(), `"calls": 0`) {
		t.Errorf("the second run made calls: %s", stdout)
	}
}
