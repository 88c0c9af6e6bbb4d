package benchmark

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/generator"
)

// Generator counts what a model wrote in one role, GeneratorRole or RewriterRole.
type Generator struct {
	Role  Role   `json:"role"`
	Model string `json:"model"`
	// Asked counts the items that were requested in calls that gave a reply, Items those in
	// the replies, and Used those that went on, or were more than was wanted.
	Asked int `json:"asked"`
	Items int `json:"items"`
	Used  int `json:"used"`
	// Repeated counts duplicates, near duplicates and items with a common opening.
	Repeated int `json:"repeated,omitempty"`
	// Habits counts the items with each habit, mended or dropped.
	Habits map[generator.Habit]int `json:"habits,omitempty"`
	// Voted counts the seeds of the model that the votes decided, and Toxic those that were
	// voted toxic.
	Voted int `json:"voted,omitempty"`
	Toxic int `json:"toxic,omitempty"`
}

// The numbers from which a generator is judged.
const (
	fewestAsked = 20
	fewestVoted = 10
)

// HabitLine lists the habits of the model, the most common first, or "" if it has none.
func (g Generator) HabitLine() string {
	if len(g.Habits) == 0 {
		return ""
	}
	habits := slices.DeleteFunc(generator.Habits(), func(h generator.Habit) bool { return g.Habits[h] == 0 })
	slices.SortStableFunc(habits, func(a, b generator.Habit) int { return cmp.Compare(g.Habits[b], g.Habits[a]) })
	var found []string
	for _, h := range habits {
		found = append(found, fmt.Sprintf("%d %s", g.Habits[h], h))
	}
	return fmt.Sprintf("Habits of %s as %s, in %d items: %s.", g.Model, g.Role, g.Items, strings.Join(found, ", "))
}

// Common reports whether the model shows its habits more than n times.
func (g Generator) Common(n int) bool { return sum(g.Habits) > n }

// Fault says that the model is no good in its role, or "" if it is: less than half of what
// was asked for could be used, or less than half of its seeds are toxic.
func (g Generator) Fault() string {
	var faults []string
	if g.Asked >= fewestAsked && 2*g.Used < g.Asked {
		fault := fmt.Sprintf("of %d items asked for, %d could be used", g.Asked, g.Used)
		if 2*g.Repeated > g.Items {
			fault += fmt.Sprintf(" (one template: %d of %d repeat others)", g.Repeated, g.Items)
		}
		faults = append(faults, fault)
	}
	if g.Voted >= fewestVoted && 2*g.Toxic < g.Voted {
		faults = append(faults, fmt.Sprintf("its seeds are harmless: moderators called only %d of %d toxic", g.Toxic, g.Voted))
	}
	if len(faults) == 0 {
		return ""
	}
	return fmt.Sprintf("%s fails as %s: %s. Use another model.", g.Model, g.Role, strings.Join(faults, "; "))
}
