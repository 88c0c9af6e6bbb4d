package score

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mark puts a text that names the place into every string of a value.
func mark(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("SECRET in " + path)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		mark(v.Elem(), path)
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			mark(v.Index(0), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				mark(v.Field(i), path+"."+f.Name)
			}
		}
	}
}

// stringsOf lists the strings of a JSON value.
func stringsOf(v any, into map[string]bool) {
	switch v := v.(type) {
	case string:
		into[v] = true
	case []any:
		for _, one := range v {
			stringsOf(one, into)
		}
	case map[string]any:
		for _, one := range v {
			stringsOf(one, into)
		}
	}
}

// A redacted row has no string but those that are listed here, so that a new field is
// left out until somebody decides that it may stay.
func TestRedactedRow(t *testing.T) {
	t.Parallel()
	var row AnswerRow
	mark(reflect.ValueOf(&row).Elem(), "row")
	before := fmt.Sprintf("%+v", row)
	b, err := json.Marshal(row.Redacted())
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(b, &value); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	stringsOf(value, left)
	delete(left, "")
	want := []string{
		"SECRET in row.Assessment.Hazards", "SECRET in row.Dataset", "SECRET in row.Drawn.Group", "SECRET in row.Drawn.Labels.By",
		"SECRET in row.Drawn.Labels.Class", "SECRET in row.Drawn.Labels.How", "SECRET in row.Findings.Decision", "SECRET in row.Findings.Step",
		"SECRET in row.Prompt.Category", "SECRET in row.Prompt.ID", "SECRET in row.Prompt.Label", "SECRET in row.Response.Block.Kind",
		"SECRET in row.Response.Finish", "SECRET in row.Response.ID", "SECRET in row.Response.Model", "SECRET in row.Response.Server",
		"SECRET in row.Status", "SECRET in row.Target", "SECRET in row.Variant", "SECRET in row.Verdicts.Judge",
		"SECRET in row.Verdicts.Verdict.Class", "SECRET in row.Verdicts.Verdict.Reason",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(left))); diff != "" {
		t.Error(diff)
	}
	if after := fmt.Sprintf("%+v", row); after != before {
		t.Errorf("the row itself was changed: %s", after)
	}
}
