package experiment

import (
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/settings"
)

// Framing is a defense.Framing. In the file it is one of the built-in names, the
// name of another of the list, or an object.
type Framing struct {
	Name   string `yaml:"name" json:"name" jsonschema_description:"Name in the names of variants: letters, digits, dots, hyphens and underscores."`
	Prefix string `yaml:"prefix" json:"prefix,omitempty" jsonschema_description:"Stands before the prompt, in a paragraph of its own."`
	Suffix string `yaml:"suffix" json:"suffix,omitempty" jsonschema_description:"Stands after the prompt, in a paragraph of its own."`
}

func (f Framing) name() string   { return f.Name }
func (f *Framing) label() string { return f.Name }

func (f *Framing) complete(at entry, list []part) *settings.Fault {
	builtIn := each(defense.Framings(), func(f defense.Framing) Framing { return Framing(f) })
	return lookUp(at, f, f.Prefix+f.Suffix != "", "your own in an experiment file: {name: NAME, prefix: TEXT}", builtIn, list, Framing.name)
}

// UnmarshalYAML reads a name, or an object with a prefix or a suffix.
func (f *Framing) UnmarshalYAML(unmarshal func(any) error) error {
	type object Framing
	return settings.Either(unmarshal, &f.Name, (*object)(f))
}
