package experiment

import (
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/settings"
)

// System is a system prompt with a name. In the file it is one of the built-in
// names, the name of another of the list, or an object.
type System struct {
	Name string `yaml:"name" json:"name" jsonschema_description:"Name in the names of variants: letters, digits, dots, hyphens and underscores."`
	Text string `yaml:"text" json:"text,omitempty"`
	File string `yaml:"file" json:"file,omitempty" jsonschema_description:"File with the text, in place of text."`
}

// builtInSystems are those with names.
func builtInSystems() []System {
	var all []System
	for _, s := range defense.SystemPrompts() {
		all = append(all, System{Name: s.Name, Text: s.Text})
	}
	return all
}

func (s System) name() string { return s.Name }

func (s *System) label() string {
	if s.Name == None {
		return "no system prompt"
	}
	return s.Name
}

func (s *System) complete(_ *Config, path string, list []System) *settings.Fault {
	if s.Text != "" && s.File != "" {
		return settings.Wrong(path, "both a text and a file", "give one of them")
	}
	return lookUp(s, s.Text != "" || s.File != "", "system prompt", "give your own as {name: NAME, text: TEXT}", path, builtInSystems(), list, System.name)
}

// writeSystem is the system prompt of a flag as YAML: the name of a known one, the text of
// one's own, or @FILE for its content. An empty text is none.
func writeSystem(value string) string {
	s := System{Name: "own", Text: value}
	if path, ok := strings.CutPrefix(value, "@"); ok {
		s = System{Name: "own", File: path}
	} else if value == "" {
		s.Name = None
	} else if slices.Contains(systemNames(), value) {
		s = System{Name: value}
	}
	return "[" + quote(s) + "]"
}

func systemNames() []string { return named(builtInSystems(), System.name) }

// UnmarshalYAML reads a name, or an object with a text.
func (s *System) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal(&s.Name) == nil {
		return nil
	}
	type object System
	return unmarshal((*object)(s))
}

// JSONSchema is that of both forms.
func (System) JSONSchema() *jsonschema.Schema {
	type object System
	return textOr(settings.Reflect(&object{}), "name")
}
