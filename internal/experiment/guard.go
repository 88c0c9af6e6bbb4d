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
	guards, last := 0, 0
	for i, t := range c.Targets {
		spec, ok := t.Guard()
		if !ok {
			continue
		}
		guards, last = guards+1, i
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
	flag := slices.Index(c.Judges, judge.Flag)
	reader := slices.IndexFunc(c.Judges, func(j string) bool { return j != judge.Flag })
	ended := slices.IndexFunc(c.Datasets, Dataset.ended)
	switch {
	case guards == 0 && flag >= 0:
		return settings.Wrong(at("judges", flag), "the judge flag reads the replies of guards, but no target is a guard", "name a guard as target, such as guard:llamaguard@vllm/meta-llama/Llama-Guard-3-8B, or another judge")
	case guards == 0 && ended >= 0:
		return settings.Wrong(at("datasets", ended)+".response_column", "prompts that end with answers are for guards, but no target is a guard", "leave it out, or name a guard as target")
	case guards == 0:
	case guards < len(c.Targets):
		return settings.Wrong(at("targets", last), "guards and models that answer cannot share a run: no judge reads the replies of both",
			"measure guards in a run of their own; orbench compare and orbench report put two runs side by side")
	case slices.Equal(c.Judges, usualJudges):
		c.Judges = []string{judge.Flag}
	case reader >= 0:
		return settings.Wrong(at("judges", reader), fmt.Sprintf("the judge %s reads answers, but guards give none", c.Judges[reader]), "leave judges out to use flag")
	}
	return nil
}

// ended reports whether the prompts end with answers, about which guards are asked.
func (d Dataset) ended() bool { return d.Response != "" }

// checkGuarding refuses variants that are no matter of a guard.
func (c *Experiment) checkGuarding() *settings.Fault {
	if _, guarding := c.Targets[0].Guard(); !guarding {
		return nil
	}
	ended := slices.ContainsFunc(c.Datasets, Dataset.ended)
	for _, a := range axes {
		path := a.used(&c.Variants)
		switch {
		case path == "":
		case a.answered:
			return settings.Wrong(path, "guards are shown the prompts as they are; a "+a.noun+" is for models that answer", "leave it out, or measure the models in a run of their own")
		case a.key == "turns" && ended:
			return settings.Wrong(path, "dialogs around prompts that end with answers", "leave out the dialogs, or the column of the answers")
		}
	}
	for _, w := range c.Expand() {
		if (*conversation.Script)(&w.Turns).Own() {
			return settings.Wrong("$.variants", "the dialog "+w.Turns.Name+" needs answers of the target, but a guard gives none", "write the answers out, or leave it out")
		}
	}
	return nil
}
