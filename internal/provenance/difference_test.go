package provenance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/provenance"
)

// settings reads lines of NAME, or NAME of OWNER, and a value behind "=".
func settings(lines ...string) []provenance.Setting {
	var all []provenance.Setting
	for _, line := range lines {
		left, value, _ := strings.Cut(line, "=")
		name, of, _ := strings.Cut(left, " of ")
		all = append(all, provenance.Setting{
			Name: provenance.Name(name), Of: of, Value: value, Compared: slices.Contains([]string{"max tokens", "temperature", "seed"}, name),
			Misleads: slices.Contains([]string{"max tokens", "temperature", "dataset hash", "judge version"}, name),
		})
	}
	return all
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		runs []provenance.Run
		// want has for each difference the setting, the values, and "!" for a warning.
		want []string
	}{
		{"one run", []provenance.Run{{Name: "a", Settings: settings("limit=none")}}, nil},
		{
			"no difference",
			[]provenance.Run{{Name: "a", Settings: settings("max tokens of x=8", "limit=none")}, {Name: "b", Settings: settings("max tokens of x=8", "limit=none")}},
			nil,
		},
		{
			"a target of both",
			[]provenance.Run{{Name: "a", Settings: settings("max tokens of x=8", "max tokens of y=9")}, {Name: "b", Settings: settings("max tokens of x=1000")}},
			[]string{"max tokens: 8 | 1000 !"},
		},
		{
			"targets of several settings",
			[]provenance.Run{{Name: "a", Settings: settings("seed of x=1", "seed of y=2")}, {Name: "b", Settings: settings("seed of x=2", "seed of y=1")}},
			[]string{"seed: 1 (x); 2 (y) | 2 (x); 1 (y)"},
		},
		{
			"no target of both: all but the models are compared",
			[]provenance.Run{{Name: "a", Settings: settings("model of x=x", "temperature of x=0")}, {Name: "b", Settings: settings("model of y=y", "temperature of y=1")}},
			[]string{"temperature: 0 | 1 !"},
		},
		{
			"the same name for another model",
			[]provenance.Run{{Name: "a", Settings: settings("model of x=m/1")}, {Name: "b", Settings: settings("model of x=m/2")}},
			[]string{"model: m/1 | m/2"},
		},
		{
			"what is not recorded is shown and not warned of",
			[]provenance.Run{{Name: "a", Settings: settings("max tokens of x=not recorded")}, {Name: "b", Settings: settings("max tokens of y=8")}},
			[]string{"max tokens: not recorded | 8"},
		},
		{
			"three runs, of which one has nothing of it",
			[]provenance.Run{
				{Name: "a", Settings: settings("judge version of lexical=1")},
				{Name: "b", Settings: settings("judge version of lexical=2")},
				{Name: "c", Settings: settings("judge version of llm:x=3")},
			},
			[]string{"judge version: 1 | 2 | – !"},
		},
		{
			"datasets of other names are told by their list",
			[]provenance.Run{{Name: "a", Settings: settings("dataset hash of x=1", "datasets=x")}, {Name: "b", Settings: settings("dataset hash of y=2", "datasets=y")}},
			[]string{"datasets: x | y"},
		},
	} {
		var got []string
		for _, d := range provenance.Differences(tt.runs) {
			var values []string
			for _, v := range d.Values {
				values = append(values, v.Value)
			}
			line := string(d.Setting) + ": " + strings.Join(values, " | ")
			if d.Warning {
				line += " !"
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// With many runs a table has no column for each.
func TestSectionOfManyRuns(t *testing.T) {
	t.Parallel()
	var runs []provenance.Run
	for _, name := range []string{"a", "b", "c", "d"} {
		limit := "limit=none"
		if name == "c" {
			limit = "limit=the first 30 prompts"
		}
		runs = append(runs, provenance.Run{Name: name, Settings: settings(limit)})
	}
	got := provenance.Section(provenance.Differences(runs)).Rows
	want := [][]string{{"limit", "none", "a, b, d"}, {"limit", "the first 30 prompts", "c"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
