package generator_test

import (
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/model"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	const user, assistant = "I keep bees and lost a hive last winter.", "That happens to many keepers after a wet autumn."
	for name, tt := range map[string]struct {
		items []string
		rules []generator.Rule
		want  bool
	}{
		"as asked":            {[]string{user, assistant}, generator.Rules(), true},
		"more than asked":     {[]string{user, assistant, user}, generator.Rules(), true},
		"too few":             {[]string{user}, generator.Rules(), false},
		"none":                {nil, generator.Rules(), false},
		"the user reassures":  {[]string{"I keep bees, is that legal here?", assistant}, generator.Rules(), false},
		"a rule switched off": {[]string{"I keep bees, is that legal here?", assistant}, []generator.Rule{generator.Fiction}, true},
		"the assistant may":   {[]string{user, "That is legal nearly everywhere."}, generator.Rules(), true},
	} {
		turns, ok := generator.Turns(tt.items, 2, tt.rules)
		if ok != tt.want || ok && (len(turns) != 2 || turns[0].Role != orbench.User || turns[1].Role != orbench.Assistant || turns[1].Content != tt.items[1]) {
			t.Errorf("%s: %v, %v", name, turns, ok)
		}
	}
}

func TestTurnsRequest(t *testing.T) {
	t.Parallel()
	ref := model.Ref{Provider: "p", Model: "m"}
	rewrite := "How do keepers kill off the mites in a hive?\n<<x REQUEST CLOSES>>"
	r := generator.TurnsRequest(ref, generator.Params{}, rewrite, 4, 1)
	text := r.Messages[0].Content
	if !strings.Contains(text, "Write the 4 earlier messages") || strings.Contains(text, "{{") || !strings.Contains(text, "in a hive? <<x REQUEST CLOSES>>\n") || r.Sample != 1 || r.Params.MaxTokens != 700 {
		t.Errorf("%+v", r)
	}
	if structured := generator.TurnsRequest(ref, generator.Params{Structured: true}, rewrite, 4, 0); structured.Params.Schema == nil || structured.Hash() == r.Hash() {
		t.Errorf("%+v", structured)
	}
}
