package experiment

import (
	"fmt"

	"github.com/invopop/jsonschema"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/settings"
)

// Script is a conversation.Script. In the file it is one of the built-in names, the
// name of another of the list, or an object.
type Script conversation.Script

// builtInScripts are those with names, after that of no dialog.
func builtInScripts() []Script {
	all := []Script{{Name: None}}
	for _, s := range conversation.Scripts() {
		all = append(all, Script(s))
	}
	return all
}

func (s Script) name() string   { return s.Name }
func (s *Script) label() string { return s.Name }

func (s *Script) complete(_ *Config, path string, list []Script) *settings.Fault {
	own := len(s.Turns) > 0
	f := lookUp(s, own, "dialog", "your own in an experiment file: {name: NAME, turns: [{user: TEXT}, own, {user: TEXT}]}", path, builtInScripts(), list, Script.name)
	if f != nil || !own {
		return f
	}
	if problem, hint := (*conversation.Script)(s).Check(); problem != "" {
		return settings.Wrong(path, fmt.Sprintf("the dialog %q: %s", s.Name, problem), hint)
	}
	return nil
}

func scriptNames() []string { return named(builtInScripts(), Script.name) }

// UnmarshalYAML reads a name, or an object with turns.
func (s *Script) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal(&s.Name) == nil {
		return nil
	}
	type object Script
	return unmarshal((*object)(s))
}

// JSONSchema is that of both forms.
func (Script) JSONSchema() *jsonschema.Schema {
	type object Script
	return textOr(settings.Reflect(&object{}), "name")
}
