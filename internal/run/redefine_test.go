package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/run"
)

// TestCheckName says which changes go on with a stored run, and which redefine it.
func TestCheckName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("prompt\nOne?\nTwo?\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	m := openStore(t, filepath.Join(dir, "orbench.db"))
	open := func(text string) *run.Run {
		t.Helper()
		r, err := run.New(t.Context(), parse(t, "name: it\n"+text), newClients(t), "")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := fmt.Sprintf("targets: [sim/balanced]\njudges: [lexical, \"llm:sim/judge\"]\nlimit: 2\ndatasets: [%q]\nvariants: {temperatures: [{temperature: 1, samples: 2}]}\n", path("set.csv"))
	if note, err := open(first).CheckName(t.Context(), m); err != nil || note != "" {
		t.Errorf("a new name: %q, %v", note, err)
	}
	if err := open(first).Save(t.Context(), m, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		was, now string
		// unjudged and problem are what is wanted, empty for none.
		unjudged, problem string
	}{
		{"", "", "", ""},
		{"limit: 2", "limit: 0", "", ""},
		{"samples: 2", "samples: 3", "", ""},
		{"[sim/balanced]", "[sim/strict, sim/balanced]", "", ""},
		{"{temperatures", "{framings: [authority], temperatures", "", ""},
		{"set.csv", "moved.csv", "", ""},
		{", \"llm:sim/judge\"", "", "llm:sim/judge", ""},
		{", \"llm:sim/judge\"", ", \"llm:sim/judge\", paper-keywords", "", ""},
		{"limit: 2", "limit: 1", "", "limit the first 2 prompts, now the first 1 prompts"},
		{"samples: 2", "samples: 1", "", "sim/balanced was asked 2 times, now 1"},
		{"temperature: 1", "temperature: 0.5", "", "temperature of sim/balanced was 1 and is 0.5"},
		{"limit: 2", "limit: 2\nseed: 5", "", "seed of sim/balanced was "},
		{"limit: 2", "limit: 2\njudge_max_tokens: 9", "", "the judge llm:sim/judge had other settings"},
		{"[sim/balanced]", "[sim/strict]", "", "its target sim/balanced is not named now"},
		{"[sim/balanced]", "[{target: sim/strict, name: sim/balanced}]", "", "model of sim/balanced was sim/balanced and is sim/strict"},
	} {
		path("moved.csv")
		note, err := open(strings.Replace(first, tt.was, tt.now, 1)).CheckName(t.Context(), m)
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if (note != "") != (tt.unjudged != "") || !strings.Contains(note, tt.unjudged) || !strings.Contains(problem, tt.problem) || tt.problem == "" && problem != "" {
			t.Errorf("%s for %s: unjudged by %q, %s; want %q, %s", tt.now, tt.was, note, problem, tt.unjudged, tt.problem)
		}
	}
}
