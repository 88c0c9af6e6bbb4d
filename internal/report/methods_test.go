package report

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCited holds what --methods cites to CITATION.cff.
func TestCited(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../CITATION.cff")
	if err != nil {
		t.Fatal(err)
	}
	_, references, found := strings.Cut(string(text), "\nreferences:\n")
	if !found {
		t.Fatal("CITATION.cff has no references")
	}
	plain := strings.NewReplacer("{", "", "}", "").Replace(cited)
	values := regexp.MustCompile(`(?m)^ +(?:- )?(title|family-names|given-names|year|collection-title|url): "?(.+?)"?$`).FindAllStringSubmatch(references, -1)
	if len(values) < 12 {
		t.Fatalf("only %d values in CITATION.cff", len(values))
	}
	for _, v := range values {
		if !strings.Contains(plain, v[2]) {
			t.Errorf("%s %q of CITATION.cff is not cited", v[1], v[2])
		}
	}
}
