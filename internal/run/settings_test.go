package run

import (
	"os"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/study"
)

// TestSettingsAreInTheReference has every setting that a run can have in docs/schemas/result.json.
func TestSettingsAreInTheReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/schemas/result.json")
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{Name: "x", Endpoints: map[string]string{"p": ""}, Version: "1"}
	r := &Run{Config: EvalConfig{
		Datasets: []study.Dataset{{Ref: "d", SHA256: "ab", Options: dataset.Options{Default: "safe"}}}, Judges: []Spec{spec}, Defenses: []Spec{spec}, Until: &Until{evaluate.Rule{HalfWidth: 0.02}, spec},
	}}
	r.Targets = []evaluate.Target{{Name: "t"}}
	all := r.Settings()
	if len(all) < 25 {
		t.Errorf("only %d settings: %v", len(all), all)
	}
	for _, s := range all {
		if !strings.Contains(string(text), "`"+string(s.Name)+"`") {
			t.Errorf("docs/schemas/result.json does not name the setting %s", s.Name)
		}
	}
}
