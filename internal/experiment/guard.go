package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// named reports whether the target has the form of one. A guard's is looked at by
// checkGuards.
func (t Target) named() bool {
	_, guarding := t.Guard()
	_, replayed := t.Replay()
	return guarding || replayed || model.IsRef(t.Target)
}

// checkGuards looks at the targets that are guards. They are measured alone: what
// they say is no answer, so the judge flag reads it, and no other.
func (c *Experiment) checkGuards() *settings.Fault {
	first, others := -1, 0
	for i, t := range c.Targets {
		spec, ok := t.Guard()
		if !ok {
			others++
			continue
		}
		if first < 0 {
			first = i
		}
		g, target, err := guard.Parse(spec)
		switch {
		case err != nil:
			return because(at("targets", i), err)
		case !model.IsRef(target):
			return settings.Wrong(at("targets", i), fmt.Sprintf("%q names no model after its @", t.Target), "write guard:FORMAT@provider/model, such as guard:llamaguard@vllm/meta-llama/Llama-Guard-3-8B")
		case !g.Format.Tells(guard.PromptHarm):
			return settings.Wrong(at("targets", i), fmt.Sprintf("guards of the format %s find refusals, not harm, so they flag nothing", g.Format), "formats that tell harm are "+strings.Join(guard.Telling(guard.PromptHarm), ", "))
		}
	}
	if first < 0 {
		if i := slices.Index(c.Judges, judge.Flag); i >= 0 {
			return settings.Wrong(at("judges", i), "the judge flag reads the replies of guards, but no target is a guard", "name a guard as target, such as guard:llamaguard@vllm/meta-llama/Llama-Guard-3-8B, or another judge")
		}
		if i := slices.IndexFunc(c.Datasets, func(d Dataset) bool { return d.Response != "" }); i >= 0 {
			return settings.Wrong(at("datasets", i)+".response_column", "prompts that end with answers are for guards, but no target is a guard", "leave it out, or name a guard as target")
		}
		return nil
	}
	if others > 0 {
		return settings.Wrong(at("targets", first), "guards and models that answer cannot share a run: no judge reads the replies of both",
			"measure guards in a run of their own; orbench compare and orbench report put two runs side by side")
	}
	if slices.Equal(c.Judges, usualJudges) {
		c.Judges = []string{judge.Flag}
	}
	if i := slices.IndexFunc(c.Judges, func(j string) bool { return j != judge.Flag }); i >= 0 {
		return settings.Wrong(at("judges", i), fmt.Sprintf("the judge %s reads answers, but guards give none", c.Judges[i]), "leave judges out to use flag")
	}
	return nil
}

// checkGuarding refuses variants that are no matter of a guard.
func (c *Experiment) checkGuarding() *settings.Fault {
	if _, guarding := c.Targets[0].Guard(); !guarding {
		return nil
	}
	v := &c.Variants
	for _, a := range axes {
		if path := a.used(v); a.answered && path != "" {
			return settings.Wrong(path, "guards are shown the prompts as they are; a "+a.noun+" is for models that answer", "leave it out, or measure the models in a run of their own")
		}
	}
	ended := slices.ContainsFunc(c.Datasets, func(d Dataset) bool { return d.Response != "" })
	check := func(path string, s *Script) *settings.Fault {
		switch {
		case s != nil && ended:
			return settings.Wrong(path, "dialogs around prompts that end with answers", "leave out the dialogs, or the column of the answers")
		case s != nil && (*conversation.Script)(s).Own():
			return settings.Wrong(path, "the dialog "+s.Name+" needs answers of the target, but a guard gives none", "write the answers out, or leave it out")
		}
		return nil
	}
	for i := range v.Turns {
		if f := check(at("variants.turns", i), &v.Turns[i]); f != nil {
			return f
		}
	}
	for i, single := range v.Also {
		if f := check(at("variants.also", i), single.Turns); f != nil {
			return f
		}
	}
	return nil
}
