package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// ranks is the table of docs/architecture.md: a package imports only packages of
// lower ranks.
var ranks = map[string]int{
	"": 0, "stats": 0, "similar": 0, "internal/inorder": 0, "internal/spelling": 1, "internal/jsonlist": 1, "internal/settings": 1,
	"model":      1,
	"model/wire": 2, "refusal": 2, "internal/sealed": 2,
	"model/openai": 3, "model/anthropic": 3, "model/google": 3, "model/sim": 3,
	"model/modeltest": 3, "dataset": 3, "dataset/starter": 3, "judge": 3, "moderate": 3, "generator": 3,
	"internal/provider": 3, "internal/price": 3, "internal/paper": 3,
	"internal/memo": 3, "defense": 4, "internal/memo/sqlite": 4, "internal/memo/memotest": 4,
	"internal/fill": 5, "internal/experiment": 5, "internal/evaluate": 6, "internal/build": 6, "internal/audit": 6, "internal/compare": 7, "internal/report": 8, "internal/cli": 9, "cmd/orbench": 10,
}

// insideOnly are the folders whose packages are tools of one package.
var insideOnly = []string{"refusal/internal/"}

func TestLayers(t *testing.T) {
	t.Parallel()
	const module = "github.com/orbench/orbench"
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	name := func(path string) string { return strings.TrimPrefix(strings.TrimPrefix(path, module), "/") }
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for decoder.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		importer := name(p.ImportPath)
		if isTool(importer) {
			continue
		}
		rank, ok := ranks[importer]
		if !ok {
			t.Errorf("package %q has no rank: give it one here and in docs/architecture.md", importer)
			continue
		}
		for _, path := range p.Imports {
			if !strings.HasPrefix(path, module) {
				// Statistics lean on gonum; nothing else of rank 0 leans on anything.
				mayLean := importer == "stats" && strings.HasPrefix(path, "gonum.org/v1/gonum/")
				if rank == 0 && strings.Contains(path, ".") && !mayLean {
					t.Errorf("package %q is of rank 0 and imports %s: it may import the standard library only", importer, path)
				}
				continue
			}
			if imported := name(path); !isTool(imported) && ranks[imported] >= rank {
				t.Errorf("package %q (rank %d) imports %q (rank %d): move the code that needs it up, or the code that is needed down", importer, rank, imported, ranks[imported])
			}
		}
	}
}

func isTool(name string) bool {
	for _, prefix := range insideOnly {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "internal/keepdeps"
}
