package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/sim"
)

// TestSettingsAreCalledWhatTheirFrontCallsThem names a column that is not there, once
// by a flag and once in a file.
func TestSettingsAreCalledWhatTheirFrontCallsThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data.csv"), filepath.Join(dir, "experiment.yaml")
	text := "targets: [sim/balanced]\ndatasets:\n  - {dataset: data.csv, label_column: gold}\n"
	for path, content := range map[string]string{data: "prompt,b\nx,a\n", file: text} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	problem := ":1: no column \"gold\"; the columns are \"prompt\", \"b\"; correct "
	for want, args := range map[string][]string{
		data + problem + "--label-column\n": {"--dataset", data, "--label-column", "gold", "--target", "sim/balanced"},
		data + problem + "label_column\n":   {"--config", file},
	} {
		args = append([]string{"eval", "--store", filepath.Join(dir, "orbench.db")}, args...)
		if code, _, stderr := runCommand(nil, args...); code != 2 || !strings.HasSuffix(stderr, "orbench: "+want) {
			t.Errorf("%v: exit %d, %q, want %q", args, code, stderr, want)
		}
	}
}

// TestAddressesInAnExperiment sends each call where the file says: a target's own
// address, a provider's, and --base-url in the place of that.
func TestAddressesInAnExperiment(t *testing.T) {
	t.Parallel()
	servers := make([]*sim.Server, 3)
	for i := range servers {
		var err error
		if servers[i], err = sim.Serve(context.Background(), "127.0.0.1:0", 0, nil); err != nil {
			t.Fatal(err)
		}
		defer servers[i].Close()
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "experiment.yaml")
	text := fmt.Sprintf(`
targets:
  - {target: vllm/balanced, name: mine, base_url: %q}
  - vllm/strict
datasets: [starter]
judges: ["llm:vllm/judge"]
limit: 3
base_urls: {vllm: %q}
variants:
  defenses: ["input-guard:vllm/moderator-a"]
`, servers[0].BaseURL(), servers[1].BaseURL())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	measure := func(args ...string) {
		t.Helper()
		args = append([]string{"eval", "--config", file, "--quiet"}, args...)
		if code, _, stderr := runCommand(nil, args...); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	measure("--store", filepath.Join(dir, "a.db"))
	// Three prompts, plain and behind a guard, share their calls. The other server has
	// the same of its target, three calls of the guard, and the judge of six answers.
	own, others := servers[0].Stats().Requests, servers[1].Stats().Requests
	if own != 3 || others < 3+3+6 {
		t.Errorf("the target's own server had %d requests, the provider's %d", own, others)
	}
	measure("--store", filepath.Join(dir, "b.db"), "--base-url", "vllm="+servers[2].BaseURL())
	if got := servers[0].Stats().Requests; got != 2*own || servers[1].Stats().Requests != others || servers[2].Stats().Requests != others {
		t.Errorf("with --base-url: %d, %d and %d requests", got, servers[1].Stats().Requests, servers[2].Stats().Requests)
	}
	code, _, stderr := runCommand(nil, "eval", "--config", file, "--store", filepath.Join(dir, "c.db"), "--base-url", servers[2].BaseURL(), "--dry-run", "--format", "json")
	if code != 0 {
		t.Errorf("an address without a provider: exit code %d, %s", code, stderr)
	}
}
