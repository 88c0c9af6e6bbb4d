package run

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
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

// TestWordingStays has a judge that an older program kept ask in its words, also as its run grows.
func TestWordingStays(t *testing.T) {
	t.Parallel()
	asks := func(j judge.Judge) string {
		_, missing := j.Verdict(judge.Case{Prompt: orbench.NewPrompt("How?", "", orbench.Safe), Response: model.Response{Text: "So.", Finish: model.Stop}}, model.NoReplies)
		if before, _, ok := strings.Cut(missing[0].Messages[0].Content, "The grades:"); ok && strings.Contains(before, "carry the code ") {
			return "old"
		}
		return "new"
	}
	was := Spec{Name: "llm:openai/m", MaxTokens: 9, Endpoints: map[string]string{"openai": ""}}
	now := was
	now.Wording = judge.Wording
	specs, judges := []Spec{now}, make([]judge.Judge, 1)
	var err error
	if judges[0], err = now.Judge(); err != nil || asks(judges[0]) != "new" {
		t.Fatalf("a new judge asks in %s words, %v", asks(judges[0]), err)
	}
	for anew, want := range map[string]string{"": "old", "again": "new"} {
		judges, specs := slices.Clone(judges), slices.Clone(specs)
		if err := Revise(judges, specs, []Spec{was}, anew); err != nil || asks(judges[0]) != want {
			t.Errorf("anew %q: the judge asks in %s words, want %s, %v", anew, asks(judges[0]), want, err)
		}
	}
}

// TestRevise has a judge of which other runs have the revision 2 ask for a run that has kept one,
// or none, of its own.
func TestRevise(t *testing.T) {
	t.Parallel()
	spec := func(revision string) Spec {
		return Spec{Name: "llm:openai/m", MaxTokens: 9, Endpoints: map[string]string{"openai": ""}, Wording: judge.Wording, Revision: revision}
	}
	for name, tt := range map[string]struct {
		kept        []Spec
		anew, asked string
	}{
		"it goes on":                 {[]Spec{spec("1")}, "", "1"},
		"with those before any":      {[]Spec{spec("")}, "", ""},
		"it is new to the run":       {nil, "", "2"},
		"anew, as others were":       {[]Spec{spec("1")}, "3", "2"},
		"anew, and the first so":     {[]Spec{spec("2")}, "3", "3"},
		"anew, and new to the run":   {nil, "3", "2"},
		"anew, in another's wording": {[]Spec{{Name: "llm:openai/m"}}, "3", "2"},
	} {
		specs, judges := []Spec{spec("2")}, make([]judge.Judge, 1)
		if err := Revise(judges, specs, tt.kept, tt.anew); err != nil || specs[0].Revision != tt.asked {
			t.Errorf("%s: asked by the revision %q, want %q, %v", name, specs[0].Revision, tt.asked, err)
		}
	}
}
