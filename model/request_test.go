package model_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// fullRequest has every field set.
func fullRequest() model.Request {
	temperature, seed := 0.5, int64(7)
	return model.Request{
		Provider: "openai", Endpoint: "http://127.0.0.1:8000/v1", Model: "m",
		Messages: []orbench.Message{{Role: orbench.System, Content: "Be brief."}, {Role: orbench.User, Content: "Hello <é> & \u2028"}},
		Params: model.Params{
			Temperature: &temperature, MaxTokens: 100, Seed: &seed, Schema: json.RawMessage(`{"type":"object"}`),
		},
		Sample: 2,
	}
}

// The hashes are the keys of every store: a change of the canonical form would
// lose all that was paid for. They were computed once and must stay.
func TestHashIsStable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		request         model.Request
		canonical, hash string
	}{
		"zero": {
			model.Request{},
			`{"provider":"","model":"","messages":null,"params":{}}`,
			"2520117c512ef3b591d0be6803e6d7ae5b4b511a3d0a8786f71d9411d688b337",
		},
		"full": {
			fullRequest(),
			`{"provider":"openai","endpoint":"http://127.0.0.1:8000/v1","model":"m",` +
				`"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello \u003cé\u003e \u0026 \u2028"}],` +
				`"params":{"temperature":0.5,"max_tokens":100,"seed":7,"schema":{"type":"object"}},"sample":2}`,
			"01085739a86a57585b3937576413e065e7b38bc2e0699116344c5a868afd1b62",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := string(tt.request.Canonical()); got != tt.canonical {
				t.Errorf("canonical form\n%s, want\n%s", got, tt.canonical)
			}
			if got := tt.request.Hash().String(); got != tt.hash {
				t.Errorf("hash %s, want %s", got, tt.hash)
			}
			if tt.request.Hash() != model.HashCanonical(tt.request.Canonical()) {
				t.Error("HashCanonical differs from Hash")
			}
		})
	}
}

// TestHashCoversEveryField changes each field by itself, those of Params and of
// the messages too.
func TestHashCoversEveryField(t *testing.T) {
	t.Parallel()
	seen := map[model.Hash]string{fullRequest().Hash(): "nothing"}
	fields := 0
	for path := range leaves(reflect.TypeFor[model.Request]()) {
		fields++
		t.Run(path, func(t *testing.T) {
			r := fullRequest()
			change(t, leafOf(reflect.ValueOf(&r).Elem(), path))
			h := r.Hash()
			if other, taken := seen[h]; taken {
				t.Errorf("a change of %s hashes like a change of %s", path, other)
			}
			seen[h] = path
		})
	}
	if fields < 11 {
		t.Errorf("%d fields were found, want at least 11", fields)
	}
}

// leaves yields the paths of a struct's fields, through structs and slices of
// them, as dotted names.
func leaves(t reflect.Type) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, f := range reflect.VisibleFields(t) {
			inner := f.Type
			if inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct {
				inner = inner.Elem()
				if !yield(f.Name) { // its length
					return
				}
			}
			if inner.Kind() != reflect.Struct {
				if !yield(f.Name) {
					return
				}
				continue
			}
			for sub := range leaves(inner) {
				if !yield(f.Name + "." + sub) {
					return
				}
			}
		}
	}
}

// leafOf finds the field of a path; of a slice of structs its last element's.
func leafOf(v reflect.Value, path string) reflect.Value {
	for name := range strings.SplitSeq(path, ".") {
		if v.Kind() == reflect.Slice {
			v = v.Index(v.Len() - 1)
		}
		v = v.FieldByName(name)
	}
	return v
}

// change gives a field another value.
func change(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.25)
	case reflect.Pointer:
		changed := reflect.New(v.Type().Elem())
		changed.Elem().Set(v.Elem())
		change(t, changed.Elem())
		v.Set(changed)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"type":"string"}`))
			return
		}
		v.Set(v.Slice(0, v.Len()-1))
	default:
		t.Fatalf("no way to change a %s; teach this test", v.Type())
	}
}

func TestAbsentIsNotZero(t *testing.T) {
	t.Parallel()
	zero, zeroSeed := 0.0, int64(0)
	hashes := map[model.Hash]string{}
	for name, r := range map[string]model.Request{
		"nothing":         {},
		"temperature 0":   {Params: model.Params{Temperature: &zero}},
		"seed 0":          {Params: model.Params{Seed: &zeroSeed}},
		"an empty prompt": {Messages: []orbench.Message{{Role: orbench.User}}},
	} {
		if other, taken := hashes[r.Hash()]; taken {
			t.Errorf("%s hashes like %s", name, other)
		}
		hashes[r.Hash()] = name
	}
}

func TestSimulated(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"sim/balanced (simulated)": true, "balanced": false, "": false, "(simulated) m": false, model.SimulatedMark: true,
	} {
		if got := (model.Response{Model: name}).Simulated(); got != want {
			t.Errorf("a response of %q: %v, want %v", name, got, want)
		}
	}
}
