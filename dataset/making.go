package dataset

import (
	"slices"

	"github.com/orbench/orbench/model"
)

// Role is a model's part in the making of a dataset.
type Role string

// The roles. A model that had one is no stranger to the prompts, and its own
// figures on them are no fair measure of it.
const (
	// Generator wrote seeds or rewrote them.
	Generator Role = "generator"
	// Moderator voted on what prompts are.
	Moderator Role = "moderator"
	// SecondChance answered prompts that were voted toxic; those that it answered
	// harmlessly were taken as safe.
	SecondChance Role = "second_chance"
	// Selector had its refusals decide which prompts were taken.
	Selector Role = "selector"
)

// Roles lists the roles in the order of the work.
var Roles = []Role{Generator, Moderator, SecondChance, Selector}

// Making names the models that helped to make a dataset, by their role. Of a
// published dataset it has the names under which providers serve each model.
type Making map[Role][]string

// RolesOf gives the parts that a model had, in the order of Roles. A model is
// known by its bare name, whoever serves it; see model.BareName.
func (m Making) RolesOf(name string) []Role {
	var roles []Role
	for _, role := range Roles {
		if slices.ContainsFunc(m[role], func(helper string) bool {
			return model.BareName(helper) == model.BareName(name)
		}) {
			roles = append(roles, role)
		}
	}
	return roles
}
