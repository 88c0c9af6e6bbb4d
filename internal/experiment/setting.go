package experiment

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/settings"
)

// Setting is a flag that is short for a YAML path of an experiment.
type Setting struct {
	Flag string
	// Path is the YAML path without "$."; [*] stands for every entry of a list.
	Path string
	// Default is the value without the flag. Its type is that of the flag.
	Default any
	// Group is the flag's group in --help, subject or manner, and empty where other commands
	// have the flag too. Usage is empty where they have the same text.
	Group, Usage string
	// Bare is true where there is no flag, but the path, which --set takes; Flag is the name
	// by which it may be looked for.
	Bare bool
	// Values lists what the flag takes, for completion; nil where that is no fixed list.
	Values func() []string

	// split splits a list that is given with commas; nil splits at every comma.
	split func([]string) []string
	// write is the YAML of a value that is not written as it is.
	write func(string) string
}

// Settings lists the flags of an experiment, in the order of --help.
func Settings() []Setting { return slices.Concat(configSettings, variantSettings) }

// FlagOf is how a setting is given on the command line: by its flag or, if it has none, by
// its path.
func FlagOf(setting string) string {
	for _, s := range Settings() {
		if s.Flag == setting {
			return s.from()
		}
	}
	return "--" + setting
}

// from is how the setting is given on the command line.
func (s Setting) from() string {
	if s.Bare {
		return strings.Join([]string{"--set", s.Path}, " ")
	}
	return "--" + s.Flag
}

// Said is the value of a setting that is given beside the file.
type Said struct {
	// From is what errors call it, such as --limit.
	From string
	// Path is as in Setting, and Value is YAML.
	Path, Value string
	// Others are names beside the paths of an experiment, one of which may be meant.
	Others []string
}

// Say is what the flag says with these values; a flag that is no list has one.
func (s Setting) Say(values ...string) Said {
	var text string
	_, list := s.Default.([]string)
	_, word := s.Default.(string)
	switch {
	case s.write != nil:
		text = s.write(values[0])
	case list:
		split := s.split
		if split == nil {
			split = commas
		}
		quoted := each(split(values), func(v string) string { return quote(v) })
		text = "[" + strings.Join(quoted, ", ") + "]"
	case word:
		text = quote(values[0])
	default:
		text = values[0]
	}
	return Said{From: s.from(), Path: s.Path, Value: text}
}

// quote is a text as YAML, of which JSON is a part.
func quote(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		panic("experiment: a text is not JSON: " + err.Error())
	}
	return string(b)
}

// commas parts values at their commas.
func commas(values []string) (all []string) {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				all = append(all, part)
			}
		}
	}
	return all
}

// ParseSet reads PATH=VALUE: any YAML path of an experiment and its value. Errors name
// from and the path as their place.
func ParseSet(from, text string) (Said, error) {
	path, value, ok := strings.Cut(text, "=")
	s := Said{From: from + " " + path, Path: strings.TrimPrefix(path, "$."), Value: value}
	if !ok {
		return s, &orbench.InputError{File: s.From, Problem: "no value is given", Hint: "write NAME=VALUE, such as limit=100 or judges=lexical"}
	}
	return s, nil
}

// step is one of a path: a name, or a number of an entry or [*] for all of them.
var step = regexp.MustCompile(`^(?:\.?([A-Za-z0-9_-]+)|(\[(?:[0-9]{1,6}|\*)\]))`)

// every is the step that stands for all entries of a list.
const every = "[*]"

// steps parts a path; nil is no path.
func steps(path string) (all []string) {
	for path != "" {
		m := step.FindStringSubmatch(path)
		if m == nil {
			return nil
		}
		all, path = append(all, m[1]+m[2]), path[len(m[0]):]
	}
	return all
}

// number is that of an entry, which [*] covers.
var number = regexp.MustCompile(`\[[0-9]+\]`)

// covers reports whether a path is one around another, or the same.
func covers(around, path string) bool {
	return slices.ContainsFunc([]string{path, number.ReplaceAllString(path, every)}, func(path string) bool {
		rest, ok := strings.CutPrefix(path, around)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], ".["))
	})
}

// place is where a value goes.
type place struct {
	of  reflect.Type
	put func(reflect.Value)
}

