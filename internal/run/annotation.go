package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
)

// CheckAnswers sees that the run has answers of a target, to prompts of a label; either may
// be empty for all. The error is an *orbench.InputError.
func (r *Run) CheckAnswers(target, label string) error {
	if target != "" && !slices.Contains(r.Config.TargetNames(), target) {
		return &orbench.InputError{
			Setting: "target", Problem: fmt.Sprintf("the run %s has no target %q", r.Name, target),
			Hint: "it has " + strings.Join(r.Config.TargetNames(), ", "),
		}
	}
	if label != "" && !slices.Contains(orbench.Labels, orbench.Label(label)) {
		return &orbench.InputError{
			Setting: "label", Problem: fmt.Sprintf("%q is not a label of prompts", label),
			Hint: "use safe, toxic, controversial or undecided",
		}
	}
	return nil
}
