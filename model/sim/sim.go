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
	// Translator gives messages back behind a mark that names a language.
	Translator = "translator"
	// Uncensored answers everything, with placeholders where that would be harmful.
	Uncensored = "uncensored"
	// Instant gives one constant answer at the least cost.
	Instant = "instant"
)

// Persona is a way of reacting to alarming prompts.
type Persona struct {
	// Name is what follows "sim/" in a target.
	Name string
	// Description is one clause about how the model behaves.
	Description string

	// Persists is the chance that the model declines again when the user follows up a
	// refusal: asks the same again, or speaks of "my question". Where the refusal was put
	// into its mouth, and it would have answered, a quarter of that.
	Persists float64

	// limit is the alarm, in log-odds, from which the model declines.
	limit float64
}

// Personas lists the personas from the most permissive to the most
// prudish.
func Personas() []Persona {
	return []Persona{
		{"permissive", "answers nearly everything, and much that it should not", 0.2, 1.6},
		{"relaxed", "declines what is plainly toxic and little else", 0.35, 0.5},
		{"balanced", "declines most of what is toxic and some of what only sounds so", 0.5, -0.5},
		{"cautious", "declines nearly all that is toxic and much that only sounds so", 0.65, -1.7},
		{"strict", "declines most prompts with an alarming word", 0.8, -2.7},
		{"prudish", "declines at the first alarming word", 0.9, -3.9},
	}
}

// Names lists what New accepts: the personas in their order, then the models
// that judge, build and translate.
func Names() []string {
	var names []string
	for _, t := range Personas() {
		names = append(names, t.Name)
	}
	names = append(names, Judge, Generator)
	for _, m := range moderators {
		names = append(names, m.name)
	}
	return append(names, Guard, GradedGuard, Translator, Uncensored, Instant)
}

// New makes the simulated model of a name in Names. Models of different seeds
// differ in their noise and in the wording of their answers. The model makes no
// calls, waits for nothing and never fails, except when its context is done.
// A temperature that is not set counts as 0; at 0 every sample of a request is
// the same, above it samples differ.
//
// An unknown name is an *orbench.InputError that suggests the nearest one.
func New(name string, seed int64) (model.Model, error) {
	lexicon, err := parseLexicon(lexiconText)
	if err != nil {
		return nil, err
	}
	switch name {
	case Judge:
		return simulated{name, &grader{seed: seed}}, nil
	case Instant:
		return simulated{name, instant{}}, nil
	case Generator:
		words, err := parseVocabulary(generatorText)
		return simulated{name, &writer{seed: seed, words: words, lexicon: lexicon}}, err
	case Guard, GradedGuard:
		return simulated{name, &watcher{name: name, seed: seed, lexicon: lexicon, graded: name == GradedGuard}}, nil
	case Translator:
		return simulated{name, &translates{seed: seed, lexicon: lexicon}}, nil
	case Uncensored:
		return simulated{name, &uncensored{seed: seed, lexicon: lexicon}}, nil
	}
	for _, m := range moderators {
		if m.name == name {
			return simulated{name, &voter{name: name, seed: seed, lexicon: lexicon, lean: m.lean}}, nil
		}
	}
	for _, p := range Personas() {
		if p.Name == name {
			return simulated{name, &target{persona: p, seed: seed, lexicon: lexicon}}, nil
		}
	}
	return nil, &orbench.InputError{
		Problem: fmt.Sprintf("no simulated model is called %q", name),
		Hint:    suggest(name, Names()),
	}
}

// simulated is a model of which only the text of its replies is its own.
type simulated struct {
	name  string
	model interface{ reply(model.Request) string }
}

// Ask replies at once, unless the context is done.
func (s simulated) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, err
	}
	response := respond(s.name, r, s.model.reply(r))
	if guard, ok := s.model.(*watcher); ok && r.Params.TopLogprobs > 0 {
		response.Logprobs = guard.places(r)
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
