package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/untrusted"
)

// System is a system prompt with a name. In the file it is one of the built-in
// names, the name of another of the list, or an object.
type System struct {
	Name string `yaml:"name" json:"name" jsonschema_description:"Name in the names of variants: letters, digits, dots, hyphens and underscores."`
	Text string `yaml:"text" json:"text,omitempty"`
	File string `yaml:"file" json:"file,omitempty" jsonschema_description:"File with the text, in place of text."`

	// written is File as the experiment's file has it, relative to its own folder.
	written string
}

// builtInSystems are those with names.
func builtInSystems() []System {
	return []System{{Name: None}, {Name: "helpful-and-safe", Text: defense.HelpfulAndSafe()}}
}

func (s System) name() string { return s.Name }

func (s *System) label() string {
	if s.Name == None {
		return "no system prompt"
	}
	return s.Name
}

// maxSystem is the longest system prompt in bytes.
const maxSystem = 1 << 20

// complete reads the file of a system prompt, too.
func (s *System) complete(at entry, list []part) *settings.Fault {
	if s.Text != "" && s.File != "" {
		return at.wrong("both a text and a file", "give one of them")
	}
	oneWord := !strings.ContainsFunc(s.Text, unicode.IsSpace)
	if info, err := os.Stat(s.Text); err == nil && info.Mode().IsRegular() || oneWord && len(filepath.Ext(s.Text)) > 1 {
		as := map[bool]string{true: "@", false: "file: "}[s.Name == "own"]
		return at.wrong(s.Text+" is a file, or named as one", "write "+as+s.Text)
	}
	if meant := settings.Nearest(s.Text, systemNames()); oneWord && meant != "" && s.Name == "own" {
		return at.wrong(fmt.Sprintf("no %s is called %q", at.noun, s.Text), "did you mean "+meant+"?")
	}
	f := lookUp(at, s, s.Text != "" || s.File != "", "give your own as {name: NAME, text: TEXT}", builtInSystems(), list, System.name)
	if f != nil || s.File == "" {
		return f
	}
	text, err := untrusted.ReadFile(s.File, maxSystem)
	if err != nil {
		return at.wrong("cannot read the system prompt: "+cmp.Or(s.written, s.File)+": "+cmp.Or(errors.Unwrap(err), err).Error(), "correct the path; one in an experiment is taken from its folder")
	}
	s.Text, s.File = strings.TrimRight(string(text), "\r\n"), ""
	return nil
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

func systemNames() []string { return each(builtInSystems(), System.name) }

// UnmarshalYAML reads a name, or an object with a text.
func (s *System) UnmarshalYAML(unmarshal func(any) error) error {
	type object System
	return settings.Either(unmarshal, &s.Name, (*object)(s))
}
