package provenance

import (
	"fmt"
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

// Difference is a setting that is not the same in all of some runs.
type Difference struct {
	// Setting is its name, one of those of a provenance.Setting.
	Setting Name `json:"setting"`
	// Values has what each run has, in the order of the runs.
	Values []Value `json:"values"`
	// Warning is true where figures that differ may do so for this setting alone: of
	// targets the token limit and the temperature, of datasets the hash, and of judges
	// whatever moves their verdicts.
	Warning bool `json:"warning,omitempty"`
}

// Value is what a run has of a setting.
type Value struct {
	Run string `json:"run"`
	// Value is "–" where the run has nothing of which this could be a setting.
	Value string `json:"value"`
}

// Differences lists the settings in which runs differ, in the order of the settings.
// A setting of a target, dataset, defense or judge is compared with that of the one
// of the same name. Targets that share no name are compared all the same, but for
// their models.
func Differences(runs []Run) []Difference {
	if len(runs) < 2 {
		return nil
	}
	var names []Name
	for _, r := range runs {
		for _, s := range r.Settings {
			// Figures name the targets themselves.
			if s.Name != Targets && !slices.Contains(names, s.Name) {
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
	// values has what each run has of the setting, by whom it is of.
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
	shared := func(of string) bool { return having[of] > 1 }
	common := slices.ContainsFunc(runs, func(r Run) bool {
		return slices.ContainsFunc(r.Settings, func(s Setting) bool { return s.Name == name && shared(s.Of) })
	})
	if !common && !compared {
		return Difference{}, false
	}
	d := Difference{Setting: name}
	differ := false
	first := map[string]string{}
	known := map[string]bool{}
	for i, r := range runs {
		for of, value := range values[i] {
			if common && !shared(of) {
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

// together writes the values of a setting that some targets, datasets or judges have:
// one that all of them share once, and others with whose they are.
func together(settings []Setting, name Name, values map[string]string) string {
	var distinct []string
	owners := map[string][]string{}
	for _, s := range settings {
		value, ok := values[s.Of]
		if s.Name != name || !ok {
			continue
		}
		if owners[value] == nil {
			distinct = append(distinct, value)
		}
		owners[value] = append(owners[value], s.Of)
	}
	switch len(distinct) {
	case 0:
		return table.None
	case 1:
		return distinct[0]
	}
	const most = 3
	parts := make([]string, len(distinct))
	for i, value := range distinct {
		of := owners[value]
		if n := len(of) - most; n > 0 {
			of = append(slices.Clone(of[:most]), fmt.Sprintf("%d more", n))
		}
		parts[i] = value + " (" + strings.Join(of, ", ") + ")"
	}
	return strings.Join(parts, "; ")
}

// hash is one of a dataset in whole.
var hash = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// short gives differences with hashes as tables show them.
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

// mostColumns is with how many runs each has a column of its own.
const mostColumns = 3

// Section shows in which settings runs differ: a column for each run, or with many of
// them a line for each value. It has no rows where there is no difference.
func Section(differences []Difference) table.Section {
	s := table.Section{Title: "Settings that differ"}
	if len(differences) == 0 {
		return s
	}
	differences = short(differences)
	if runs := differences[0].Values; len(runs) <= mostColumns {
		s.Header = []string{"setting"}
		for _, v := range runs {
			s.Header = append(s.Header, v.Run)
		}
		for _, d := range differences {
			row := []string{string(d.Setting)}
			for _, v := range d.Values {
				row = append(row, v.Value)
			}
			s.Rows = append(s.Rows, row)
		}
		s.Left = len(s.Header)
		return s
	}
	s.Header, s.Left = []string{"setting", "value", "runs"}, 3
	for _, d := range differences {
		var distinct []string
		runs := map[string][]string{}
		for _, v := range d.Values {
			if runs[v.Value] == nil {
				distinct = append(distinct, v.Value)
			}
			runs[v.Value] = append(runs[v.Value], v.Run)
		}
		for _, value := range distinct {
			s.Add(d.Setting, value, strings.Join(runs[value], ", "))
		}
	}
	return s
}

// Warning says of which differences figures may come that look like differences of
// models, in one line; empty for none.
func Warning(differences []Difference) string {
	var parts []string
	for _, d := range short(differences) {
		if !d.Warning {
			continue
		}
		var values []string
		for _, v := range d.Values {
			if !slices.Contains(values, v.Value) {
				values = append(values, v.Value)
			}
		}
		parts = append(parts, string(d.Setting)+" ("+strings.Join(values, " against ")+")")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Not made alike, by " + strings.Join(parts, ", ") + ". Figures that differ may differ for that alone."
}
