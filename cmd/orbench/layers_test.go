package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the path of the project's root package.
const module = "github.com/orbench/orbench"

// A layer is a row of the package table in docs/packages.md.
type layer struct {
	pkg     string   // the path below the module; "orbench" is the root
	imports []string // likewise, sorted
	// plain packages import the standard library alone, and what libraries names.
	plain     bool
	libraries string
}

// readLayers reads the package table: the rows, in the page's order.
func readLayers(t *testing.T) []layer {
	t.Helper()
	_, table, found := strings.Cut(readDoc(t, "docs/packages.md"), "\n| package |")
	table, _, _ = strings.Cut(table, "\n## ")
	if !found {
		t.Fatal("docs/packages.md has no table of packages")
	}
	name := regexp.MustCompile("`([^`]+)`")
	var layers []layer
	groups := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		switch {
		case strings.HasPrefix(line, "| **"):
			groups++
		case strings.HasPrefix(line, "| `"):
			if len(cells) != 4 {
				t.Fatalf("docs/packages.md: write the row as | `package` | `import` `import` |: %s", line)
			}
			l := layer{pkg: name.FindStringSubmatch(cells[1])[1], plain: groups == 1}
			for _, match := range name.FindAllStringSubmatch(cells[2], -1) {
				l.imports = append(l.imports, match[1])
			}
			if !slices.IsSorted(l.imports) {
				t.Errorf("docs/packages.md: sort the imports of %s", l.pkg)
			}
			l.libraries = name.ReplaceAllString(cells[2], "")
			layers = append(layers, l)
		}
	}
	if len(layers) < 20 {
		t.Fatalf("docs/packages.md has only %d packages in its table: the test reads it wrongly", len(layers))
	}
	return layers
}

// TestLayers holds the imports of every package to the package table of
// docs/packages.md, and the table to the imports.
func TestLayers(t *testing.T) {
	t.Parallel()
	made := importsOf(t)
	above := map[string]bool{} // the rows read so far
	for _, l := range readLayers(t) {
		imports, ok := made[l.pkg]
		delete(made, l.pkg)
		switch {
		case above[l.pkg]:
			t.Errorf("%s has two rows: keep one", l.pkg)
			continue
		case !ok:
			t.Errorf("there is no package %s: delete its row", l.pkg)
			continue
		}
		var own []string
		for _, path := range imports {
			switch path, isOwn := ownName(path); {
			case isOwn:
				own = append(own, strings.TrimPrefix(path, "internal/"))
				if !above[path] {
					t.Errorf("%s imports %s, whose row is not above its own: move the row, or the code that needs the import", l.pkg, path)
				}
			case l.plain && strings.Contains(path, ".") && !namesLibrary(l.libraries, path):
				t.Errorf("%s imports %s: a package of the first group imports the standard library only", l.pkg, path)
			}
		}
		for _, path := range own {
			if !slices.Contains(l.imports, path) {
				t.Errorf("%s imports %s, which its row does not list: move the code that needs it, or list the import if the package should know of the other", l.pkg, path)
			}
		}
		for _, path := range l.imports {
			if !slices.Contains(own, path) {
				t.Errorf("%s does not import %s: take it from its row", l.pkg, path)
			}
		}
		above[l.pkg] = true
	}
	for pkg, imports := range made {
		t.Errorf("package %s (imports %v) has no row: add one below the packages that it imports", pkg, imports)
	}
}

// TestPublicTypes holds exported functions and types of public packages to types that
// their users can name: none is of an internal package.
func TestPublicTypes(t *testing.T) {
	t.Parallel()
	// judge.Options.Guard is a hook that only packages of this module can set.
	allowed := []string{"Options.Guard"}
	for pkg := range importsOf(t) {
		if strings.Contains(pkg, "internal/") || strings.HasPrefix(pkg, "cmd/") {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", "..", strings.TrimPrefix(pkg, "orbench"), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", pkg, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			internal := map[string]bool{}
			for _, i := range file.Imports {
				if path := strings.Trim(i.Path.Value, `"`); strings.Contains(path, "/internal/") {
					internal[filepath.Base(path)] = true
				}
			}
			for what, node := range exported(file) {
				ast.Inspect(node, func(n ast.Node) bool {
					if of, ok := n.(*ast.SelectorExpr); ok {
						if x, ok := of.X.(*ast.Ident); ok && internal[x.Name] && !slices.Contains(allowed, what) {
							t.Errorf("%s: %s shows %s.%s, which is internal", set.Position(n.Pos()), what, x.Name, of.Sel.Name)
						}
					}
					return true
				})
			}
		}
	}
}

// exported gives the types that users of a file's exported names see.
func exported(file *ast.File) map[string]ast.Node {
	seen := map[string]ast.Node{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.IsExported() {
				seen[n.Name.Name] = n.Type
			}
			return false
		case *ast.TypeSpec:
			fields, ok := n.Type.(*ast.StructType)
			if n.Name.IsExported() && !ok {
				seen[n.Name.Name] = n.Type
			}
			for i := 0; ok && n.Name.IsExported() && i < len(fields.Fields.List); i++ {
				for _, name := range fields.Fields.List[i].Names {
					if name.IsExported() {
						seen[n.Name.Name+"."+name.Name] = fields.Fields.List[i].Type
					}
				}
			}
			return false
		}
		return true
	})
	return seen
}

// importsOf lists what each package of the project imports, tests aside.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	made := map[string][]string{}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for decoder.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name, _ := ownName(p.ImportPath)
		made[name] = p.Imports
	}
	return made
}

// ownName is the path of a package below the module, and whether it is one of
// the project's.
func ownName(path string) (name string, own bool) {
	if path == module {
		return "orbench", true
	}
	return strings.CutPrefix(path, module+"/")
}

// namesLibrary reports whether a word of a row's cell is part of a library's path.
func namesLibrary(cell, path string) bool {
	return slices.ContainsFunc(strings.Fields(cell), func(word string) bool { return strings.Contains(path, word) })
}

// TestArchitecture finds every path that docs/architecture.md names for what is to be
// changed.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	page := readDoc(t, "docs/architecture.md")
	_, where, found := strings.Cut(page, "\n## Where do I put")
	if !found {
		t.Fatal("docs/architecture.md does not say where to put what")
	}
	paths := 0
	for _, match := range regexp.MustCompile("`([a-zA-Z0-9_./-]+)`").FindAllStringSubmatch(where, -1) {
		path := match[1]
		if !strings.Contains(path, "/") && !strings.HasPrefix(path, ".") && filepath.Ext(path) != ".go" && filepath.Ext(path) != ".yml" {
			continue
		}
		if path == "commands.go" {
			continue // in several folders, which the row names
		}
		paths++
		if _, err := os.Stat(filepath.Join(projectRoot, path)); err != nil {
			t.Errorf("docs/architecture.md names %s, which is not there", path)
		}
	}
	if paths < 40 {
		t.Errorf("only %d paths were found: the test reads the page wrongly", paths)
	}
}
