package experiment

import (
	"fmt"

	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/settings"
)

// Language is the code or the name of one that prompts are put into, or None.
type Language string

func (l *Language) label() string { return string(*l) }

func (l *Language) complete(at entry, _ []part) *settings.Fault {
	if defense.IsLanguage(string(*l)) {
		return nil
	}
	return at.wrong(fmt.Sprintf("%q is not a language", *l), "give the code or the name of one, such as fr or Brazilian Portuguese")
}

// Defense is a ladder of steps as defense.Parse reads it, or None.
type Defense string

func (d *Defense) label() string { return string(*d) }

// complete gives a defense the name that it has written in full.
func (d *Defense) complete(at entry, _ []part) *settings.Fault {
	parsed, err := defense.Parse(string(*d), defense.Options{})
	if err != nil {
		return because(at.path, err)
	}
	*d = Defense(parsed.Name())
	if parsed.Language() != "" && at.Variants.Translator != "" {
		return at.wrong("a ladder that translates, beside languages", "list the language under languages")
	}
	return nil
}
