package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/orbench/orbench"
)

// least is the shortest experiment there is.
const least = "targets: [sim/balanced]\ndatasets: [starter]\n"

// labels are the names of the variants, the plain one's empty.
func labels(c *Experiment) []string {
	var all []string
	variants := c.Expand()
	for _, w := range variants {
		all = append(all, strings.Join(w.Labels(variants[0]), ", "))
	}
	return all
}

func parse(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse("experiment.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLeastExperiment(t *testing.T) {
	t.Parallel()
	f := parse(t, least)
	if f.Targets[0].Target != "sim/balanced" || f.Datasets[0].Dataset != "starter" || !slices.Equal(f.Judges, []string{"lexical"}) || f.MaxTokens != 1000 {
		t.Errorf("%+v", f.Experiment)
	}
	variants := f.Expand()
	if len(variants) != 1 || variants[0].System.Text != "" || *variants[0].Temperature.Value != 0 || variants[0].Temperature.Samples != 1 || variants[0].Defense != None {
		t.Errorf("%+v", variants)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	f := parse(t, `
name: all-forms
targets:
  - sim/balanced
  - {target: openai/m, name: short, base_url: "http://127.0.0.1:1/v1", max_tokens: 0, seed: 7}
datasets:
  - {dataset: a.csv, prompt_column: p, label: toxic}
variants:
  cross: false
  system_prompts: [helpful-and-safe, none, {name: terse, text: Be brief.}]
  temperatures: [default, 0.7, {temperature: 1, samples: 4}]
  framings: [none, authority, {name: class, suffix: Thanks.}]
  defenses: [none, " icl + response-check "]
  also:
    - {system_prompt: terse, framing: class, defense: icl}
    - {temperature: {temperature: 0.2, samples: 2}, framing: authority}
`)
	want := []string{
		"", "no system prompt", "terse", "temperature 0.7", "temperature 1", "authority", "class", "icl+response-check",
		"terse, class, icl", "temperature 0.2, authority",
	}
	if got := labels(&f.Experiment); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	second := f.Targets[1]
	if second.Called() != "short" || second.Target != "openai/m" || *second.MaxTokens != 0 || *second.Seed != 7 {
		t.Errorf("second target %+v", second)
	}
	variants := f.Expand()
	if variants[0].System.Text == "" || variants[0].Temperature.Value != nil || variants[1].System.Text != "" || variants[4].Temperature.Samples != 4 {
		t.Errorf("variants %+v", variants[:5])
	}
	last := variants[len(variants)-2]
	if last.System.Text != "Be brief." || last.Framing.Suffix != "Thanks." || last.Defense != "icl" {
		t.Errorf("a single combination %+v", last)
	}
}

// A single combination may have samples of its own.
func TestSamplesOfACombination(t *testing.T) {
	t.Parallel()
	f := parse(t, least+"variants:\n  temperatures: [0, 0.7]\n  also:\n    - {framing: purpose, temperature: {temperature: 0.7, samples: 3}}\n")
	variants := f.Expand()
	if last := variants[len(variants)-1]; len(variants) != 3 || last.Temperature.Samples != 3 || variants[1].Temperature.Samples != 1 {
		t.Errorf("%+v", variants)
	}
}

func TestCross(t *testing.T) {
	t.Parallel()
	f := parse(t, least+"variants:\n  framings: [purpose]\n  temperatures: [0, 1]\n  defenses: [icl, self-reminder]\n  also:\n    - {framing: purpose, defense: icl}\n    - {framing: authority, defense: icl}\n")
	want := []string{
		"", "icl", "self-reminder", "purpose", "purpose, icl", "purpose, self-reminder",
		"temperature 1", "temperature 1, icl", "temperature 1, self-reminder", "temperature 1, purpose", "temperature 1, purpose, icl", "temperature 1, purpose, self-reminder",
		"authority, icl",
	}
	if got := labels(&f.Experiment); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestFaults has a fault for every rule, each with the line that a user should
// look at.
func TestFaults(t *testing.T) {
	t.Parallel()
	variants := func(lines string) string { return least + "variants:\n" + lines }
	for name, tc := range map[string]struct {
		text string
		line int
		want string
	}{
		"not YAML":                {"targets: [", 1, "sequence"},
		"unknown setting":         {least + "limits: 4\n", 3, `unknown field "limits"`},
		"unknown inner setting":   {variants("  system: [none]\n"), 4, `unknown field "system"`},
		"unknown in an object":    {strings.Replace(least, "[starter]", "\n  - dataset: x.csv\n    column: a", 1), 4, `unknown field "column"`},
		"a word for a number":     {least + "limit: many\n", 3, "whole number"},
		"a list for a target":     {strings.Replace(least, "[sim/balanced]", "\n  - [a, b]", 1), 2, "a list stands where settings by name are expected"},
		"a bad name":              {least + "name: 'a '\n", 3, "cannot be the name of a run"},
		"no targets":              {"datasets: [starter]\n", 0, "no target is named"},
		"no model":                {"targets:\n  - sim/balanced\n  - gpt-4o\ndatasets: [starter]\n", 3, `"gpt-4o" names no model`},
		"a target twice":          {"targets:\n  - sim/balanced\n  - target: sim/balanced\n    max_tokens: 5\ndatasets: [starter]\n", 3, "sim/balanced is there twice"},
		"a name twice":            {"targets:\n  - {target: sim/balanced, name: a}\n  - {target: sim/strict, name: a}\ndatasets: [starter]\n", 3, `two targets are called "a"`},
		"brackets in a name":      {"targets:\n  - {target: sim/balanced, name: 'a [b]'}\ndatasets: [starter]\n", 2, "cannot be the name of a target"},
		"negative tokens":         {"targets:\n  - target: sim/balanced\n    max_tokens: -1\ndatasets: [starter]\n", 3, "negative"},
		"no datasets":             {"targets: [sim/balanced]\n", 0, "no dataset is named"},
		"an empty dataset":        {strings.Replace(least, "[starter]", "[{prompt_column: x}]", 1), 2, "without a name"},
		"a bad label":             {strings.Replace(least, "[starter]", "\n  - dataset: x.csv\n    label: nice", 1), 4, `"nice" is no label`},
		"no judges":               {least + "judges: []\n", 3, "no judge"},
		"a bad judge":             {least + "judges:\n  - lexical\n  - lexicl\n", 5, "lexicl"},
		"a negative limit":        {least + "limit: -1\n", 3, "negative"},
		"a system prompt unknown": {variants("  system_prompts: [none, kind]\n"), 4, `no system prompt is called "kind"`},
		"a system prompt renamed": {variants("  system_prompts:\n    - {name: none, text: x}\n"), 5, "is taken by another system prompt"},
		"a system prompt unnamed": {variants("  system_prompts:\n    - {text: x}\n"), 5, "cannot be the name of a system prompt"},
		"a system prompt's file":  {variants("  system_prompts:\n    - {name: a, text: promts/new.txt}\n"), 5, "promts/new.txt is a file, or named as one"},
		"a system prompt twofold": {variants("  system_prompts:\n    - {name: a, text: x, file: y}\n"), 5, "both a text and a file"},
		"a system prompt twice":   {variants("  system_prompts: [none, none]\n"), 4, "there twice"},
		"a hot temperature":       {variants("  temperatures: [0, 3]\n"), 4, "3 is not a temperature"},
		"no temperature":          {variants("  temperatures: [warm]\n"), 4, `"warm" is not a temperature`},
		"samples alone":           {variants("  temperatures:\n    - {samples: 4}\n"), 5, "a temperature is missing"},
		"samples at 0":            {variants("  temperatures:\n    - 1\n    - {temperature: 0, samples: 4}\n"), 6, "several samples are asked at temperature 0"},
		"too many samples":        {variants("  temperatures:\n    - {temperature: 1, samples: 5000}\n"), 5, "not a number of samples"},
		"a temperature twice":     {variants("  temperatures: [0.7, 0.70]\n"), 4, "there twice"},
		"a framing unknown":       {variants("  framings:\n    - loud\n"), 5, `no framing is called "loud"`},
		"a framing renamed":       {variants("  framings:\n    - {name: purpose, suffix: x}\n"), 5, "is taken by another framing"},
		"a framing badly named":   {variants("  framings:\n    - {name: 'a, b', suffix: x}\n"), 5, "cannot be the name of a framing"},
		"a framing twice":         {variants("  framings: [purpose, purpose]\n"), 4, "there twice"},
		"a bad defense":           {variants("  defenses:\n    - icl\n    - smothllm\n"), 6, "smothllm"},
		"a defense twice":         {variants("  defenses: [icl + self-reminder, icl+self-reminder]\n"), 4, "there twice"},
		"an empty combination":    {variants("  also:\n    - {}\n"), 5, "an empty combination"},
		"a bad combination":       {variants("  also:\n    - {framing: purpose}\n    - framing: x\n      defense: icl\n"), 6, "no framing"},
		"a bad single defense":    {variants("  also:\n    - framing: purpose\n      defense: ic\n"), 6, `"ic"`},
		"other samples":           {variants("  temperatures: [0, 0.7]\n  also:\n    - framing: purpose\n    - temperature: {temperature: 0.7, samples: 2}\n"), 7, "the second time with 1 samples"},
		"names that collide":      {variants("  system_prompts: [none, {name: own, text: x}]\n  framings: [{name: own, suffix: y}]\n"), 4, `have the name "own"`},
		"a framed replay":         {"targets:\n  - sim/balanced\n  - replay:x.csv\ndatasets: [starter]\nvariants:\n  framings: [purpose]\n", 3, "recorded answers belong to the plain prompts"},
		"too many variants":       {variants("  defenses: [" + many() + "]\n  framings: [" + letters() + "]\n"), 4, "more than 10000 variants"},
	} {
		_, err := Parse("experiment.yaml", []byte(tc.text))
		var input *orbench.InputError
		if !errors.As(err, &input) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if input.File != "experiment.yaml" || input.Line != tc.line || !strings.Contains(input.Problem, tc.want) {
			t.Errorf("%s: got %q, want line %d and %q", name, err, tc.line, tc.want)
		}
	}
}

// many lists a hundred defenses, letters a hundred framings.
func many() string {
	var all []string
	for n := range 100 {
		all = append(all, "'smoothllm:n="+strconv.Itoa(n+1)+"'")
	}
	return strings.Join(all, ", ")
}

func letters() string {
	var all []string
	for n := range 100 {
		all = append(all, "{name: "+string(rune('a'+n/10))+string(rune('a'+n%10))+", suffix: x}")
	}
	return strings.Join(all, ", ")
}

func TestSystemPromptsFromFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "experiment.yaml")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("experiment.yaml", least+"variants:\n  system_prompts:\n    - none\n    - {name: own, file: own.txt}\n")
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path+":6: cannot read the system prompt: own.txt: ") {
		t.Errorf("without the file: %v", err)
	}
	write("own.txt", "Be kind.\n")
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Expand()[1].System.Text; got != "Be kind." {
		t.Errorf("got %q", got)
	}
	if got := f.Resolve("own.txt"); got != filepath.Join(dir, "own.txt") {
		t.Errorf("resolved to %s", got)
	}
	if _, err := Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("no file: %v", err)
	}
}

