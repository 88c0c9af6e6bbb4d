package settings_test

import (
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/settings"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"lexical", "panel", "llm", "guard", "paper-keywords"}
	for name, want := range map[string]string{
		"lexcal":                "lexical",
		" Lexical":              "lexical",
		"pannel":                "panel",
		"lm":                    "llm",
		"paper_keyword":         "paper-keywords",
		"inspect":               "",
		"x":                     "",
		"":                      "",
		strings.Repeat("l", 99): "",
	} {
		if got := settings.Nearest(name, known); got != want {
			t.Errorf("%q means %q, want %q", name, got, want)
		}
	}
	if got := settings.Nearest("lexical", nil); got != "" {
		t.Errorf("of no names %q is near", got)
	}
}
