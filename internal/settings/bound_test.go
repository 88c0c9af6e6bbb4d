package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
)

// aliases are nested so deep, each level ten times the one before.
func aliases(levels int) string {
	text := "l0: &l0 [word]\n"
	for i := 1; i <= levels; i++ {
		text += fmt.Sprintf("l%d: &l%d [%s*l%d]\n", i, i, strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 9), i-1)
	}
	return text
}

func keys(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "k%d: 1\n", i)
	}
	return text.String()
}

// Texts that would take gigabytes or minutes to read are refused, with the bound that
// each meets and its line.
func TestBounds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		line int
		want string
	}{
		"long":               {"name: " + strings.Repeat("x", maxText), 1, "more than 1048576 bytes"},
		"aliases of aliases": {aliases(10), 7, "with its aliases expanded, the file has more than 1048576 bytes"},
		"a long text often":  {"a: &a " + strings.Repeat("x", 1000) + "\nb:\n" + strings.Repeat("- *a\n", 2000), 1048, "aliases expanded"},
		"an anchor twice":    {"a: &a [*b]\nb: &b 1\nc: &a 2\n", 3, `a second anchor is called "a"`},
		"brackets":           {"a:\n  " + strings.Repeat("[", 50_000), 2, "more than 100 lists and mappings are nested"},
		"closed brackets":    {strings.Repeat("[", 101) + strings.Repeat("]", 101), 1, "more than 100 lists"},
		"braces":             {"a: " + strings.Repeat("{a: ", 50_000), 1, "more than 100 lists"},
		"hyphens":            {strings.Repeat("- ", 50_000), 1, "more than 100 lists"},
		"question marks":     {strings.Repeat("? ", 50_000), 1, "more than 100 lists"},
		"many keys":          {keys(20_000), 10_001, "the mapping has more than 10000 keys"},
		"many keys in one":   {"a: {" + strings.ReplaceAll(keys(20_000), "\n", ",") + "}", 1, "the mapping has more than 10000 keys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var into any
			err := Decode("f", []byte(tc.text), &into, "hint")
			var input *orbench.InputError
			if !errors.As(err, &input) || input.Line != tc.line || input.Hint == "" || !strings.Contains(input.Problem, tc.want) {
				t.Errorf("got %.300v", err)
			}
		})
	}
}

// What people write stays readable, up to the bounds.
func TestWithinBounds(t *testing.T) {
	t.Parallel()
	list := strings.Repeat("- {provider: p, model: m, input: 1, output: 2}\n", 1000)
	for name, text := range map[string]string{
		"aliases":      "a: &a\n  b: &b [1, 2]\n  c: *b\nd: *a\ne:\n  <<: *a\n",
		"nested":       aliases(4),
		"depth":        strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
		"keys":         keys(1000),
		"a long list":  list,
		"brackets end": strings.Repeat("- [[[[]]]]\n- - - a\n  - a: [{a: 1}]\n    b: 2\n", 200),
		"text":         "a: |\n" + strings.Repeat("  - [ { &a *a\n", 1000),
	} {
		var into any
		if err := Decode("f", []byte(text), &into, ""); err != nil {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}

func TestReadFileReadsNoMore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "long.yaml")
	if err := os.WriteFile(path, []byte("# nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A file with a hole takes no space.
	if err := os.Truncate(path, 8<<30); err != nil {
		t.Fatal(err)
	}
	text, err := ReadFile(path, "")
	if err != nil || len(text) != maxText+1 {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
}
