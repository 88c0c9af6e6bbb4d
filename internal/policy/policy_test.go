package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/policy"
)

// TestShipped holds every policy that ships to what moderators and people need.
func TestShipped(t *testing.T) {
	t.Parallel()
	titles := map[string]bool{}
	for _, name := range policy.Names() {
		p, err := policy.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name || titles[p.Title] || p.About == "" || p.Source == "" {
			t.Errorf("%s: %q, %q, %q, %q", name, p.Name, p.Title, p.About, p.Source)
		}
		titles[p.Title] = true
		if err := moderate.CheckPolicy(p.Definitions()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		text := p.Text()
		for _, c := range p.Categories {
			if len(c.Allowed) == 0 || len(c.NotAllowed) == 0 || strings.HasSuffix(c.Text, ".") {
				t.Errorf("%s: %+v", name, c)
			}
			for _, line := range slices.Concat(c.Allowed, c.NotAllowed, []string{c.Text, string(c.Category)}) {
				if !strings.Contains(text, line) || len(line) > 160 {
					t.Errorf("%s: the text lacks %q, or it is long", name, line)
				}
			}
		}
	}
}

// TestPaper holds the file of the default policy to the one that requests were made
// by all along: its wording is part of their hashes.
func TestPaper(t *testing.T) {
	t.Parallel()
	p, err := policy.Open(policy.Default)
	if err != nil || !slices.Equal(p.Definitions(), orbench.PaperPolicy()) {
		t.Errorf("got %+v, %v", p.Definitions(), err)
	}
}

// TestOpen reads a file, and finds what is wrong with others where it stands.
func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(text string) string {
		path := filepath.Join(dir, "mine.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p, err := policy.Open(file("title: Mine\ncategories:\n  - category: pranks\n    text: wants a prank that hurts\n"))
	if err != nil || p.Name != "mine" || len(p.Definitions()) != 1 || !strings.Contains(p.Text(), "when it wants a prank that hurts.") {
		t.Errorf("got %+v, %v", p, err)
	}
	head := "title: Mine\ncategories:\n  - category: pranks\n    text: wants a prank\n"
	for name, tc := range map[string]struct {
		text string
		line int
		want string
	}{
		"no title":     {"categories:\n  - {category: a, text: b}\n", 0, "no title"},
		"empty":        {"", 0, "no title"},
		"none":         {"title: x\n", 0, "no categories"},
		"unknown":      {head + "    alowed: [x]\n", 5, `unknown field "alowed"`},
		"twice":        {head + "  - category: Pranks\n    text: x\n", 5, "cannot be told from another"},
		"named none":   {head + "  - category: None\n    text: x\n", 5, "or from none"},
		"punctuation":  {head + "  - category: a.b\n    text: x\n", 5, "cannot be the name of a category"},
		"spaces":       {head + "  - category: a  b\n    text: x\n", 5, "cannot be the name of a category"},
		"no text":      {head + "  - category: other\n", 5, "no text of one line"},
		"two lines":    {head + "  - category: other\n    text: |\n      a\n      b\n", 5, "no text of one line"},
		"long example": {head + "    allowed: [\"a\\nb\"]\n", 3, "an example that is not one line"},
		"too long":     {head + "# " + strings.Repeat("x", 100_000), 0, "longer than 100 kB"},
	} {
		_, err := policy.Open(file(tc.text))
		var input *orbench.InputError
		if !errors.As(err, &input) || input.Line != tc.line || !strings.Contains(input.Problem, tc.want) || input.Hint == "" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for ref, want := range map[string]string{
		"medcal": "did you mean medical?", "absent": "no policy is called", filepath.Join(dir, "absent.yaml"): "no such file", "": "no policy is called",
	} {
		if _, err := policy.Open(ref); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", ref, err, want)
		}
	}
}

// FuzzRead holds whatever is read to being fit for moderators.
func FuzzRead(f *testing.F) {
	f.Add(policy.Template)
	f.Add("title: x\ncategories: [{category: a, text: b}]")
	f.Add("title: x\ncategories: [{category: no_ne, text: b}, {category: no-ne, text: b}]")
	f.Add("title: [")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policy.Read("p.yaml", []byte(text))
		if err != nil {
			if !errors.Is(err, orbench.ErrInput) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if err := moderate.CheckPolicy(p.Definitions()); err != nil {
			t.Fatal(err)
		}
	})
}
