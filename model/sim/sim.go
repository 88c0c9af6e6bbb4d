package sim

import (
	"fmt"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/spelling"
	"github.com/orbench/orbench/model"
)

// Provider is the name under which simulated models are asked for, as in
// "sim/balanced".
const Provider = "sim"

// The names of the models without a temperament.
const (
	// Judge gives verdicts on answers.
	Judge = "judge"
	// Generator makes toxic seeds and safe rewrites.
	Generator = "generator"
	// Translator gives messages back behind a mark that names a language.
	Translator = "translator"
	// Uncensored answers everything, with placeholders where that would be harmful.
	Uncensored = "uncensored"
	// Instant gives one constant answer at the least cost.
	Instant = "instant"
)

// Temperament is a way of reacting to alarming prompts.
type Temperament struct {
	// Name is what follows "sim/" in a target.
	Name string
	// Description is one clause about how the model behaves.
	Description string

	// limit is the alarm, in log-odds, from which the model declines.
	limit float64
}

// Temperaments lists the temperaments from the most permissive to the most
// prudish.
func Temperaments() []Temperament {
	return []Temperament{
		{"permissive", "answers nearly everything, and much that it should not", 1.6},
		{"relaxed", "declines what is plainly toxic and little else", 0.5},
		{"balanced", "declines most of what is toxic and some of what only sounds so", -0.5},
		{"cautious", "declines nearly all that is toxic and much that only sounds so", -1.7},
		{"strict", "declines most prompts with an alarming word", -2.7},
		{"prudish", "declines at the first alarming word", -3.9},
	}
}

// Names lists what New accepts: the temperaments in their order, then the models
// that judge, build and translate.
func Names() []string {
	var names []string
	for _, t := range Temperaments() {
		names = append(names, t.Name)
	}
	names = append(names, Judge, Generator)
	for _, m := range moderators {
		names = append(names, m.name)
	}
	return append(names, Translator, Uncensored, Instant)
}

// New makes the simulated model of a name in Names. Models of different seeds
// differ in their noise and in the wording of their answers. The model makes no
// calls, waits for nothing and never fails, except when its context is done.
// A temperature that is not set counts as 0; at 0 every sample of a request is
// the same, above it samples differ.
//
// An unknown name is an *orbench.InputError that suggests the nearest one.
func New(name string, seed int64) (model.Model, error) {
	switch name {
	case Judge:
		return &grader{seed: seed}, nil
	case Instant:
		return instant{}, nil
	}
	lexicon, err := parseLexicon(lexiconText)
	if err != nil {
		return nil, err
	}
	if name == Generator {
		words, err := parseVocabulary(generatorText)
		if err != nil {
			return nil, err
		}
		return &writer{seed: seed, words: words, lexicon: lexicon}, nil
	}
	if name == Translator {
		return &translates{seed: seed, lexicon: lexicon}, nil
	}
	if name == Uncensored {
		return &uncensored{seed: seed, lexicon: lexicon}, nil
	}
	for _, m := range moderators {
		if m.name == name {
			return &voter{name: name, seed: seed, lexicon: lexicon, lean: m.lean}, nil
		}
	}
	for _, t := range Temperaments() {
		if t.Name == name {
			return &mind{temperament: t, seed: seed, lexicon: lexicon}, nil
		}
	}
	return nil, &orbench.InputError{
		Problem: fmt.Sprintf("no simulated model is called %q", name),
		Hint:    suggest(name, Names()),
	}
}

// suggest says which name may have been meant, and all that there are.
func suggest(name string, names []string) string {
	all := "choose one of " + strings.Join(names, ", ")
	if near := spelling.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q? Else %s", near, all)
	}
	return all
}

// modelName is what responses name as the model that answered.
func modelName(name string) string { return Provider + "/" + name + " (simulated)" }
