package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCommandLine(t *testing.T) {
	t.Parallel()
	a := &app{args: []string{"eval", "--target", "sim/balanced", "--system", "@be brief.txt", ""}}
	if got, want := a.commandLine(), "orbench eval --target sim/balanced --system '@be brief.txt' ''"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSplitList(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a, b.csv")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ in, want []string }{
		"nothing":             {nil, nil},
		"empty":               {[]string{"", " , ,"}, nil},
		"one":                 {[]string{"a"}, []string{"a"}},
		"commas and repeats":  {[]string{"a, b,,c", "a"}, []string{"a", "b", "c", "a"}},
		"a file with a comma": {[]string{path, "b"}, []string{path, "b"}},
		"a replay of it":      {[]string{"replay:" + path}, []string{"replay:" + path}},
		"no such file":        {[]string{path + ",x"}, append(strings.SplitN(path, ", ", 2), "x")},
	} {
		if diff := cmp.Diff(tt.want, splitList(tt.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBaseURLs(t *testing.T) {
	t.Parallel()
	const url = "http://127.0.0.1:8000/v1?a=b"
	for name, tt := range map[string]struct {
		flags, named []string
		want         map[string]string
		problem      string
	}{
		"none":                 {nil, []string{"openai"}, map[string]string{}, ""},
		"of the only provider": {[]string{url}, []string{"openai"}, map[string]string{"openai": url}, ""},
		"named":                {[]string{"vllm=" + url}, []string{"openai", "vllm"}, map[string]string{"vllm": url}, ""},
		"several":              {[]string{"a=" + url, "b=" + url}, nil, map[string]string{"a": url, "b": url}, ""},
		"the same twice":       {[]string{url, "openai=" + url}, []string{"openai"}, map[string]string{"openai": url}, ""},
		"two for one":          {[]string{"a=" + url, "a=" + url + "x"}, nil, nil, "two addresses are given for a; give one"},
		"of which":             {[]string{url}, []string{"a", "b"}, nil, "could be for any of a, b; write --base-url PROVIDER=URL"},
		"of none":              {[]string{url}, nil, nil, "is for no model that is named; leave it out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := callFlags{baseURLs: tt.flags}
			got, err := f.urls(tt.named)
			if tt.problem != "" {
				if ExitCode(err) != exitInput || !strings.Contains(err.Error(), tt.problem) || !strings.HasPrefix(err.Error(), "--base-url: ") {
					t.Errorf("the error is %v, want %q", err, tt.problem)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A misspelt provider must not send the calls to the provider's own address.
func TestBaseURLOfAnUnknownProvider(t *testing.T) {
	t.Parallel()
	a := &app{env: Env{Getenv: func(string) string { return "" }}}
	_, err := a.clients(callFlags{baseURLs: []string{"openia=http://127.0.0.1:1/v1"}}, nil, nil)
	if ExitCode(err) != exitInput || !strings.Contains(err.Error(), "--base-url") || !strings.Contains(err.Error(), "did you mean openai?") {
		t.Errorf("the error is %v", err)
	}
	if _, err := a.clients(callFlags{baseURLs: []string{"openai=http://127.0.0.1:1/v1"}}, nil, nil); err != nil {
		t.Error(err)
	}
}

func TestParseTemperature(t *testing.T) {
	t.Parallel()
	if v, err := parseTemperature("default"); v != nil || err != nil {
		t.Errorf("default is %v, %v", v, err)
	}
	for text, want := range map[string]float64{"0": 0, "0.7": 0.7, "2": 2} {
		if v, err := parseTemperature(text); err != nil || *v != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "-0.1", "2.1", "NaN", "Inf", "hot"} {
		if _, err := parseTemperature(text); ExitCode(err) != exitInput {
			t.Errorf("%q: %v, want an input error", text, err)
		}
	}
}
