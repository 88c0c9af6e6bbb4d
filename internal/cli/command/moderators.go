package command

import (
	"slices"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/moderate"
)

// Moderators finds the models and guards that --moderator names, each of which may vote once.
// maxTokens bounds their explanations.
func Moderators(clients *client.Set, names []string, maxTokens int) (all []moderate.Moderator, err error) {
	if len(names) == 0 {
		return nil, InputError("--moderator", "no moderator is named", "name models, such as sim/moderator-a,sim/moderator-b,sim/moderator-c")
	}
	for _, name := range names {
		ref, g, err := clients.Moderator(name, guard.PromptHarm)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(m moderate.Moderator) bool { return m.Name == name }) {
			return nil, InputError("--moderator", name+" is named twice and would cast the same vote twice", "name another model")
		}
		all = append(all, moderate.Moderator{Name: name, Ref: ref, MaxTokens: maxTokens, Structured: clients.Structured(ref.Provider), Guard: g})
	}
	return all, nil
}
