package experiment

import (
	"fmt"

	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/settings"
)

// Script is a conversation.Script. In the file it is one of the built-in names, the
// name of another of the list, or an object.
type Script conversation.Script

func (s Script) name() string   { return s.Name }
func (s *Script) label() string { return s.Name }

func (s *Script) complete(at entry, list []part) *settings.Fault {
	own := len(s.Turns) > 0
	builtIn := append([]Script{{Name: None}}, each(conversation.Scripts(), func(s conversation.Script) Script { return Script(s) })...)
	f := lookUp(at, s, own, "your own in an experiment file: {name: NAME, turns: [{user: TEXT}, own, {user: TEXT}]}", builtIn, list, Script.name)
	if f != nil || !own {
		return f
	}
	if problem, hint := (*conversation.Script)(s).Check(); problem != "" {
		return at.wrong(fmt.Sprintf("the dialog %q: %s", s.Name, problem), hint)
	}
	return nil
}

// UnmarshalYAML reads a name, or an object with turns.
func (s *Script) UnmarshalYAML(unmarshal func(any) error) error {
	type object Script
	return settings.Either(unmarshal, &s.Name, (*object)(s))
}
