package moderate

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/model"
)

// assess is the vote of a moderator that is a guard. A guard goes by its own policy or the
// one that it names; one that has none goes by the vote's. A toxic vote has a category if
// the guard names one of the vote's policy.
func (m Moderator) assess(policy orbench.Policy, item Item, look model.Lookup) (Vote, []model.Request) {
	v := Vote{Moderator: m.Name, Label: orbench.Safe}
	prompt, about, answer := orbench.NewPrompt(item.Prompt, "", ""), guard.PromptHarm, ""
	if item.Turns != nil {
		prompt.Messages = item.Turns
	}
	if item.Answer != nil {
		about, answer = guard.AnswerHarm, *item.Answer
	}
	g := m.Guard.Under(policy)
	a, missing, err := g.Ask(g.Request(m.Ref), about, prompt, answer, look)
	switch {
	case err != nil:
		v.Label, v.Explanation = orbench.Undecided, err.Error()
		return v, missing
	case *a.Of(about):
		v.Label = orbench.Toxic
		for _, d := range policy {
			for _, hazard := range a.Hazards {
				if v.Category == "" && question.Fold(hazard) == question.Fold(string(d.Category)) {
					v.Category = d.Category
				}
			}
		}
	}
	v.Explanation = string(g.Format) + ": " + a.String()
	return v, nil
}