// set puts what is said into the experiment.
func (c *Experiment) set(s Said) error {
	wrong := func(problem, hint string) error {
		return &orbench.InputError{File: s.From, Problem: problem, Hint: hint}
	}
	path := steps(s.Path)
	if len(path) == 0 {
		return wrong("this is not the path of a setting", "write one such as limit, targets[0].name or variants.defenses")
	}
	places, problem, hint := within(reflect.ValueOf(c).Elem(), path)
	if problem != "" {
		near := strings.TrimSuffix(strings.TrimPrefix(hint, "did you mean "), "?")
		if other := settings.Nearest(s.Path, append([]string{near}, s.Others...)); slices.Contains(s.Others, other) {
			hint = "did you mean " + other + "?"
		}
		return wrong(problem, hint)
	}
	// Check refuses an experiment without targets or datasets.
	if len(places) == 0 && len(c.Targets) > 0 && len(c.Datasets) > 0 {
		return wrong("the list has no entry", "list some first")
	}
	for _, p := range places {
		of := p.of
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		value := reflect.New(of)
		if err := settings.Value(s.From, s.Value, value.Interface(), usage); err != nil {
			return err
		}
		switch text := strings.TrimSpace(s.Value); {
		case of == p.of:
			p.put(value.Elem())
		case text == "" || text == "null":
			p.put(reflect.Zero(p.of))
		default:
			p.put(value)
		}
	}
	return nil
}

// within finds the places at the end of a path, and makes those on the way; problem says
// what is wrong with the path.
func within(v reflect.Value, path []string) (places []place, problem, hint string) {
	if len(path) == 0 {
		return []place{{v.Type(), v.Set}}, "", ""
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	next, rest := path[0], path[1:]
	switch entry := strings.HasPrefix(next, "["); {
	case entry != (v.Kind() == reflect.Slice), !slices.Contains([]reflect.Kind{reflect.Slice, reflect.Struct, reflect.Map}, v.Kind()):
		return nil, fmt.Sprintf("there is no %s here", next), "number the entry of a list, as in targets[0].name; [*] means every entry"
	case next == every:
		for i := range v.Len() {
			inner, problem, hint := within(v.Index(i), rest)
			if problem != "" {
				return nil, problem, hint
			}
			places = append(places, inner...)
		}
		return places, "", ""
	case entry:
		i, _ := strconv.Atoi(strings.Trim(next, "[]"))
		if i > v.Len() {
			return nil, fmt.Sprintf("the list has %d entries, so there is no %s", v.Len(), next), fmt.Sprintf("the highest number is [%d], for a new entry", v.Len())
		}
		if i == v.Len() {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		}
		return within(v.Index(i), rest)
	case v.Kind() == reflect.Map:
		if len(rest) > 0 {
			return nil, fmt.Sprintf("%s is a single value", next), usage
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		return []place{{v.Type().Elem(), func(value reflect.Value) { v.SetMapIndex(reflect.ValueOf(next), value) }}}, "", ""
	}
	if own, ok := v.Addr().Interface().(interface{ within([]string) (place, bool) }); ok {
		if p, ok := own.within(path); ok {
			return []place{p}, "", ""
		}
	}
	var names []string
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		if name == next {
			return within(v.Field(i), rest)
		}
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	if hint := settings.Gone(next); hint != "" {
		return nil, fmt.Sprintf("there is no setting %s any more", next), hint
	}
	return nil, fmt.Sprintf("no setting here is called %q", next), near(next, names)
}

// near suggests what a name was meant to be: the path of the flag of that name, or a near
// name at its place, or the path of a flag with a near name.
func near(name string, here []string) string {
	flags := each(Settings(), func(s Setting) string { return s.Flag })
	i := slices.Index(flags, name)
	if meant := settings.Nearest(name, here); i < 0 && meant != "" {
		return "did you mean " + meant + "?"
	}
	if i < 0 {
		i = slices.Index(flags, settings.Nearest(name, flags))
	}
	if i >= 0 {
		return "did you mean " + Settings()[i].Path + "?"
	}
	return "use " + strings.Join(here, ", ")
}

// SplitList splits comma-separated targets or datasets. A value that is the path of a file
// is taken whole, commas and all.
func SplitList(values []string) (out []string) {
	for _, v := range values {
		if _, err := os.Stat(strings.TrimPrefix(v, dataset.ReplayPrefix)); err == nil {
			out = append(out, v)
			continue
		}
		out = append(out, commas([]string{v})...)
	}
	return out
}
