package construct

import (
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/model"
)

// Models lists the names of the models that are asked, without those of the judge.
func (b *Builder) Models() []string {
	names := b.Config.Models()
	if b.Search != nil {
		names = append(slices.Clip(names), b.Search.Targets...)
	}
	return names
}

// Connect gives the builder the models and the judge of its configuration. Errors name
// the configuration as file.
func (b *Builder) Connect(clients *client.Set, file string) (err error) {
	b.Refs, b.Guards = map[string]model.Ref{}, map[string]*guard.Guard{}
	for _, name := range b.Models() {
		if !slices.ContainsFunc(b.Config.Moderation.Moderators, func(m benchmark.Moderator) bool { return m.Model == name }) {
			b.Refs[name], err = clients.Model(name, "")
		} else if b.Refs[name], b.Guards[name], err = clients.Moderator(name, guard.PromptHarm); b.Guards[name] == nil {
			delete(b.Guards, name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	judges, err := clients.Judges([]string{b.Config.Hard.Judge}, b.Config.Moderation.MaxTokens)
	if err != nil {
		return err
	}
	if len(judges) != 1 {
		return &orbench.InputError{File: file, Problem: "hard.judge names more than one judge", Hint: "name one, or a panel:RULE(JUDGE,...)"}
	}
	b.Judge = judges[0]
	b.Structured = clients.Structured
	b.StructuredLists = func(provider string) bool {
		// Simulated generators are asked like models that support no schema. So every
		// trial covers all forms of lists.
		return provider != sim.Provider && clients.Structured(provider)
	}
	return nil
}
