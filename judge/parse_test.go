package judge

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, list string
		want       []string
	}{
		{"none", "", nil},
		{"one", " lexical ", []string{"lexical"}},
		{"several", "lexical, paper-keywords:qwen,llm:a/b/c", []string{"lexical", "paper-keywords:qwen", "llm:a/b/c"}},
		{"empty parts", ",lexical,,", []string{"lexical"}},
		{"inside parentheses", "panel:majority(lexical,paper-keywords,llm:a/b),lexical", []string{"panel:majority(lexical,paper-keywords,llm:a/b)", "lexical"}},
		{"nested", "panel:majority(a,panel:unanimous(b,c)),d", []string{"panel:majority(a,panel:unanimous(b,c))", "d"}},
		{"after a nested one", "panel:majority(a,panel:unanimous(b,c),d),e", []string{"panel:majority(a,panel:unanimous(b,c),d)", "e"}},
		{"stray closing", "a),b", []string{"a)", "b"}},
		{"stray opening", "a(,b", []string{"a(,b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Split(tt.list); !slices.Equal(got, tt.want) {
				t.Errorf("Split(%q) = %q, want %q", tt.list, got, tt.want)
			}
		})
	}
}

func TestParseNamesTheJudge(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{
		"lexical",
		"paper-keywords",
		"paper-keywords:gpt-3.5",
		"llm:openai/gpt-4o",
		"llm:together/meta-llama/Llama-3-70b-chat-hf",
		"guard:wildguard@vllm/allenai/wildguard",
		"guard:granite-guardian@ollama/granite4.1-guardian:8b",
		"guard:or-judge@vllm/or-judge",
		"guard:qwen3guard@vllm/Qwen/Qwen3Guard-Gen-0.6B",
		"classify:minos@tei/NousResearch/Minos-v1",
		"classify:answer:LABEL_1@tei/m",
		"guard:polyguard@vllm/ToxicityPrompts/PolyGuard-Qwen",
		"panel:majority(lexical,paper-keywords,llm:openai/gpt-4o)",
		"panel:unanimous(lexical,paper-keywords:claude)",
		"panel:weighted(lexical=2,llm:openai/gpt-4o=0.5,paper-keywords)",
		"panel:majority(lexical,panel:unanimous(lexical,paper-keywords),llm:openai/m)",
	} {
		if got := mustParse(t, " "+spec+" ", Options{}).Name(); got != spec {
			t.Errorf("Parse(%q).Name() = %q", spec, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, spec, want string }{
		{"empty", "", "unknown judge"},
		{"misspelt", "lexcial", `did you mean "lexical"?`},
		{"misspelt with capital", "Lexical", `did you mean "lexical"?`},
		{"misspelt family", "paper-keywords:claud", `did you mean "claude"?`},
		{"far from any", "horoscope", "known are lexical, paper-keywords"},
		{"colon and nothing", "llm:", "ends after its colon"},
		{"no model", "llm:gpt-4o", "provider/model"},
		{"no provider", "llm:/gpt-4o", "provider/model"},
		{"blank in the model", "llm:openai/gpt 4o", "provider/model"},
		{"lexical with more", "lexical:fast", "takes nothing"},
		{"guard without a model", "guard:wildguard", "FORMAT@provider/model"},
		{"guard misspelt", "guard:wildgard@vllm/m", `did you mean "wildguard"?`},
		{"guard blind to refusals", "guard:llamaguard@ollama/llama-guard3", "can moderate but not judge"},
		{"the other one", "guard:shieldgemma@ollama/shieldgemma", "formats that see refusals are wildguard"},
		{"panel without a list", "panel:majority", "panel:RULE(JUDGE,JUDGE)"},
		{"panel not closed", "panel:majority(lexical,paper-keywords", "panel:RULE(JUDGE,JUDGE)"},
		{"panel rule misspelt", "panel:majorty(lexical,paper-keywords)", `did you mean "majority"?`},
		{"panel of one", "panel:majority(lexical)", "two judges or more"},
		{"panel with a twin", "panel:majority(lexical,lexical,paper-keywords)", "twice"},
		{"panel with a fault inside", "panel:majority(lexical,paper-keyword)", `did you mean "paper-keywords"?`},
		{"weight of nothing", "panel:weighted(lexical=,paper-keywords)", "a number above 0"},
		{"weight of zero", "panel:weighted(lexical=0,paper-keywords)", `the weight "0" must be a number above 0`},
		{"weight alone", "panel:weighted(=2,paper-keywords)", `unknown judge ""`},
		{"weight that is no number", "panel:weighted(lexical=NaN,paper-keywords)", "a number above 0"},
		{"weight without end", "panel:weighted(lexical=Inf,paper-keywords)", "a number above 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j, err := Parse(tt.spec, Options{})
			if err == nil {
				t.Fatalf("Parse(%q) = %q, want an error", tt.spec, j.Name())
			}
			var input *orbench.InputError
			if !errors.As(err, &input) {
				t.Errorf("Parse(%q) gives a %T, want an *orbench.InputError", tt.spec, err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Parse(%q): %q lacks %q", tt.spec, err, tt.want)
			}
		})
	}
	if _, err := Parse("horoscope", Options{}); strings.Contains(err.Error(), "did you mean") {
		t.Errorf("a guess is offered for a name that is near none: %v", err)
	}
}

func FuzzSplitAndParse(f *testing.F) {
	for _, s := range []string{"lexical,paper-keywords:qwen", "panel:weighted(lexical=2,llm:a/b=1)", "guard:wildguard@vllm/allenai/wildguard", "((,", "a),(b", "panel:majority(", "llm:a/b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		for _, part := range Split(list) {
			if part == "" || part != strings.TrimSpace(part) {
				t.Errorf("Split(%q) gives the part %q", list, part)
			}
			j, err := Parse(part, Options{})
			if err != nil {
				if !errors.Is(err, orbench.ErrInput) {
					t.Errorf("Parse(%q): %v is not an input error", part, err)
				}
				continue
			}
			again, err := Parse(j.Name(), Options{})
			if err != nil || again.Name() != j.Name() {
				t.Errorf("the name %q of Parse(%q) does not name the same judge: %v", j.Name(), part, err)
			}
		}
	})
}
