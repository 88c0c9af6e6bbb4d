package table_test

import (
	"testing"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

func TestShortenTarget(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		n    int
		want string
	}{
		"sim/balanced":                         {20, "sim/balanced"},
		"sim/balanced [icl]":                   {18, "sim/balanced [icl]"},
		"sim/balanced [purpose, icl]":          {24, "balanced [purpose, icl]"},
		"vllm/meta-llama/Llama-3.1-8B":         {12, "Llama-3.1-8B"},
		"p/m [one, two, three, four]":          {20, "m [one, tw…ee, four]"},
		"p/a-long-name [temperature 0.7]":      {28, "a-lon…name [temperature 0.7]"},
		"p/m [x]":                              {5, "m [x]"},
		"/a/b/answers.csv#qwen3:4b, 2 samples": {24, "qwen3:4b, 2 samples"},
	} {
		got := table.ShortenTarget(name, tc.n)
		if untrusted.Width(got) > tc.n || got != tc.want {
			t.Errorf("%q in %d columns is %q (%d), want %q", name, tc.n, got, untrusted.Width(got), tc.want)
		}
	}
}

// TestShort tells names apart that would be alike when they are short.
func TestShort(t *testing.T) {
	t.Parallel()
	names := []string{"openai/org/Model-3.1-405B-Instruct-Turbo", "openai/org/Model-3.2-090B-Instruct-Turbo", "a/x", "b/x", "a/x"}
	short := table.Short(names, 12)
	if short["a/x"] != "a/x" || short[names[0]] == short[names[1]] || untrusted.Width(short[names[0]]) > 30 {
		t.Errorf("%q", short)
	}
	short = table.Short([]string{"/a/b/c.csv#m", "/a/b/c.csv#a-longer-name"}, 16)
	if short["/a/b/c.csv#m"] != "m" || short["/a/b/c.csv#a-longer-name"] != "a-longer-name" {
		t.Errorf("%q", short)
	}
	short = table.Short([]string{"sim/relaxed, 3 samples", "sim/permissive, 3 samples"}, 22)
	if short["sim/relaxed, 3 samples"] != "relaxed, 3 samples" || short["sim/permissive, 3 samples"] != "permissive, 3 samples" {
		t.Errorf("%q", short)
	}
	short = table.Short([]string{"sim/relaxed", "openai/gpt-4o-mini-2024"}, 16)
	if short["sim/relaxed"] != "sim/relaxed" || len(table.Short(nil, 4)) != 0 {
		t.Errorf("%q", short)
	}
}
