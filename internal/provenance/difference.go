package provenance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/table"
)

// Run is a run, or a side of a comparison, with all its settings.
type Run struct {
	Name     string
	Settings []Setting
}

// Difference is a setting that is not the same in all of the compared runs.
type Difference struct {
	// Setting is the setting's name, as in the Setting type.
	Setting Name `json:"setting"`
	// Values holds the values of each run, in the order of the runs.
	Values []Value `json:"values"`
	// Warning is true if this setting alone may explain a difference in
	// figures. It is set for the token limit and the temperature of targets,
	// the hash of datasets, and whatever changes the verdicts of judges.
	Warning bool `json:"warning,omitempty"`
}

// Value is a run's value of a setting.
type Value struct {
	Run string `json:"run"`
	// Value is "–" if the run has nothing that could have this setting.
	Value string `json:"value"`
}

// Differences lists the settings in which runs differ, in the order of the
// settings. It compares a setting of a target, dataset, defense or judge with
// that of the one with the same name. Targets are compared even if they share
// no name, except in their models.
func Differences(runs []Run) []Difference {
	if len(runs) < 2 {
		return nil
	}
	var names []Name
	for _, r := range runs {
		for _, s := range r.Settings {
			// The figures name the targets themselves, and two runs are two measurements.
			if s.Name != Targets && s.Name != Measurement && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	var all []Difference
	for _, name := range names {
		if d, ok := differenceIn(runs, name); ok {
			all = append(all, d)
		}
	}
	return all
}

// differenceIn compares one setting.
func differenceIn(runs []Run, name Name) (Difference, bool) {
	// values holds each run's values of the setting, by the name of what has
	// the setting.
	values := make([]map[string]string, len(runs))
	having := map[string]int{}
	compared, misleads := false, false
	for i, r := range runs {
		values[i] = map[string]string{}
		for _, s := range r.Settings {
			if s.Name == name {
				values[i][s.Of] = s.Value
				having[s.Of]++
				compared, misleads = s.Compared, s.Misleads
			}
		}
	}
	common := slices.ContainsFunc(slices.Collect(maps.Values(having)), func(n int) bool { return n > 1 })
	if !common && !compared {
		return Difference{}, false
	}
	d := Difference{Setting: name}
	differ := false
	first := map[string]string{}
	known := map[string]bool{}
	for i, r := range runs {
		for of, value := range values[i] {
			if common && having[of] < 2 {
				delete(values[i], of)
				continue
			}
			if was, seen := first[of]; seen && was != value {
				differ = true
			}
			first[of] = value
			if value != NotRecorded {
				known[value] = true
			}
		}
		d.Values = append(d.Values, Value{Run: r.Name, Value: together(r.Settings, name, values[i])})
	}
	if !common {
		differ = slices.ContainsFunc(d.Values, func(v Value) bool { return v.Value != d.Values[0].Value })
	}
	d.Warning = misleads && len(known) > 1
	return d, differ
}

// together writes the values of a setting that several targets, datasets or
// judges have. A value that all of them share is written once; other values are
// written with the names of those that have them.
func together(settings []Setting, name Name, values map[string]string) string {
	var distinct []shared
	for _, s := range settings {
		if value, ok := values[s.Of]; ok && s.Name == name {
			addShared(&distinct, value, s.Of)
		}
	}
	switch len(distinct) {
	case 0:
		return table.None
	case 1:
		return distinct[0].value
	}
	const most = 3
	parts := make([]string, len(distinct))
	for i, v := range distinct {
		if n := len(v.of) - most; n > 0 {
			v.of = append(v.of[:most], fmt.Sprintf("%d more", n))
		}
		parts[i] = v.value + " (" + strings.Join(v.of, ", ") + ")"
	}
	return strings.Join(parts, "; ")
}

// shared is a value with the names of those that have it.
type shared struct {
	value string
	of    []string
}

// addShared adds who has a value.
func addShared(all *[]shared, value, of string) {
	v := table.Entry(all, shared{value: value}, func(v shared) bool { return v.value == value })
	v.of = append(v.of, of)
}

// hash matches the full hash of a dataset.
var hash = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// short returns the differences with hashes shortened as in tables.
func short(differences []Difference) []Difference {
	all := slices.Clone(differences)
	for i, d := range all {
		if d.Setting != DatasetHash {
			continue
		}
		all[i].Values = slices.Clone(d.Values)
		for k, v := range d.Values {
			all[i].Values[k].Value = hash.ReplaceAllStringFunc(v.Value, table.ShortHash)
		}
	}
	return all
}

// mostColumns is the greatest number of runs with a column each.
const mostColumns = 3

// Section shows the settings in which runs differ: with a column for each run,
// or, with many runs, a line for each value. It has no rows if nothing differs.
func Section(differences []Difference) table.Section {
	s := table.Section{Title: "Settings that differ"}
	if len(differences) == 0 {
		return s
	}
	differences = short(differences)
	if runs := differences[0].Values; len(runs) <= mostColumns {
		s.Header = table.Cells("setting", table.RowsOf(runs, func(v Value) string { return v.Run }))
		for _, d := range differences {
			s.Add(d.Setting, table.RowsOf(d.Values, func(v Value) string { return v.Value }))
		}
		s.Left = len(s.Header)
		return s
	}
	s.Header, s.Left = []string{"setting", "value", "runs"}, 3
	for _, d := range differences {
		var distinct []shared
		for _, v := range d.Values {
			addShared(&distinct, v.Value, v.Run)
		}
		for _, v := range distinct {
			s.Add(d.Setting, v.value, strings.Join(v.of, ", "))
		}
	}
	return s
}

// Warning names, in one line, the differences that may make figures differ as
// if the models did. It is empty if there are none.
func Warning(differences []Difference) string {
	var parts []string
	for _, d := range short(differences) {
		if !d.Warning {
			continue
		}
		var values table.Names
		for _, v := range d.Values {
			values.Add(v.Value)
		}
		parts = append(parts, string(d.Setting)+" ("+strings.Join(values, " against ")+")")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Made differently: " + strings.Join(parts, ", ") + ". This alone may explain a difference in figures."
}

// Name names a setting.
type Name string

// The settings that other packages look up by name.
const (
	DatasetHash  = Name("dataset hash")
	JudgeVersion = Name("judge version")
	Measurement  = Name("measurement")
	Targets      = Name("targets")
	Datasets     = Name("datasets")
	Judges       = Name("judges")
)

// Setting is one choice that a run was made with.
type Setting struct {
	// Name is `model`, `address`, `measurement` (the run whose answers are counted), `system prompt`, `temperature`, `max tokens`, `seed`,
	// `samples`, `framing`, `turns`, `defense`, `guard`, `dataset hash`, `dataset label`,
	// `dataset sample`, `defense max tokens`, `defense address`, `judge max tokens`, `judge verdicts`, `judge
	// address`, `judge output`, `judge version`, `limit`, `until`, `targets`, `datasets` or
	// `judges`.
	Name Name `json:"setting"`
	// Of names the target, dataset, defense or judge that has the setting. It
	// is empty for a setting of the whole run.
	Of string `json:"of,omitempty"`
	// Value is written for people; long texts are cut and end with their hash.
	Value string `json:"value"`
	// Compared is true for a setting that is compared even between targets of
	// different names, because a difference in it may be mistaken for a
	// difference between models. Misleads is true for a setting that changes
	// figures by itself and that nobody compares on purpose without saying so.
	// Judging is true for a setting of a judge.
	Compared bool `json:"-"`
	Misleads bool `json:"-"`
	Judging  bool `json:"-"`
}

// None is the value of a setting that is absent.
const None = "none"

// NotRecorded is the value of a setting that recorded answers do not include.
const NotRecorded = "not recorded"
