package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// projectRoot is the project's folder as this package's tests see it.
const projectRoot = "../.."

// walkProject calls visit for every folder and file of the project with its
// path, leaving out what no checkout has and what tests only read.
func walkProject(t *testing.T, visit func(path string, d fs.DirEntry)) {
	t.Helper()
	err := filepath.WalkDir(projectRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != projectRoot && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "reports") {
			return fs.SkipDir
		}
		visit(path, d)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	// code is what Markdown does not read for links: fenced blocks and spans.
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// TestLinks follows every relative link of the Markdown files: the file must
// exist, and a heading for what stands after #.
func TestLinks(t *testing.T) {
	t.Parallel()
	links := 0
	walkProject(t, func(path string, d fs.DirEntry) {
		if d.IsDir() || filepath.Ext(path) != ".md" {
			return
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
			return
		}
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			u, err := url.Parse(match[1])
			if err != nil {
				t.Errorf("%s: the link %s is malformed: %v", path, match[1], err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			links++
			target := path
			if u.Path != "" {
				target = filepath.Join(filepath.Dir(path), u.Path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere: %v", path, match[1], err)
				continue
			}
			if u.Fragment != "" && !hasHeading(t, target, u.Fragment) {
				t.Errorf("%s: %s has no heading for the link %s", path, target, match[1])
			}
		}
	})
	if links == 0 {
		t.Error("no link was found: the test looks in the wrong place")
	}
}

// TestDocsSayForWhom finds in the first line below each page's title whom it is for.
func TestDocsSayForWhom(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(projectRoot, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, path := range append(pages, filepath.Join(projectRoot, "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, below, _ := strings.Cut(string(text), "\n\n"); !strings.HasPrefix(below, "For whoever ") {
			t.Errorf("%s: begin the line below the title with For whoever, and say whom the page is for", path)
		}
	}
}

// TestSiteHasEveryPage holds the contents of the documentation site to the pages of docs.
func TestSiteHasEveryPage(t *testing.T) {
	t.Parallel()
	_, nav, _ := strings.Cut(readDoc(t, "scripts/zensical.toml"), "\nnav = ")
	for _, page := range docPages(t) {
		if name := strings.TrimPrefix(page, "docs/"); strings.Count(nav, `"`+name+`"`) != 1 {
			t.Errorf("nav in scripts/zensical.toml has %s %d times, want once", name, strings.Count(nav, `"`+name+`"`))
		}
	}
}

// docPages lists the pages of docs, by their paths in the project.
func docPages(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"*.md", "tutorial/*.md"} {
		paths, err := filepath.Glob(filepath.Join(projectRoot, "docs", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, paths, err)
		}
		for _, path := range paths {
			pages = append(pages, filepath.ToSlash(strings.TrimPrefix(path, projectRoot+string(filepath.Separator))))
		}
	}
	return pages
}

// TestDocsAreShort prints how many words the docs have, with what is generated in them, and
// holds them to lengths that people read.
func TestDocsAreShort(t *testing.T) {
	t.Parallel()
	all := 0
	for _, page := range append(docPages(t), "README.md", "CONTRIBUTING.md") {
		words := len(strings.Fields(readDoc(t, page)))
		t.Logf("%6d %s", words, page)
		all += words
	}
	count := func(page string) int { return len(strings.Fields(readDoc(t, page))) }
	for _, bound := range []struct {
		what        string
		words, most int
		remedy      string
	}{
		{"README.md", count("README.md"), 700, "say it on a page of docs, and link to that"},
		{"docs/architecture.md", count("docs/architecture.md"), 2500, "put reasons into docs/decisions.md"},
		{"all of it", all, 30_000, "cut what --help, another page or the program says"},
	} {
		t.Logf("%6d %s, of %d", bound.words, bound.what, bound.most)
		if bound.words > bound.most {
			t.Errorf("%s: %d words, want at most %d: %s", bound.what, bound.words, bound.most, bound.remedy)
		}
	}
}

// hasHeading reports whether a Markdown file has a heading with that anchor.
func hasHeading(t *testing.T, path, anchor string) bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return false
	}
	for _, match := range heading.FindAllStringSubmatch(string(text), -1) {
		if anchorOf(match[1]) == anchor {
			return true
		}
	}
	return false
}

// anchorOf is the anchor that GitHub gives a heading: lower case, blanks as
// hyphens, and nothing else but letters, digits, hyphens and underscores.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// TestPackageComments looks for the comment of every package in its doc.go.
func TestPackageComments(t *testing.T) {
	t.Parallel()
	packages := map[string]bool{}
	walkProject(t, func(path string, d fs.DirEntry) {
		if !d.IsDir() && filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") {
			packages[filepath.Dir(path)] = true
		}
	})
	if len(packages) < 10 {
		t.Fatalf("only %d packages were found: the test looks in the wrong place", len(packages))
	}
	for dir := range packages {
		path := filepath.Join(dir, "doc.go")
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Errorf("%s: %v; say in a doc.go what the package is for", dir, err)
			continue
		}
		if !opensWell(f) {
			t.Errorf(`%s: the package comment should open with "Package %s" or "Command"`, path, f.Name.Name)
		}
	}
}

// opensWell reports whether a file has a package comment that opens in the way
// that godoc expects.
func opensWell(f *ast.File) bool {
	if f.Doc == nil {
		return false
	}
	text := f.Doc.Text()
	if f.Name.Name == "main" {
		return strings.HasPrefix(text, "Command ")
	}
	return strings.HasPrefix(text, "Package "+f.Name.Name+" ")
}
