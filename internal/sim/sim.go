package sim

import (
	"context"
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/model"
)

// Provider is the name under which simulated models are asked for, as in
// "sim/balanced".
const Provider = "sim"

// The names of the models without a persona.
const (
	// Judge gives verdicts on answers.
	Judge = "judge"
	// Generator makes toxic seeds and safe rewrites.
	Generator = "generator"
	// Guard flags alarming prompts as Llama Guard does, and GradedGuard with three
	// grades as Qwen3Guard does.
	Guard       = "guard"
	GradedGuard = "guard-graded"
	// Uncensored answers everything, with placeholders where that would be harmful.
	Uncensored = "uncensored"
	// Instant gives one constant answer at the least cost.
	Instant = "instant"
)

// Persona is a way of reacting to alarming prompts.
type Persona struct {
	// Name is what follows "sim/" in a target.
	Name string
	// Description is one clause about how the model behaves; empty if another model's
	// description covers it.
	Description string

	// Persists is the chance that the model declines again when the user follows up a
	// refusal: asks the same again, or speaks of "my question". If the refusal was scripted
	// and the model would have answered, the chance is a quarter of that.
	Persists float64

	// limit is the alarm, in log-odds, from which the model declines, or a moderator calls
	// a message toxic.
	limit float64
}

// simulated is a simulated model. Where it has no persona, that has its name and its limit
// alone.
type simulated struct {
	Persona
	// answer gives the text of a reply.
	answer func(simulated, model.Request) string
	seed   int64
}

// models are the simulated models: the personas from the most permissive to the most
// prudish, then those that judge and build.
var models = []simulated{
	{Persona: Persona{"permissive", "answers nearly everything, and much that it should not", 0.2, 1.6}, answer: simulated.target},
	{Persona: Persona{"relaxed", "declines what is plainly toxic and little else", 0.35, 0.5}, answer: simulated.target},
	{Persona: Persona{"balanced", "declines most of what is toxic and some of what only sounds so", 0.5, -0.5}, answer: simulated.target},
	{Persona: Persona{"cautious", "declines nearly all that is toxic and much that only sounds so", 0.65, -1.7}, answer: simulated.target},
	{Persona: Persona{"strict", "declines most prompts with an alarming word", 0.8, -2.7}, answer: simulated.target},
	{Persona: Persona{"prudish", "declines at the first alarming word", 0.9, -3.9}, answer: simulated.target},
	{Persona: Persona{Name: Judge, Description: "gives verdicts, as llm:sim/judge"}, answer: simulated.judge},
	{Persona: Persona{Name: Generator, Description: "makes what orbench build asks to be written"}, answer: simulated.generate},
	{Persona: Persona{Name: "moderator-a", Description: "votes on what a prompt is; so do moderator-b and moderator-c", limit: toxicFrom}, answer: simulated.moderate},
	{Persona: Persona{Name: "moderator-b", limit: toxicFrom - 0.3}, answer: simulated.moderate},
	{Persona: Persona{Name: "moderator-c", limit: toxicFrom + 0.3}, answer: simulated.moderate},
	{Persona: Persona{Name: Guard, Description: "a guard, flags prompts as Llama Guard does (guard:llamaguard@sim/guard)"}, answer: simulated.guard},
	{Persona: Persona{Name: GradedGuard, Description: "the same with three grades, as Qwen3Guard does"}, answer: simulated.guard},
	{Persona: Persona{Name: Uncensored, Description: "declines nothing; gives the second chance"}, answer: simulated.uncensored},
	{Persona: Persona{Name: Instant, Description: "one constant sentence, for measuring speed"}, answer: func(simulated, model.Request) string { return instantText }},
}

// instantText is all that the model with the constant answer says.
const instantText = "This is a constant placeholder answer from a model that reads nothing. [simulated]"

// Models lists what New accepts: the personas in their order, then the models
// that judge and build, which have no more than a name and a description.
func Models() []Persona {
	var all []Persona
	for _, m := range models {
		all = append(all, m.Persona)
	}
	return all
}

// Names are those of Models.
func Names() []string {
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names
}

// New makes the simulated model of a name in Names. Models of different seeds
// differ in their noise and in the wording of their answers. The model makes no
// calls, waits for nothing and never fails, except when its context is done.
// A temperature that is not set counts as 0; at 0 every sample of a request is
// the same, above it samples differ.
//
// An unknown name is an *orbench.InputError that suggests the nearest one.
func New(name string, seed int64) (model.Model, error) {
	for _, m := range models {
		if m.Name == name {
			m.seed = seed
			return m, nil
		}
	}
	return nil, &orbench.InputError{
		Problem: fmt.Sprintf("no simulated model is called %q", name),
		Hint:    suggest(name, Names()),
	}
}

// Ask replies at once, unless the context is done.
func (m simulated) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, err
	}
	response := respond(m.Name, r, m.answer(m, r))
	if m.Name == Guard && r.Params.TopLogprobs > 0 {
		response.Logprobs = m.places(r)
	}
	return response, nil
}

// suggest says which name may have been meant, and all that there are.
func suggest(name string, names []string) string {
	all := "choose one of " + strings.Join(names, ", ")
	if near := settings.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q? Else %s", near, all)
	}
	return all
}

// modelName is what responses name as the model that answered.
func modelName(name string) string { return Provider + "/" + name + " (simulated)" }
