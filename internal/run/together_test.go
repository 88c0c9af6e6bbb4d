package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/run"
)

// TestTogether names the targets of runs that are shown side by side.
func TestTogether(t *testing.T) {
	t.Parallel()
	open := func(name, more string) *run.Run {
		t.Helper()
		r, err := run.New(t.Context(), parse(t, "name: "+name+"\n"+more), newClients(t), "")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	long := open("long", "targets: [sim/balanced, sim/strict]\ndatasets: [starter]")
	short := open("short", "targets: [sim/balanced]\ndatasets: [starter]\nmax_tokens: 8\nvariants: {defenses: [icl]}")
	path := filepath.Join(t.TempDir(), "other.csv")
	if err := os.WriteFile(path, []byte("prompt\nOne?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := open("elsewhere", fmt.Sprintf("targets: [sim/strict]\ndatasets: [%q]", path))
	seeded := open("seeded", fmt.Sprintf("targets: [sim/strict]\nseed: 7\ndatasets: [%q]", path))
	again := open("a-long-name-that-is-nowhere-shown-whole", "targets: [sim/strict]\ndatasets: [starter]")
	named := func(runs ...*run.Run) string {
		var names []string
		for _, r := range run.Together(runs) {
			for _, target := range r.Targets {
				names = append(names, target.Name)
				if target.Base != "" && !strings.HasPrefix(target.Name, target.Base+" [") {
					t.Errorf("%s is a variant of %s", target.Name, target.Base)
				}
			}
		}
		return strings.Join(names, "; ")
	}
	for want, got := range map[string]string{
		"sim/balanced; sim/strict": named(long),
		"sim/balanced [run long]; sim/strict; sim/balanced [run short]; sim/balanced [run short] [icl]": named(long, short),
		"sim/balanced; sim/strict; sim/strict":                                                          named(long, elsewhere),
		"sim/balanced; sim/strict [run long]; sim/strict [run seeded]":                                  named(long, seeded),
		"sim/balanced; sim/strict [run long]; sim/strict [run a-long-nam…where-shown-whole]":            named(long, again),
	} {
		if got != want {
			t.Errorf("named %s, want %s", got, want)
		}
	}
	if long.Targets[0].Name != "sim/balanced" || long.Targets[0].LabelName != "" {
		t.Error("the run itself was changed")
	}
}
