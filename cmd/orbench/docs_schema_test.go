package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func newJSONReference(t *testing.T) *jsonReference {
	return &jsonReference{t: t, packages: map[string]goComments{}}
}

// keepSchema holds the file of a schema to what the type says.
func (r *jsonReference) keepSchema(file, title string, of any) {
	r.t.Helper()
	schema := r.schema(of)
	schema["title"] = title
	want, err := json.MarshalIndent(schema, "", " ")
	if err != nil {
		r.t.Fatal(err)
	}
	want = append(want, '\n')
	path := filepath.Join(projectRoot, "docs/schemas", file+".json")
	if os.Getenv("ORBENCH_UPDATE") != "" {
		if err := os.WriteFile(path, want, 0o666); err != nil {
			r.t.Fatal(err)
		}
	} else if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want) {
		r.t.Errorf("docs/schemas/%s.json is not what the types and their comments say (%v); write it anew with make docs", file, err)
	}
}

// schema is the JSON Schema of a type. As fields may be added, it allows others.
func (r *jsonReference) schema(of any) map[string]any {
	defs := map[string]any{}
	var form func(typ reflect.Type) map[string]any
	form = func(typ reflect.Type) map[string]any {
		switch {
		case typ.Kind() == reflect.Pointer:
			return form(typ.Elem())
		case typ.Implements(jsonMarshaler) || reflect.PointerTo(typ).Implements(jsonMarshaler):
			return map[string]any{}
		case typ.Implements(textMarshaler):
			return map[string]any{"type": "string"}
		}
		switch typ.Kind() {
		case reflect.String:
			text := map[string]any{"type": "string"}
			if values := r.read(typ.PkgPath()).values[typ.Name()]; len(values) > 0 {
				text["examples"] = values
			}
			return text
		case reflect.Bool:
			return map[string]any{"type": "boolean"}
		case reflect.Float64, reflect.Float32:
			return map[string]any{"type": "number"}
		case reflect.Array:
			return map[string]any{"type": "array", "items": form(typ.Elem()), "minItems": typ.Len(), "maxItems": typ.Len()}
		case reflect.Slice:
			return map[string]any{"type": "array", "items": form(typ.Elem())}
		case reflect.Map:
			return map[string]any{"type": "object", "additionalProperties": form(typ.Elem())}
		case reflect.Interface:
			return map[string]any{}
		case reflect.Struct:
			name := typ.String()
			if _, known := defs[name]; !known {
				object := map[string]any{"type": "object"}
				defs[name] = object
				properties, required := map[string]any{}, []string{}
				for _, f := range r.fields(typ) {
					p := form(f.Type)
					if f.nullable {
						p = map[string]any{"anyOf": []any{p, map[string]any{"type": "null"}}}
					}
					if f.meaning != "" {
						p["description"] = f.meaning
					}
					properties[f.name] = p
					if !f.optional && !f.embedded {
						required = append(required, f.name)
					}
				}
				object["properties"] = properties
				if len(required) > 0 {
					object["required"] = required
				}
			}
			return map[string]any{"$ref": "#/$defs/" + name}
		}
		return map[string]any{"type": "integer"}
	}
	schema := form(reflect.TypeOf(of))
	schema["$schema"], schema["$defs"] = "https://json-schema.org/draft/2020-12/schema", defs
	return schema
}