func TestTemplateAndSchema(t *testing.T) {
	t.Parallel()
	f := parse(t, Template)
	if n := len(f.Expand()); n != 9 {
		t.Errorf("the template has %d variants, and says nine", n)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("experiment.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("experiment.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, fits := range map[string]bool{
		Template: true,
		least:    true,
		least + "variants: {temperatures: [default, 1, {temperature: default, samples: 2}], system_prompts: [{name: a, text: b}]}": true,
		"targets: [sim/balanced]\n":                                  false,
		least + "nothing: 1\n":                                       false,
		least + "variants: {temperatures: [{samples: 2}]}\n":         false,
		least + "variants: {framings: [{prefix: x}]}\n":              false,
		"targets: [{name: a}]\ndatasets: [starter]\n":                false,
		"targets: [{target: a/b, colour: c}]\ndatasets: [starter]\n": false,
	} {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		value, err = jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != fits {
			t.Errorf("%.60q: %v, should fit: %v", text, err, fits)
		}
	}
}

// What Parse accepts has variants with names of their own, and what it does not
// the user can mend.
func FuzzParse(f *testing.F) {
	f.Add(Template)
	f.Add(least)
	f.Add(least + "variants: {temperatures: [default, {temperature: 1, samples: 2}], also: [{framing: {name: a, prefix: b}}]}")
	f.Add(least + "variants: {defenses: [icl], system_prompts: [{name: x, text: y}, none]}")
	f.Add(least + "variants: {turns: [pushback, {name: x, turns: [{user: \"{{prompt}}\"}, own, {user: Why?}]}], also: [{turns: x, defense: icl}]}")
	f.Add("targets: &a [x/y]\ndatasets: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "file") {
			t.Skip("it may name any file of this machine")
		}
		file, err := Parse("experiment.yaml", []byte(text))
		if err != nil {
			if !errors.Is(err, orbench.ErrInput) {
				t.Errorf("%q: %v is not the user's to mend", text, err)
			}
			return
		}
		seen := map[string]bool{}
		for i, label := range labels(&file.Experiment) {
			if seen[label] || (label == "") != (i == 0) {
				t.Errorf("%q: two variants are called %q", text, label)
			}
			seen[label] = true
		}
	})
}
