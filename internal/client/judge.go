package client

import (
	"cmp"
	"errors"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/judge"
)

// Judges makes judges, each name once, and connects the models that they ask. Every
// spec may be a list; see judge.Split and judge.Parse. maxTokens is as in
// judge.Options.
func (s *Set) Judges(specs []string, maxTokens int) (judges []judge.Judge, err error) {
	var failed error
	opts := s.options(maxTokens, &failed)
	seen := map[string]bool{}
	for _, spec := range judge.Split(strings.Join(specs, ",")) {
		j, err := judge.Parse(spec, opts)
		if err = errors.Join(failed, err); err != nil {
			return nil, err
		}
		if err := checkSim(judge.ModelsOf(j)...); err != nil {
			return nil, err
		}
		if !seen[j.Name()] {
			seen[j.Name()] = true
			judges = append(judges, j)
		}
	}
	if len(judges) == 0 {
		return nil, &orbench.InputError{Setting: "judge", Problem: "no judge is named", Hint: "leave it out for lexical, or name one"}
	}
	return judges, nil
}

// Defense makes a defense and connects the models that it asks; see defense.Parse.
// maxTokens is as in defense.Options.
func (s *Set) Defense(spec string, maxTokens int) (*defense.Defense, error) {
	var failed error
	opts := s.options(maxTokens, &failed)
	opts.Guard = func(g *guard.Guard, target string) error { return s.settle(g, target, false) }
	d, err := defense.Parse(spec, opts)
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	return d, checkSim(d.Models()...)
}

// Structured reports whether a provider can be held to a JSON Schema. It connects
// the provider, and is false where that fails.
func (s *Set) Structured(provider string) bool {
	at, err := s.connect(provider, s.address(provider))
	return err == nil && s.clients[at].Structured
}

// options are what judges and defenses find a provider by. The first error of connecting
// one is noted.
func (s *Set) options(maxTokens int, failed *error) judge.Options {
	endpoint := func(provider string) string {
		at, err := s.connect(provider, s.address(provider))
		if *failed == nil {
			*failed = err
		}
		return at.Endpoint
	}
	return judge.Options{
		MaxTokens: maxTokens, Endpoint: endpoint, Structured: s.Structured, Classifies: s.Classifies,
		Guard: func(g *guard.Guard, target string) error { return s.settle(g, target, true) },
	}
}
