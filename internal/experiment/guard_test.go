package experiment

import (
	"slices"
	"strings"
	"testing"
)

func TestGuardTargets(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		yaml string
		want string // part of the error, empty for none
	}{
		"alone":                   {"targets: [guard:llamaguard@vllm/meta-llama/Llama-Guard-3-8B]", ""},
		"with settings":           {"targets: ['guard:qwen3guard:strict@vllm/q', 'guard:qwen3guard@vllm/q']", ""},
		"framed and sampled":      {"targets: [guard:wildguard@vllm/w]\nvariants: {framings: [authority], temperatures: [{temperature: 1, samples: 3}]}", ""},
		"with the judge flag":     {"targets: [guard:wildguard@vllm/w]\njudges: [flag]", ""},
		"beside a model":          {"targets: [openai/gpt-4o, guard:wildguard@vllm/w]", "a run of their own"},
		"judged by another":       {"targets: [guard:wildguard@vllm/w]\njudges: [paper-keywords]", "reads answers"},
		"flag without a guard":    {"targets: [openai/gpt-4o]\njudges: [flag]", "no target is a guard"},
		"behind a defense":        {"targets: [guard:wildguard@vllm/w]\nvariants: {defenses: [self-reminder]}", "a defense"},
		"with a system prompt":    {"targets: [guard:wildguard@vllm/w]\nvariants: {system_prompts: [helpful-and-safe]}", "a system prompt"},
		"at the end of a dialog":  {"targets: [guard:wildguard@vllm/w]\nvariants: {turns: [exchange]}", ""},
		"with answers of its own": {"targets: [guard:wildguard@vllm/w]\nvariants: {turns: [exchange-own]}", "needs answers of the target"},
		"a dialog around answers": {"targets: [guard:wildguard@vllm/w]\ndatasets: [{dataset: x.csv, response_column: answer}]\nvariants: {turns: [exchange]}", "dialogs around prompts that end with answers"},
		"and in one variant":      {"targets: [guard:wildguard@vllm/w]\ndatasets: [{dataset: x.csv, response_column: answer}]\nvariants: {also: [{turns: exchange}]}", "dialogs around prompts that end with answers"},
		"no model":                {"targets: ['guard:wildguard@vllm']", "names no model"},
		"no format":               {"targets: ['guard:vllm/w']", "FORMAT@provider/model"},
		"a misspelt format":       {"targets: ['guard:wildgaurd@vllm/w']", `did you mean "wildguard"`},
		"a format of refusals":    {"targets: ['guard:or-judge@vllm/o']", "so they flag nothing"},
		"strict without grades":   {"targets: ['guard:wildguard:strict@vllm/w']", "takes no strict; formats that do are qwen3guard"},
		"threshold without score": {"targets: ['guard:polyguard:threshold=2@vllm/w']", "threshold"},
		"an unknown setting":      {"targets: ['guard:qwen3guard:strickt@vllm/w']", `did you mean "strict"`},
		"an unknown policy":       {"targets: ['guard:gpt-oss-safeguard:policy=papper@vllm/w']", "did you mean paper"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			yaml := tt.yaml + "\n"
			if !strings.Contains(yaml, "datasets:") {
				yaml += "datasets: [starter]\n"
			}
			f, err := Parse("x.yaml", []byte(yaml))
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want == "" && !slices.Equal(f.Judges, []string{"flag"}):
				t.Errorf("judged by %v, want flag", f.Judges)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestProvidersOfGuards(t *testing.T) {
	t.Parallel()
	got := Providers([]string{"guard:classifier:label=self-harm/intent@openai-moderation/omni-moderation-latest", "guard:wildguard@vllm/allenai/wildguard", "guard:llamaguard@sim/guard"})
	if want := []string{"openai-moderation", "vllm"}; !slices.Equal(got, want) {
		t.Errorf("providers %v, want %v", got, want)
	}
}
