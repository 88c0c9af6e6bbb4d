package facet

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
)

// full is a row with a value in each field.
func full() score.AnswerRow {
	var row score.AnswerRow
	var fill func(reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString("a")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64, reflect.Uint8:
			v.Set(reflect.ValueOf(1).Convert(v.Type()))
		case reflect.Float64:
			v.SetFloat(1)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					fill(v.Field(i))
				}
			}
		}
	}
	fill(reflect.ValueOf(&row).Elem())
	row.Prompt.Label, row.Status = orbench.Safe, score.Answered
	return row
}

// fields calls f with each field of a struct and of those in it.
func fields(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	for i := range v.NumField() {
		field, at := v.Field(i), path+"."+v.Type().Field(i).Name
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if f(at, field); field.Kind() == reflect.Struct {
			fields(field, at, f)
		}
		if field.Kind() == reflect.Slice && field.Len() > 0 && field.Index(0).Kind() == reflect.Struct {
			fields(field.Index(0), at+"[0]", f)
		}
	}
}

// TestKinds empties one field of a row after the other: if that changes what its kind says,
// the row has another kind, and every kind has a term for each parameter, since a filter by a
// parameter that a kind does not have passes it.
func TestKinds(t *testing.T) {
	t.Parallel()
	base, differ := full(), map[string]bool{}
	var shared Table
	shared.Add(0, &base)
	paths := map[string]bool{}
	fields(reflect.ValueOf(&base).Elem(), "", func(path string, _ reflect.Value) { paths[path] = true })
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		row := full()
		fields(reflect.ValueOf(&row).Elem(), "", func(at string, v reflect.Value) {
			if at == path {
				v.SetZero()
			}
		})
		var alone Table
		alone.Add(0, &row)
		changes := !reflect.DeepEqual(alone.Kinds[0], shared.Kinds[0])
		if another := shared.Add(0, &row) != 0; another != changes {
			t.Errorf("without %s, a row says something else: %v, and has another kind: %v", path, changes, another)
		}
		differ[path] = changes
	}
	for _, path := range []string{".Dataset", ".Prompt.Label", ".Status", ".Verdicts[0].Verdict.Reason"} {
		if !differ[path] {
			t.Errorf("%s is no part of a kind", path)
		}
	}
	shared.Samples = []Sample{{}, {Target: "a", Base: "b", Number: 1}}
	samples, kinds := shared.Terms()
	for _, all := range [][]Terms{samples, kinds} {
		for _, of := range all {
			if has, want := slices.Sorted(maps.Keys(of)), slices.Sorted(maps.Keys(all[0])); !slices.Equal(has, want) {
				t.Errorf("terms of %q beside terms of %q", has, want)
			}
		}
	}
}
