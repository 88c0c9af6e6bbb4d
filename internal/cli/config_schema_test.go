package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/policy"
)

// TestConfigSchemas holds the schemas of settings files to the types that read them.
// ORBENCH_UPDATE=1 writes them anew.
func TestConfigSchemas(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		file, title string
		required    []string
		settings    any
	}{
		{"internal/construct/schema.json", "build.yaml of orbench", []string{"name", "seeds", "moderation"}, &benchmark.BuildConfig{}},
		{"internal/experiment/schema.json", "experiment.yaml of orbench", []string{"targets", "datasets"}, &experiment.Experiment{}},
		{"internal/policy/schema.json", "policy.yaml of orbench", []string{"title", "categories"}, &policy.Policy{}},
	} {
		s := reflected(of.settings)
		s.Title, s.Required, s.Version = of.title, of.required, jsonschema.Version
		want, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		path := filepath.Join("../..", of.file)
		if os.Getenv("ORBENCH_UPDATE") != "" {
			if err := os.WriteFile(path, want, 0o666); err != nil {
				t.Fatal(err)
			}
		} else if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not what the types say (%v); write it anew with make docs", of.file, err)
		}
	}
}

// reflected is the schema of a type inside a file.
func reflected(of any) *jsonschema.Schema {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, RequiredFromJSONSchemaTags: true, Mapper: severalForms}
	s := r.Reflect(of)
	s.Version = ""
	return s
}

// severalForms is the schema of a type whose values are written in several forms, nil for any
// other.
func severalForms(typ reflect.Type) *jsonschema.Schema {
	switch typ {
	case reflect.TypeFor[experiment.Target]():
		type object experiment.Target
		return textOr(&object{}, "target")
	case reflect.TypeFor[experiment.Dataset]():
		type object experiment.Dataset
		return textOr(&object{}, "dataset")
	case reflect.TypeFor[experiment.System]():
		type object experiment.System
		return textOr(&object{}, "name")
	case reflect.TypeFor[experiment.Framing]():
		type object experiment.Framing
		return textOr(&object{}, "name")
	case reflect.TypeFor[experiment.Script]():
		type object experiment.Script
		return textOr(&object{}, "name")
	case reflect.TypeFor[benchmark.SeedFile]():
		type object benchmark.SeedFile
		return textOr(&object{})
	case reflect.TypeFor[benchmark.Moderator]():
		type object benchmark.Moderator
		return textOr(&object{})
	case reflect.TypeFor[experiment.Temperature]():
		value := oneOf(&jsonschema.Schema{Type: "number", Minimum: "0", Maximum: "2"}, word("default", "The provider's own."))
		object := objectOf("temperature", value)
		object.Properties.Set("samples", &jsonschema.Schema{Type: "integer", Minimum: "1", Maximum: "1000", Description: "How often each prompt is asked."})
		return oneOf(append(value.OneOf, object)...)
	case reflect.TypeFor[conversation.Turn]():
		user, assistant := objectOf("user", &jsonschema.Schema{Type: "string"}), objectOf("assistant", &jsonschema.Schema{Type: "string"})
		user.Properties.Set("if", word(conversation.Refused, "Say this only if the target's own answer before it is a refusal."))
		return oneOf(word("own", "The target's own answer."), user, assistant)
	case reflect.TypeFor[benchmark.Policy]():
		text := &jsonschema.Schema{Type: "string", Description: "A built-in policy (" + strings.Join(policy.Names(), ", ") + ") or a file."}
		return oneOf(text, reflected(&[]benchmark.Category{}))
	case reflect.TypeFor[benchmark.Rules]():
		return oneOf(word(benchmark.AsPublished, "Those that the published method enforced."), reflected(&[]generator.Rule{}))
	}
	return nil
}

// textOr is a text, or an object with the required fields.
func textOr(object any, required ...string) *jsonschema.Schema {
	s := reflected(object)
	s.Required = append(s.Required, required...)
	return oneOf(&jsonschema.Schema{Type: "string"}, s)
}

func oneOf(forms ...*jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{OneOf: forms} }

// word is one word with what it means.
func word(text, means string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{text}, Description: means}
}

// objectOf is an object that must have a field.
func objectOf(name string, of *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{name}, AdditionalProperties: jsonschema.FalseSchema}
	s.Properties.Set(name, of)
	return s
}
