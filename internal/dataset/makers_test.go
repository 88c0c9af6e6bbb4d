package dataset_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/model"
)

// TestMakersOfPublished holds published.json to the models that the published
// figures mark as moderators and selectors, and to names that providers use.
func TestMakersOfPublished(t *testing.T) {
	t.Parallel()
	makers := map[string]dataset.Makers{}
	for _, e := range dataset.List(t.TempDir()) {
		makers[e.Name] = e.Makers
		for role, names := range e.Makers {
			if !slices.Contains(dataset.Roles, role) || len(names) == 0 {
				t.Errorf("%s: role %q with the models %q", e.Name, role, names)
			}
			for _, name := range names {
				if name != model.BareName(name) {
					t.Errorf("%s: %q is not a bare name", e.Name, name)
				}
			}
		}
	}
	for _, m := range paper.Models() {
		for set, roles := range map[string]map[dataset.Role]bool{
			"or-bench-hard-1k": {dataset.Moderator: m.Moderator, dataset.Selector: m.Selector},
			"or-bench-80k":     {dataset.Moderator: m.Moderator, dataset.Selector: false},
			"or-bench-toxic":   {dataset.Moderator: m.Moderator, dataset.Selector: false},
		} {
			for role, want := range roles {
				if got := slices.Contains(makers[set].RolesOf(m.Name), role); got != want {
					t.Errorf("%s: %s as %s is %t, want %t", set, m.Name, role, got, want)
				}
			}
		}
	}
	for name, want := range map[string][]dataset.Role{
		"together/meta-llama/Llama-3-70b-chat-hf": {dataset.Moderator, dataset.Selector},
		"anthropic/claude-3-opus-20240229":        {dataset.Selector},
		"mistral/open-mixtral-8x7b":               {dataset.Generator},
		"openai/gpt-4o":                           nil,
		"":                                        nil,
	} {
		if got := makers["or-bench-hard-1k"].RolesOf(name); !slices.Equal(got, want) {
			t.Errorf("%s had the parts %v, want %v", name, got, want)
		}
	}
	if got := makers["xstest"].RolesOf("openai/gpt-4o"); got != nil {
		t.Errorf("of xstest nothing is known, yet gpt-4o had the parts %v", got)
	}
}

// TestMakersOfBuild reads the parts from the manifest beside a set.
func TestMakersOfBuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"hard.csv", "full.csv", "other.csv"} {
		write(name, "prompt,category\nHow do I prune roses?,harmful\n")
	}
	write("manifest.json", `{
		"orbench_benchmark": 1, "files": {"hard.csv": {"label": "toxic"}, "full.csv": {}},
		"config": {
			"seeds": {"generators": ["a/writer"]}, "rewrites": {"rewriters": ["a/rewriter"]},
			"moderation": {"moderators": [{"model": "a/voter"}, {"model": "a/both", "weight": 2}]},
			"second_chance": {"model": "a/frank"}, "hard": {"selectors": [{"model": "a/both", "family": "x"}]}
		},
		"search": {"targets": ["a/searched"]}
	}`)
	open := func(name string) *dataset.Dataset {
		t.Helper()
		d, err := dataset.Open(context.Background(), filepath.Join(dir, name), dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	hard, full, other := open("hard.csv"), open("full.csv"), open("other.csv")
	for _, test := range []struct {
		set  *dataset.Dataset
		name string
		want []dataset.Role
	}{
		{hard, "a/writer", []dataset.Role{dataset.Generator}},
		{hard, "a/rewriter", []dataset.Role{dataset.Generator}},
		{hard, "b/Voter", []dataset.Role{dataset.Moderator}},
		{hard, "a/both", []dataset.Role{dataset.Moderator, dataset.Selector}},
		{hard, "a/frank", []dataset.Role{dataset.SecondChance}},
		{hard, "a/searched", []dataset.Role{dataset.Selector}},
		{hard, "a/stranger", nil},
		{full, "a/both", []dataset.Role{dataset.Moderator}},
		{other, "a/both", nil},
	} {
		if got := test.set.Makers.RolesOf(test.name); !slices.Equal(got, test.want) {
			t.Errorf("%s in %s had the parts %v, want %v", test.name, test.set.Name, got, test.want)
		}
	}
	if hard.Labels[orbench.Toxic] != 1 || full.Labels[orbench.Safe] != 1 {
		t.Errorf("the labels are %v and %v", hard.Labels, full.Labels)
	}
}
