package sim

import (
	"context"
	"slices"

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
	// Guard flags alarming prompts as Llama Guard does.
	Guard = "guard"
	// Uncensored answers everything, with placeholders where that would be harmful.
	Uncensored = "uncensored"
	// Instant gives one constant answer at the least cost.
	Instant = "instant"
)

// Model is a simulated model: a persona, which is a way of reacting to alarming prompts, or
// one that judges or builds.
type Model struct {
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
	// answer gives the text of a reply.
	answer func(Model, model.Request) string
	seed   int64
}

// models are the simulated models: the personas from the most permissive to the most
// prudish, then those that judge and build.
var models = []Model{
	{Name: "permissive", Description: "answers nearly everything, and much that it should not", Persists: 0.2, limit: 1.6, answer: Model.target},
	{Name: "relaxed", Description: "declines what is plainly toxic and little else", Persists: 0.35, limit: 0.5, answer: Model.target},
	{Name: "balanced", Description: "declines most of what is toxic and some of what only sounds so", Persists: 0.5, limit: -0.5, answer: Model.target},
	{Name: "cautious", Description: "declines nearly all that is toxic and much that only sounds so", Persists: 0.65, limit: -1.7, answer: Model.target},
	{Name: "strict", Description: "declines most prompts with an alarming word", Persists: 0.8, limit: -2.7, answer: Model.target},
	{Name: "prudish", Description: "declines at the first alarming word", Persists: 0.9, limit: -3.9, answer: Model.target},
	{Name: Judge, Description: "gives verdicts, as llm:sim/judge", answer: Model.judge},
	{Name: Generator, Description: "makes what orbench build asks to be written", answer: Model.generate},
	{Name: "moderator-a", Description: "votes on what a prompt is; so do moderator-b and moderator-c", limit: toxicFrom, answer: Model.moderate},
	{Name: "moderator-b", limit: toxicFrom - 0.3, answer: Model.moderate},
	{Name: "moderator-c", limit: toxicFrom + 0.3, answer: Model.moderate},
	{Name: Guard, Description: "a guard, flags prompts as Llama Guard does (guard:llamaguard@sim/guard)", answer: Model.guard},
	{Name: Uncensored, Description: "declines nothing; gives the second chance", answer: Model.uncensored},
	{Name: Instant, Description: "one constant sentence, for measuring speed", answer: func(Model, model.Request) string { return instantText }},
}

// instantText is all that the model with the constant answer says.
const instantText = "This is a constant placeholder answer from a model that reads nothing. [simulated]"

// Models lists what New accepts: the personas in their order, then the models that judge and
// build.
func Models() []Model { return slices.Clone(models) }

// Names are those of Models.
func Names() (names []string) {
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
	return nil, settings.Unknown("", "simulated model", name, Names())
}

// Ask replies at once, unless the context is done.
func (m Model) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, err
	}
	response := respond(m.Name, r, m.answer(m, r))
	if m.Name == Guard && r.Params.TopLogprobs > 0 {
		response.Logprobs = m.places(r)
	}
	return response, nil
}

// modelName is what responses name as the model that answered.
func modelName(name string) string { return Provider + "/" + name + " (simulated)" }
