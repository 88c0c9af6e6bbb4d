package experiment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestContinue keeps experiments as JSON, and holds what goes on from them to what they were.
func TestContinue(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("own.txt", []byte("Be brief."), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"the template":     Template,
		"recorded answers": "targets: [replay:answers.csv, {target: replay:more.csv, name: more}]\ndatasets: [p.csv]",
		"all kinds": `
targets: [{target: openai/m, name: mine, seed: 3}]
datasets: [{dataset: p.csv, label_column: kind}, starter]
judges: [lexical, "panel:majority(lexical,paper-keywords,llm:openai/j)"]
sample: 20
max_tokens: 0
variants:
  system_prompts: [none, helpful-and-safe, {name: house, file: own.txt}]
  temperatures: [default, {temperature: 0.7, samples: 3}]
  framings: [authority]
  turns: [pushback-own, {name: talk, turns: [{user: Hello}, own, {user: "{{prompt}}"}]}]
`,
	} {
		f, err := Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := json.Marshal(f.Kept())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(name, "all") {
			if err := os.Remove("own.txt"); err != nil { // the run keeps the text
				t.Fatal(err)
			}
		}
		var kept Experiment
		if err := json.Unmarshal(b, &kept); err != nil {
			t.Fatal(err)
		}
		again, err := Continue(kept)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if was, is := f.Expand(), again.Expand(); len(was) != len(is) {
			t.Errorf("%s: %d variants, then %d", name, len(was), len(is))
		}
		calls := func(x *File) (all []string) {
			for _, target := range x.Targets {
				all = append(all, target.Called())
			}
			return all
		}
		if !slices.Equal(calls(f), calls(again)) || !reflect.DeepEqual(f.Judges, again.Judges) || f.MaxTokens != again.MaxTokens || f.Sample != again.Sample || f.Limit != again.Limit {
			t.Errorf("%s: %+v, then %+v", name, f.Experiment, again.Experiment)
		}
		for _, d := range again.Datasets {
			if d.Dataset != "starter" && !filepath.IsAbs(d.Dataset) {
				t.Errorf("%s: the path of %s is that of one folder", name, d.Dataset)
			}
		}
	}
}

// TestContinueAdds adds what is said to what is kept, each once, and says other settings of what
// is added alone.
func TestContinueAdds(t *testing.T) {
	t.Chdir(t.TempDir())
	kept := Default()
	kept.Targets, kept.Datasets, kept.Limit = []Target{{Target: "sim/balanced"}}, []Dataset{{Dataset: "starter"}}, 7
	f, err := Continue(
		kept,
		Said{From: "--label", Path: "datasets[*].label", Value: "toxic"},
		Said{From: "--target", Path: "targets", Value: "[sim/balanced, sim/strict]"},
		Said{From: "--dataset", Path: "datasets", Value: "[more.csv=safe]"},
		Said{From: "--judge", Path: "judges", Value: "[lexical, paper-keywords]"},
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Targets) != 2 || len(f.Datasets) != 2 || len(f.Judges) != 2 || f.Limit != 7 {
		t.Errorf("%+v", f.Experiment)
	}
	if f.Datasets[0].Label != "" || f.Datasets[1].Dataset != "more.csv" || f.Datasets[1].Label != "toxic" {
		t.Errorf("%+v", f.Datasets)
	}
}

// TestContinueGone goes on from what an older program kept with settings that are gone.
func TestContinueGone(t *testing.T) {
	t.Parallel()
	var kept Experiment
	const text = `{"targets": [{"target": "replay:a.csv"}], "datasets": [{"dataset": "replay:a.csv", "user_column": "who", "unlabeled": true, "label": "undecided"}],
		"judges": ["lexical"], "until": "8pp", "until_interval": "sequence", "variants": {"cross": true, "temperatures": [{"temperature": 0, "samples": 1}]}}`
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		t.Fatal(err)
	}
	f, err := Continue(kept)
	if err != nil {
		t.Fatal(err)
	}
	if d := f.Kept().Datasets[0]; f.Until != "8pp,sequence" || d.User != "who" || !d.Unlabeled {
		t.Errorf("it goes on with %+v", f.Experiment)
	}
	if f, err = Continue(kept, Said{From: "--until", Path: "until", Value: "5pp,wilson"}); err != nil || f.Until != "5pp,wilson" {
		t.Errorf("another width is %q, %v", f.Until, err)
	}
}

// TestGone says of each setting that is gone what to do, in a file and beside it.
func TestGone(t *testing.T) {
	t.Parallel()
	for path, hint := range map[string]string{
		"until_interval":          "write it behind the width, as in until=2pp,sequence",
		"datasets[0].user_column": "call the column user_id in the file",
		"datasets[0].unlabeled":   "leave it out; orbench judge passes over the labels of a file of responses",
		"variants.languages":      "name a dataset in another language as it is",
		"variants.translator":     "name a dataset in another language as it is",
	} {
		within, name, _ := strings.Cut(path, ".")
		line := "until_interval: x"
		switch within {
		case "variants":
			line = "variants: {" + name + ": x}"
		case "datasets[0]":
			line = "datasets: [{dataset: starter, " + name + ": x}]"
		default:
			name = path
		}
		want := "there is no setting " + name + " any more; " + hint
		if _, err := Parse("x.yaml", []byte("targets: [sim/balanced]\n"+line+"\n")); err == nil || err.Error() != "x.yaml:2: "+want {
			t.Errorf("%s in a file: %v", path, err)
		}
		if _, err := Load("", Said{From: "--set " + path, Path: path, Value: "x"}); err == nil || err.Error() != "--set "+path+": "+want {
			t.Errorf("--set %s: %v", path, err)
		}
	}
}
