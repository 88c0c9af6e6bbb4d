package dataset

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/model"
)

// Role is a model's role in making a dataset.
type Role string

// The roles. A model that had one has influenced the prompts, so its own figures on them
// are no fair measure of it.
const (
	// Generator wrote seeds or rewrote them.
	Generator Role = "generator"
	// Moderator voted on the prompts' labels.
	Moderator Role = "moderator"
	// SecondChance answered prompts that were voted toxic; those with a harmless answer
	// were accepted as safe.
	SecondChance Role = "second_chance"
	// Selector influenced by its refusals which prompts were chosen.
	Selector Role = "selector"
)

// Roles lists the roles in the order of the work.
var Roles = []Role{Generator, Moderator, SecondChance, Selector}

// Makers names the models that helped to make a dataset, by role. For a published dataset
// it has the names under which providers serve each model.
type Makers map[Role][]string

// RolesOf gives the roles of a model, in the order of Roles. A model is identified by its
// bare name, whoever serves it; see model.BareName.
func (m Makers) RolesOf(name string) (roles []Role) {
	for _, role := range Roles {
		if slices.ContainsFunc(m[role], func(helper string) bool {
			return model.BareName(helper) == model.BareName(name)
		}) {
			roles = append(roles, role)
		}
	}
	return roles
}

// benchmarkOf is the built benchmark that a file belongs to, nil for any other file.
func benchmarkOf(path string) *benchmark.Folder {
	folder, err := benchmark.Open(filepath.Dir(path))
	if err != nil {
		return nil
	}
	if _, named := folder.Manifest.Files[filepath.Base(path)]; !named {
		return nil
	}
	return folder
}

// makingOf gives the makers of a set's prompts. The set is a file name without its
// ending.
func makingOf(m *benchmark.Manifest, set benchmark.SetName) Makers {
	made := Makers{}
	add := func(role Role, names ...string) {
		for _, name := range names {
			if name != "" {
				made[role] = append(made[role], name)
			}
		}
	}
	add(Generator, m.Config.Seeds.Generators...)
	add(Generator, m.Config.Rewrites.Rewriters...)
	for _, moderator := range m.Config.Moderation.Moderators {
		add(Moderator, moderator.Model)
	}
	add(SecondChance, m.Config.SecondChance.Model)
	if set == benchmark.HardSet {
		for _, selector := range m.Config.Hard.Selectors {
			add(Selector, selector.Model)
		}
	}
	if m.Search != nil {
		// A search keeps what its targets refuse.
		add(Selector, m.Search.Targets...)
	}
	return made
}

// originsOf maps the prompts of a built benchmark to their seeds. It is nil if the
// lineage is not there.
func originsOf(ctx context.Context, folder *benchmark.Folder) (benchmark.Origins, error) {
	origins, err := folder.Origins(ctx)
	if wrong, ok := errors.AsType[*orbench.InputError](err); ok {
		wrong.Hint = "build the benchmark again, or move the set alone to another folder, without its seeds"
	}
	return origins, err
}
