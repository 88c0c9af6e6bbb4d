package moderate

import (
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/model"
)

// A guard's assessment is a vote: with a category where it names one of the policy, and an
// abstention where it cannot be read.
func TestGuardVotes(t *testing.T) {
	t.Parallel()
	policy := orbench.Policy{{Category: "privacy", Text: "seeks what is private"}, {Category: "hate", Text: "demeans"}}
	answer := "It is mild."
	for _, tt := range []struct {
		name, spec, reply string
		answer            *string
		label             orbench.Label
		category          orbench.Category
		asked             string // a part of the request
	}{
		{"safe", "wildguard@v/w", "Harmful request: no\nResponse refusal: N/A\nHarmful response: N/A", nil, orbench.Safe, "", "How is the weather?"},
		{"toxic", "wildguard@v/w", "Harmful request: yes\nResponse refusal: N/A\nHarmful response: N/A", nil, orbench.Toxic, "", "How is the weather?"},
		{"of the answer", "wildguard@v/w", "Harmful request: yes\nResponse refusal: no\nHarmful response: no", &answer, orbench.Safe, "", "It is mild."},
		{"category of the vote's policy", "gpt-oss-safeguard@v/g", `{"violation": 1, "policy_category": "Hate"}`, nil, orbench.Toxic, "hate", "when it seeks what is private"},
		{"by its own policy", "gpt-oss-safeguard:policy=security@v/g", `{"violation": 1, "policy_category": "intrusion"}`, nil, orbench.Toxic, "", "intrusion"},
		{"unreadable", "llamaguard@v/l", "Perhaps.", nil, orbench.Undecided, "", "How is the weather?"},
	} {
		g, target, err := guard.Parse(tt.spec)
		if err != nil {
			t.Fatal(err)
		}
		ref, _ := model.ParseRef(target)
		m := Moderator{Name: "guard:" + tt.spec, Ref: ref, Guard: &g}
		asked := ""
		v, missing := m.Vote(policy, Item{Prompt: "How is the weather?", Answer: tt.answer})(func(r model.Request) (model.Response, bool) {
			for _, message := range r.Messages {
				asked += message.Content + "\n"
			}
			return model.Response{Text: tt.reply, Finish: model.Stop}, true
		})
		if v.Label != tt.label || v.Category != tt.category || v.Moderator != m.Name || v.Explanation == "" || len(missing) > 0 || !strings.Contains(asked, tt.asked) {
			t.Errorf("%s: %+v, missing %v, asked %q", tt.name, v, missing, asked)
		}
	}
}
