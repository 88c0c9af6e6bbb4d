package experiment

import (
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/untrusted"
)

// Template is a commented experiment.yaml that measures simulated models.
//
//go:embed experiment.yaml
var Template string

// File is an experiment that was read from a file.
type File struct {
	Config
	// Path stands for the file in errors.
	Path string
	text []byte
}

// Load reads an experiment and the files with system prompts that it names.
// Relative paths in it are taken from its own folder. A fault is an
// *orbench.InputError with its line.
func Load(path string) (*File, error) {
	text, err := settings.ReadFile(path, `write one with "orbench config init experiment"`)
	if err != nil {
		return nil, err
	}
	f, err := Parse(path, text)
	if err != nil {
		return nil, err
	}
	for i, t := range f.Targets {
		if path, ok := t.Replay(); ok {
			f.Targets[i].Name, f.Targets[i].Target = t.Called(), ReplayPrefix+f.Resolve(path)
		}
	}
	for i, d := range f.Datasets {
		if !dataset.IsName(d.Dataset) && strings.ContainsAny(d.Dataset, `./\`) {
			f.Datasets[i].Dataset = f.Resolve(d.Dataset)
		}
	}
	systems := f.Variants.SystemPrompts
	for i := range systems {
		if err := f.read(&systems[i], at("variants.system_prompts", i)); err != nil {
			return nil, err
		}
	}
	for i, single := range f.Variants.Also {
		if single.System != nil {
			if err := f.read(single.System, at("variants.also", i)+".system_prompt"); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// Key is the key of a setting in the file, such as label_column of label-column.
func Key(setting string) string { return strings.ReplaceAll(setting, "-", "_") }

// Parse is Load for the text of a file, without reading any other.
func Parse(path string, text []byte) (*File, error) {
	f := &File{Config: Default(), Path: path, text: text}
	if err := settings.Decode(path, text, &f.Config, `"orbench config init experiment" prints a file with every setting`); err != nil {
		return nil, err
	}
	if fault := f.Check(); fault != nil {
		return nil, fault.Error(path, text)
	}
	return f, nil
}

// Line is the line of the setting at a YAML path.
func (f *File) Line(path string) int { return settings.Line(f.text, path) }

// Resolve makes a path that is relative to the file's folder one that is relative
// to the working directory.
func (f *File) Resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.Path), path)
}

// maxSystem is the longest system prompt in bytes.
const maxSystem = 1 << 20

// read puts the text of its file into a system prompt.
func (f *File) read(s *System, path string) error {
	if s.File == "" {
		return nil
	}
	text, err := untrusted.ReadFile(f.Resolve(s.File), maxSystem)
	if err != nil {
		problem := err.Error()
		if cause := errors.Unwrap(err); cause != nil {
			problem = s.File + ": " + cause.Error()
		}
		return &orbench.InputError{File: f.Path, Line: f.Line(path), Problem: "cannot read the system prompt: " + problem, Hint: "correct the path, which is taken from the folder of this file", Err: err}
	}
	s.Text = strings.TrimRight(string(text), "\r\n")
	return nil
}

// Schema is the JSON Schema of experiment.yaml, for editors that check as one
// types.
func Schema() []byte {
	return settings.Schema("experiment.yaml of orbench", []string{"targets", "datasets"}, &Config{})
}

// UnmarshalYAML reads a target, or an object of its settings.
func (t *Target) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal(&t.Target) == nil {
		return nil
	}
	type object Target
	return unmarshal((*object)(t))
}

// JSONSchema is that of both forms.
func (Target) JSONSchema() *jsonschema.Schema {
	type object Target
	return textOr(settings.Reflect(&object{}), "target")
}

// UnmarshalYAML reads a dataset, or an object of its settings.
func (d *Dataset) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal(&d.Dataset) == nil {
		return nil
	}
	type object Dataset
	return unmarshal((*object)(d))
}

// JSONSchema is that of both forms.
func (Dataset) JSONSchema() *jsonschema.Schema {
	type object Dataset
	return textOr(settings.Reflect(&object{}), "dataset")
}

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

// UnmarshalYAML reads a name, or an object with a prefix or a suffix.
func (f *Framing) UnmarshalYAML(unmarshal func(any) error) error {
	if unmarshal(&f.Name) == nil {
		return nil
	}
	type object Framing
	return unmarshal((*object)(f))
}

// JSONSchema is that of both forms.
func (Framing) JSONSchema() *jsonschema.Schema {
	type object Framing
	return textOr(settings.Reflect(&object{}), "name")
}

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

// providersOwn is the word for no temperature of one's own.
const providersOwn = "default"

// UnmarshalYAML reads a number, the word default, or an object with samples.
func (t *Temperature) UnmarshalYAML(unmarshal func(any) error) error {
	t.Value = new(float64)
	if unmarshal(t.Value) == nil {
		return nil
	}
	var word string
	if unmarshal(&word) == nil {
		t.Value = nil
		if word != providersOwn {
			t.unreadable = fmt.Sprintf("%q is no temperature", word)
		}
		return nil
	}
	var object struct {
		Temperature *Temperature `yaml:"temperature"`
		Samples     int          `yaml:"samples"`
	}
	if err := unmarshal(&object); err != nil {
		return err
	}
	if object.Temperature == nil {
		t.unreadable = "a temperature is missing"
		return nil
	}
	*t = *object.Temperature
	t.Samples = object.Samples
	return nil
}

// JSONSchema is that of all forms.
func (Temperature) JSONSchema() *jsonschema.Schema {
	value := &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "number", Minimum: "0", Maximum: "2"},
		{Type: "string", Enum: []any{providersOwn}, Description: "The provider's own."},
	}}
	object := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"temperature"}, AdditionalProperties: jsonschema.FalseSchema}
	object.Properties.Set("temperature", value)
	object.Properties.Set("samples", &jsonschema.Schema{Type: "integer", Minimum: "1", Maximum: "1000", Description: "How often each prompt is asked."})
	return &jsonschema.Schema{OneOf: append(value.OneOf, object)}
}

// textOr is the schema of a text that may be written as an object.
func textOr(object *jsonschema.Schema, required string) *jsonschema.Schema {
	object.Required = []string{required}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, object}}
}
