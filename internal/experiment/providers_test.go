package experiment_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/experiment"
)

func TestProviders(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string][]string{
		"openai/gpt-4o":                     {"openai"},
		"ollama/llama3:8b":                  {"ollama"},
		"openrouter/meta-llama/llama-3:x@y": {"openrouter"},
		"sim/balanced":                      nil,
		"replay:data/answers.csv":           nil,
		"replay:/data/a, b/answers.csv":     nil,
		"lexical":                           nil,
		"lexical, llm:openai/gpt-4o":        {"openai"},
		"llm:ollama/llama3:8b":              {"ollama"},
		"guard:wildguard@vllm/w:7b":         {"vllm"},
		"panel:majority(llm:a/x,llm:b/y:1,guard:g@c/z,lexical)": {"a", "b", "c"},
		"panel:weighted(llm:a/x=2,llm:a/y=1)":                   {"a"},
		"llm:sim/judge":                                         nil,
	} {
		if diff := cmp.Diff(want, experiment.Providers([]string{spec})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
	if got := experiment.Providers([]string{"b/x", "a/y", "b/z"}); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("several name %q", got)
	}
}
