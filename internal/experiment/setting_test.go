package experiment

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dataset"
)

// say is what flags say: a name and values for each.
func say(t testing.TB, flags ...[]string) []Said {
	t.Helper()
	var all []Said
	for _, f := range flags {
		i := slices.IndexFunc(Settings(), func(s Setting) bool { return s.Flag == f[0] && !s.Bare })
		if i < 0 {
			t.Fatalf("no flag --%s", f[0])
		}
		all = append(all, Settings()[i].Say(f[1:]...))
	}
	return all
}

// set is what --set says.
func set(t testing.TB, texts ...string) []Said {
	t.Helper()
	var all []Said
	for _, text := range texts {
		s, err := ParseSet("--set", text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// write puts an experiment into a file.
func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFlagsAreShortForYAML says the same by flags, by --set and in a file.
func TestFlagsAreShortForYAML(t *testing.T) {
	t.Parallel()
	file := `
name: "5"
targets: [sim/balanced, sim/strict]
datasets: [{dataset: own.csv, prompt_column: ask, category_column: c, label: toxic, label_values: "a=safe,*=toxic", label_column: l}]
judges: [lexical, "panel:majority(lexical,llm:sim/judge)"]
sample: 7
sample_seed: 3
until: 2pp
max_tokens: 0
judge_max_tokens: 30
seed: -4
variants:
  system_prompts: [{name: own, text: "Be: brief, #1"}]
  temperatures: [{temperature: 0.7, samples: 3}]
  framings: [authority, purpose]
  turns: [pushback]
  defenses: [icl, "smoothllm:n=4,q=5"]
`
	want := parse(t, file)
	// What has no flag is said by its path, a list without its brackets.
	byFlags, err := Load("", append(say(
		t,
		[]string{"target", "sim/balanced", "sim/strict"}, []string{"dataset", "own.csv"}, []string{"judge", "lexical,panel:majority(lexical,llm:sim/judge)"},
		[]string{"prompt-column", "ask"}, []string{"label-column", "l"}, []string{"label-values", "a=safe,*=toxic"}, []string{"label", "toxic"},
		[]string{"sample", "7"}, []string{"until", "2pp"}, []string{"max-tokens", "0"}, []string{"name", "5"},
		[]string{"system", "Be: brief, #1"}, []string{"temperature", "0.7"},
	), set(
		t,
		"datasets[*].category_column=c", "sample_seed=3",
		"judge_max_tokens=30", "seed=-4", "variants.temperatures[*].samples=3",
		"variants.framings=authority,purpose", "variants.turns=pushback",
		`variants.defenses=icl,"smoothllm:n=4,q=5"`,
	)...)...)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(byFlags.Experiment, want.Experiment) {
		t.Errorf("by flags\n%+v\nin a file\n%+v", byFlags.Experiment, want.Experiment)
	}
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(file)) {
		path, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if strings.HasPrefix(line, " ") {
			path = "variants." + path
		}
		if value != "" {
			lines = append(lines, path+"="+value)
		}
	}
	bySet, err := Load("", set(t, lines...)...)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(bySet.Experiment, want.Experiment) {
		t.Errorf("by --set\n%+v\nin a file\n%+v", bySet.Experiment, want.Experiment)
	}
}

// Every flag has a path that an experiment has, and one that nobody gives says nothing.
func TestEveryFlagHasAPath(t *testing.T) {
	t.Parallel()
	c := parse(t, least).Experiment
	for _, s := range Settings() {
		path := steps(s.Path)
		places, problem, _ := within(reflect.ValueOf(&c).Elem(), path)
		if len(path) == 0 || problem != "" || len(places) != 1 {
			t.Errorf("--%s: no place at %s: %s", s.Flag, s.Path, problem)
		}
	}
}

func TestSaidBesideAFile(t *testing.T) {
	t.Parallel()
	path := write(t, least+"limit: 9\nmax_tokens: 5\nvariants:\n  temperatures: [0.5, {temperature: 1, samples: 2}]\n  framings: [authority]\n")
	load := func(said ...Said) *File {
		t.Helper()
		f, err := Load(path, said...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := load(say(t, []string{"sample", "3"})...); f.Limit != 0 || f.Sample != 3 || f.MaxTokens != 5 {
		t.Errorf("a draw in place of a limit: %+v", f.Experiment)
	}
	if f := load(set(t, "variants.temperatures[*].samples=4")...); f.Variants.Temperatures[0].Samples != 4 || f.Variants.Temperatures[1].Samples != 4 || *f.Variants.Temperatures[1].Value != 1 {
		t.Errorf("samples of every temperature: %+v", f.Variants.Temperatures)
	}
	if f := load(set(t, "variants.framings=purpose", "variants.framings[1]={name: mine, prefix: Hello.}", "targets[0].max_tokens=7")...); len(f.Variants.Framings) != 2 ||
		f.Variants.Framings[0].Name != "purpose" || f.Variants.Framings[1].Prefix != "Hello." || *f.Targets[0].MaxTokens != 7 {
		t.Errorf("a list replaced, and an entry put behind it: %+v", f.Experiment)
	}
	if f := load(set(t, "$.variants.temperatures[1].temperature=default", "base_urls.vllm=http://127.0.0.1:1/v1", "variants.also[0].defense=icl")...); f.Variants.Temperatures[1].Value != nil ||
		f.Variants.Temperatures[1].Samples != 2 || f.BaseURLs["vllm"] == "" || *f.Variants.Also[0].Defense != "icl" {
		t.Errorf("inner settings: %+v", f.Experiment)
	}
}

// What is said beside a file has the checks of the file, and is named as it was said.
func TestFaultsOfWhatIsSaid(t *testing.T) {
	t.Parallel()
	path := write(t, least+"variants:\n  framings: [authority]\n")
	for name, tc := range map[string]struct {
		path string
		said []Said
		want string
	}{
		"no target":              {"", say(t, []string{"dataset", "starter"}), "--target: no target is named"},
		"no dataset":             {"", say(t, []string{"target", "sim/balanced"}, []string{"prompt-column", "x"}), "--dataset: no dataset is named"},
		"a bad target":           {path, say(t, []string{"target", "sim/balanced,gpt"}), `--target: "gpt" names no model`},
		"a bad label":            {path, say(t, []string{"label", "nice"}), `--label: "nice" is no label`},
		"no temperature":         {path, say(t, []string{"temperature", ""}), `--temperature: "" is not a temperature`},
		"a hot temperature":      {path, say(t, []string{"temperature", "2.1"}), "--temperature: 2.1 is not a temperature"},
		"nothing of a number":    {path, say(t, []string{"temperature", "NaN"}), "--temperature: NaN is not a temperature"},
		"samples at 0":           {path, set(t, "variants.temperatures[*].samples=2"), "--set variants.temperatures[*].samples: several samples are asked at temperature 0"},
		"no samples":             {path, set(t, "variants.temperatures[*].samples=0"), "--set variants.temperatures[*].samples: 0 is not a number of samples"},
		"a limit and a draw":     {path, say(t, []string{"limit", "2"}, []string{"sample", "2"}), "--sample: limit and sample cannot be combined"},
		"a framing":              {path, set(t, "variants.framings=loud"), `--set variants.framings: no framing is called "loud"`},
		"a name misspelled":      {"", say(t, []string{"target", "sim/balanced"}, []string{"dataset", "starter"}, []string{"system", "helpful-and-saef"}), `no system prompt is called "helpful-and-saef"; did you mean helpful-and-safe?`},
		"a name in capitals":     {"", say(t, []string{"target", "sim/balanced"}, []string{"dataset", "starter"}, []string{"system", "None"}), "did you mean none?"},
		"a file that there is":   {"", say(t, []string{"target", "sim/balanced"}, []string{"dataset", "starter"}, []string{"system", path}), "is a file, or named as one; write @" + path},
		"in the file":            {path, set(t, `variants.system_prompts=[none, {name: authority, text: x}]`), path + `:4: two different variants have the name "authority"`},
		"both said":              {"", append(say(t, []string{"target", "sim/balanced"}, []string{"dataset", "starter"}), set(t, "variants.framings=authority", `variants.system_prompts=[none, {name: authority, text: x}]`)...), `--set variants.framings, --set variants.system_prompts: two different variants have the name "authority"`},
		"no system prompt":       {path, say(t, []string{"system", "@none.txt"}), "--system: cannot read the system prompt: none.txt: no such file"},
		"a word for a number":    {path, set(t, "limit=many"), "--set limit: \"many\" is not a whole number; "},
		"a setting of the file":  {path, set(t, "variants.framings=[loud]"), `--set variants.framings: no framing is called "loud"`},
		"an unknown key":         {path, set(t, "targets=[{target: sim/strict, colour: red}]"), `--set targets: unknown field "colour"`},
		"a near name":            {path, set(t, "untl=2pp"), `--set untl: no setting here is called "untl"; did you mean until?`},
		"a near inner name":      {path, set(t, "variants.framing=[authority]"), "did you mean variants.framings?"},
		"a name elsewhere":       {path, set(t, "framing=[authority]"), "did you mean variants.framings?"},
		"a flag near another":    {path, set(t, "samples=2"), "did you mean variants.temperatures[*].samples?"},
		"a flag for a path":      {path, set(t, "max-tokens=5"), "did you mean max_tokens?"},
		"nothing near":           {path, set(t, "colours=5"), "use name, targets, datasets, "},
		"no path":                {path, set(t, "[[=5"), "--set [[: this is not the path of a setting"},
		"an entry too far":       {path, set(t, "targets[2].name=x"), "the list has 1 entries"},
		"no entry at all":        {path, set(t, "variants.also[*].defense=icl"), "--set variants.also[*].defense: the list has no entry"},
		"an entry of a text":     {path, set(t, "until[0]=x"), "there is no [0] here"},
		"a list without a place": {path, set(t, "targets.name=x"), "there is no name here; number the entry of a list"},
	} {
		_, err := Load(tc.path, tc.said...)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
	if _, err := ParseSet("--set", "until"); err == nil || !strings.Contains(err.Error(), "--set until: no value is given") {
		t.Errorf("no value: %v", err)
	}
}

// Paths in the file start in its folder, and those beside it where the command runs.
func TestPathsOfWhatIsSaid(t *testing.T) {
	t.Parallel()
	path := write(t, "targets: ['replay:a.csv']\ndatasets: [./a.csv]\n")
	f, err := Load(path, set(t, "datasets[1]=./b.csv")...)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Targets[0]; got.Target != dataset.ReplayPrefix+filepath.Join(filepath.Dir(path), "a.csv") || got.Called() != "replay:a.csv" {
		t.Errorf("a replay is %+v", got)
	}
	if f.Datasets[0].Dataset != filepath.Join(filepath.Dir(path), "a.csv") || f.Datasets[1].Dataset != "./b.csv" {
		t.Errorf("datasets %+v", f.Datasets)
	}
	f, err = Load(path, set(t, "targets[0].target=sim/strict")...)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Targets[0].Called(); got != "sim/strict" {
		t.Errorf("another target is called %q", got)
	}
}
