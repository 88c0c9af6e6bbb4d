package score

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNothingIsLostTogether holds Result.Add to every field: where one side alone has a
// figure, so have both together.
func TestNothingIsLostTogether(t *testing.T) {
	t.Parallel()
	held := func(empty, whole any, add func(), others ...string) {
		into, from := reflect.ValueOf(empty).Elem(), reflect.ValueOf(whole).Elem()
		for _, f := range reflect.VisibleFields(from.Type()) {
			if len(f.Index) == 1 {
				setAny(from.FieldByIndex(f.Index))
			}
		}
		add()
		for _, f := range reflect.VisibleFields(from.Type()) {
			if of := slices.Contains(others, f.Name); len(f.Index) == 1 && into.FieldByIndex(f.Index).IsZero() != of {
				t.Errorf("%s.%s: lost, want %v: add it up, or name it here with what sets it", from.Type(), f.Name, of)
			}
		}
	}
	var result, more Result
	held(&result, &more, func() { result.Add(more) },
		"Cost", "OneModel", "SettingsThatDiffer", "LeftOut", "Warnings", "Provenance") // run.Derive, commands and reports
}

// TestKept holds the stored form of a run's figures to all of them.
func TestKept(t *testing.T) {
	t.Parallel()
	var want, got Result
	for _, v := range []any{&want.Runs, &want.Figures, &want.Said, &want.OneModel} {
		setAny(reflect.ValueOf(v).Elem())
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// setAny gives a value that is not zero; a list or a map has one entry.
func setAny(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		setAny(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setAny(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		setAny(key)
		setAny(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				setAny(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	}
}
