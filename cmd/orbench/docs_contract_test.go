package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	domain "github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
)

// readDoc gives the text of a document, by its path in the project.
func readDoc(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(projectRoot, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestProvidersDocumented finds every provider, with its variables, in docs/cli.md.
func TestProvidersDocumented(t *testing.T) {
	t.Parallel()
	lines := strings.Split(readDoc(t, "docs/cli.md"), "\n")
	for _, p := range provider.Default() {
		var row string
		for _, line := range lines {
			if strings.HasPrefix(line, "| `"+p.Name+"` |") {
				row = line
			}
		}
		want := append([]string{strconv.Itoa(p.Concurrency)}, p.KeyEnv...)
		if p.BaseURLEnv != "" {
			want = append(want, p.BaseURLEnv)
		}
		for _, w := range want {
			if !strings.Contains(row, w) {
				t.Errorf("docs/cli.md lacks %q in the row of the provider %s: %q", w, p.Name, row)
			}
		}
	}
}

// TestDatasetsDocumented finds every named dataset in docs/datasets.md.
func TestDatasetsDocumented(t *testing.T) {
	t.Parallel()
	text := readDoc(t, "docs/datasets.md")
	for _, e := range dataset.List("") {
		if !strings.Contains(text, "`"+e.Name+"`") {
			t.Errorf("docs/datasets.md does not name the dataset %s", e.Name)
		}
		if !strings.Contains(text, e.Repo) {
			t.Errorf("docs/datasets.md does not name the repository %s of %s", e.Repo, e.Name)
		}
	}
}

// TestFieldsDocumented finds every field of the files that users write in
// docs/cli.md or, those of classifiers, in docs/guards.md, and every class in
// docs/output.md.
func TestFieldsDocumented(t *testing.T) {
	t.Parallel()
	pages := readDoc(t, "docs/cli.md") + readDoc(t, "docs/guards.md")
	for _, v := range []any{provider.Provider{}, price.Price{}} {
		for _, field := range jsonFields(reflect.TypeOf(v), map[reflect.Type]bool{}) {
			if !strings.Contains(pages, "`"+field+"`") {
				t.Errorf("docs/cli.md and docs/guards.md lack the field %s of %T", field, v)
			}
		}
	}
	text := readDoc(t, "docs/output.md")
	for _, c := range domain.Classes {
		if !strings.Contains(text, "| `"+string(c)+"` |") || !strings.Contains(text, "`"+string(c.Paper())+"`") {
			t.Errorf("docs/output.md has no row for the class %s", c)
		}
	}
}

// TestLongProofsRun finds the proofs that wait for ORBENCH_LONG switched on in
// what continuous integration runs.
func TestLongProofsRun(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{".ci/run": `ORBENCH_LONG=1 make test PACKAGES="$proofs ${quiet[*]}" TAGS="-tags sdk"`, "Makefile": "ORBENCH_LONG=1 $(MAKE) lint test TAGS='-tags sdk' TESTFLAGS='-race"} {
		if !strings.Contains(readDoc(t, doc), want) {
			t.Errorf("%s has no %q: nothing runs the long proofs", doc, want)
		}
	}
	if !strings.Contains(readDoc(t, ".ci/run"), "\nCGO_ENABLED=1 make test PACKAGES=\"${watched[*]}\" TESTFLAGS=\"-race -timeout 20m") {
		t.Error(".ci/run has no make test with the race detector")
	}
}

// TestFuzzTargets holds the list of make fuzz to the fuzz targets that there are.
func TestFuzzTargets(t *testing.T) {
	t.Parallel()
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	there := map[string]bool{}
	walkProject(t, func(path string, d fs.DirEntry) {
		if !strings.HasSuffix(path, "_test.go") {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		dir, _ := strings.CutPrefix(filepath.ToSlash(filepath.Dir(path)), projectRoot)
		for _, match := range target.FindAllStringSubmatch(string(text), -1) {
			there["."+dir+":"+match[1]] = true
		}
	})
	for _, listed := range regexp.MustCompile(`\./\S+:Fuzz\w+`).FindAllString(readDoc(t, "Makefile"), -1) {
		if !there[listed] {
			t.Errorf("FUZZES of the Makefile names %s, which is not there: take it out, or name where it is now", listed)
		}
		delete(there, listed)
	}
	for name := range there {
		t.Errorf("FUZZES of the Makefile lacks %s: add it", name)
	}
}

// jsonFields lists the JSON names of a struct's fields and of those below it.
func jsonFields(typ reflect.Type, seen map[reflect.Type]bool) []string {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return jsonFields(typ.Elem(), seen)
	case reflect.Struct:
	default:
		return nil
	}
	if seen[typ] {
		return nil
	}
	seen[typ] = true
	var names []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name != "" {
			names = append(names, name)
		}
		names = append(names, jsonFields(f.Type, seen)...)
	}
	return names
}
