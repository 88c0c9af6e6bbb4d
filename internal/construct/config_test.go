package construct

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/orbench/orbench"
)

// least is the shortest configuration there is.
const least = `name: mine
seeds:
  generators: [sim/generator]
moderation:
  moderators:
    - model: sim/moderator-a
`

func TestLeastConfigIsThePapersMethod(t *testing.T) {
	t.Parallel()
	c, err := Parse("build.yaml", []byte(least))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Policy) != 10 || c.Policy[4].Category != "illegal" || c.Seeds.PerCategory != 2000 || c.Seeds.Temperature != 1 ||
		c.Rewrites.PerSeed != 5 || c.Rewrites.Temperature != 0.7 || len(c.Rewrites.Examples) != 5 || c.Hard.RefusedBy != 3 ||
		c.Rewrites.Rewriters[0] != "sim/generator" || c.Moderation.Rule != "majority" {
		t.Errorf("not the paper's method: %+v", c)
	}
}

// TestFaultsOfAConfig has a fault for every rule, each with the line that a user
// should look at.
func TestFaultsOfAConfig(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		line int
		want string
	}{
		"not YAML":               {"name: [", 1, "sequence"},
		"a tab":                  {"name: mine\n\tversion: 1", 2, "a tab stands here"},
		"unknown setting":        {least + "sedes: 4\n", 7, `unknown field "sedes"`},
		"unknown inner setting":  {strings.Replace(least, "seeds:", "seeds:\n  number: 4", 1), 3, `unknown field "number"`},
		"a word for a number":    {least + "near_duplicates: many\n", 7, "is not a number"},
		"a number for a list":    {strings.Replace(least, "[sim/generator]", "4", 1), 3, "a number stands where a list is expected"},
		"the same setting twice": {least + "name: other\n", 7, "already defined"},
		"no name":                {strings.Replace(least, "name: mine\n", "", 1), 0, "cannot be the name of a benchmark"},
		"a bad name":             {strings.Replace(least, "mine", "../mine", 1), 1, "cannot be the name of a benchmark"},
		"a bad version":          {least + "version: a b\n", 7, "not a version"},
		"a license of two lines": {least + `license: "mit\ntags: [mine]"` + "\n", 7, "no license"},
		"a hidden character":     {least + `license: "mit\u202e"` + "\n", 7, "no license"},
		"no generator":           {strings.Replace(least, "[sim/generator]", "[]", 1), 3, "no generator"},
		"no model":               {strings.Replace(least, "sim/moderator-a", "gpt-4o", 1), 6, "names no model"},
		"a generator's model":    {strings.Replace(least, "[sim/generator]", "\n    - sim/generator\n    - other", 1), 5, "names no model"},
		"a moderator twice":      {least + "    - model: sim/moderator-a\n", 7, "twice"},
		"a negative weight":      {least + "      weight: -1\n", 7, "negative weight"},
		"an unknown rule":        {least + "  rule: loudest\n", 7, "no rule"},
		"no moderator":           {strings.Replace(least, "  moderators:\n    - model: sim/moderator-a\n", "  rule: majority\n", 1), 5, "no moderator"},
		"no seeds":               {strings.Replace(least, "seeds:", "seeds:\n  per_category: 0", 1), 3, "fewer than one seed"},
		"a batch too large":      {strings.Replace(least, "seeds:", "seeds:\n  batch: 500", 1), 3, "from 1 to 100"},
		"a hot temperature":      {strings.Replace(least, "seeds:", "seeds:\n  temperature: 3", 1), 3, "temperature"},
		"a yield above 1":        {strings.Replace(least, "seeds:", "seeds:\n  min_yield: 2", 1), 3, "share"},
		"no rewrites":            {least + "rewrites:\n  per_seed: 0\n", 8, "from 1 to 50"},
		"an empty example":       {least + "rewrites:\n  examples:\n    - seed: a\n", 9, "without a rewrite"},
		"an unknown lint rule":   {least + "rewrites:\n  rules: [nonsense]\n", 8, "no rule"},
		"a likeness of 0":        {least + "near_duplicates: 0\n", 7, "similarity"},
		"a category twice":       {least + "policy:\n  - {category: a, text: x}\n  - {category: A, text: y}\n", 9, "twice"},
		"a category unnamed":     {least + "policy:\n  - {text: x}\n", 8, "without a name"},
		"a category untold":      {least + "policy:\n  - {category: a}\n", 8, "has no text"},
		"no family":              {least + "hard:\n  refused_by: 1\n  selectors:\n    - model: sim/strict\n", 10, "no family"},
		"too few families":       {least + "hard:\n  refused_by: 2\n  selectors:\n    - {model: sim/strict, family: s}\n", 8, "number of families"},
		"a selector twice":       {least + "hard:\n  refused_by: 1\n  selectors:\n    - {model: sim/strict, family: s}\n    - {model: sim/strict, family: t}\n", 11, "twice"},
		"a negative size":        {least + "toxic:\n  size: -1\n", 8, "negative"},
		"a bad second chance":    {least + "second_chance:\n  model: mistral\n", 8, "names no model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("build.yaml", []byte(tc.text))
			var input *orbench.InputError
			if !errors.As(err, &input) {
				t.Fatalf("%v, want an input error about %q", err, tc.want)
			}
			if input.Line != tc.line || !strings.Contains(input.Problem, tc.want) || input.Hint == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v (line %d); want line %d and %q, in one line with a hint", err, input.Line, tc.line, tc.want)
			}
		})
	}
}

// TestSchema holds the schema to the reader: what one takes, the other takes.
func TestSchema(t *testing.T) {
	t.Parallel()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("build.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("build.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		text string
		ok   bool
	}{
		"the least":       {least, true},
		"the template":    {Template, true},
		"unknown setting": {least + "sedes: 4\n", false},
		"no name":         {strings.Replace(least, "name: mine\n", "", 1), false},
		"a hot one":       {least + "rewrites: {temperature: 3}\n", false},
		"an unknown rule": {least + "  rule: loudest\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := yaml.YAMLToJSON([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(value); (err == nil) != tc.ok {
				t.Errorf("the schema says %v", err)
			}
			if _, err := Parse("build.yaml", []byte(tc.text)); (err == nil) != tc.ok {
				t.Errorf("the reader says %v", err)
			}
		})
	}
}

// TestTemplateShowsEverySetting reads the template without its comments' signs:
// every setting that the configuration knows is in it.
func TestTemplateShowsEverySetting(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Default())
	if err != nil {
		t.Fatal(err)
	}
	var settings map[string]any
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	var look func(at string, of map[string]any)
	look = func(at string, of map[string]any) {
		for name, value := range of {
			if !strings.Contains(Template, name+":") {
				t.Errorf("the template does not show %s%s", at, name)
			}
			if inner, ok := value.(map[string]any); ok {
				look(at+name+".", inner)
			}
		}
	}
	look("", settings)
}
