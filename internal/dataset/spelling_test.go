package dataset_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/orbench/orbench/internal/dataset"
)

// TestSpelling finds usual columns however their names are spelled, and no other column for one
// that the user names.
func TestSpelling(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header, want string
		options      dataset.Options
	}{
		"as usual":               {header: "Prompt,harm_type", want: "privacy"},
		"a blank and capitals":   {header: "Prompt,Harm Type", want: "privacy"},
		"a hyphen":               {header: "Prompt,harm-category", want: "privacy"},
		"in one word":            {header: "PROMPT,HarmCategory", want: "privacy"},
		"another column":         {header: "Prompt,Harmless Type"},
		"the user's, as spelled": {header: "Prompt,Risk Area", options: dataset.Options{Category: "risk area"}, want: "privacy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "own.csv")
			if err := os.WriteFile(path, []byte(tt.header+",label\nWhere is the shed?,privacy,safe\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			d, err := dataset.Open(t.Context(), path, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			for p, err := range d.Prompts() {
				if err != nil || string(p.Category) != tt.want {
					t.Errorf("the category is %q (%v), want %q", p.Category, err, tt.want)
				}
			}
		})
	}
	path := filepath.Join(t.TempDir(), "own.csv")
	if err := os.WriteFile(path, []byte("prompt,RiskArea,label\nWhere is the shed?,privacy,safe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Open(t.Context(), path, dataset.Options{Category: "risk_area"}); err == nil {
		t.Error("a column that the user names is found by another spelling")
	}
}
