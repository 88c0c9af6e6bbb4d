package study

import (
	"iter"
	"reflect"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// TestHashesCoverPrompts changes each field of a prompt: one of the two hashes by which a store
// knows the prompts of a dataset changes too. Otherwise it would go on with those that it has.
func TestHashesCoverPrompts(t *testing.T) {
	t.Parallel()
	sums := func(p orbench.Prompt) (all [2]string) {
		var one iter.Seq2[orbench.Prompt, error] = func(yield func(orbench.Prompt, error) bool) { yield(p, nil) }
		var set dataset.Dataset
		if err := set.Recount(one); err != nil {
			t.Fatal(err)
		}
		groups, err := groupsOf(one)
		if err != nil {
			t.Fatal(err)
		}
		return [2]string{set.SHA256, groups}
	}
	base := orbench.NewPrompt("How do I kill a process?", "computers", orbench.Safe)
	for i := range reflect.TypeFor[orbench.Prompt]().NumField() {
		p := base
		field := reflect.ValueOf(&p).Elem().Field(i)
		name := reflect.TypeFor[orbench.Prompt]().Field(i).Name
		switch {
		case name == "Answers":
			continue // recorded answers have a hash of their own
		case field.Kind() == reflect.String:
			field.SetString("pffffffffffffffff")
		default:
			field.SetZero()
		}
		if sums(p) == sums(base) {
			t.Errorf("another %s of a prompt is not told: add it to groupsOf, and to what about asks before it", name)
		}
	}
}
