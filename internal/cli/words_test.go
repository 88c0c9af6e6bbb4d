package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/fill"
)

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":                        "''",
		"eval":                    "eval",
		"--store=a/b_c-1.db":      "--store=a/b_c-1.db",
		"openai=http://[::1]/v1":  "'openai=http://[::1]/v1'",
		"two words":               "'two words'",
		"it's":                    `'it'\''s'`,
		"'":                       `''\'''`,
		"$HOME `x` \"y\" \\ *?~!": "'$HOME `x` \"y\" \\ *?~!'",
		"a\nb":                    "'a\nb'",
		"-":                       "-",
		"~":                       "'~'",
		"größe":                   "'größe'",
	} {
		if got := shellQuote(word); got != want {
			t.Errorf("shellQuote(%q) = %s, want %s", word, got, want)
		}
		// A shell gives the word back, whatever the test above takes for right.
		// The final stop keeps the newlines at its end.
		b, err := exec.Command("sh", "-c", "printf %s "+shellQuote(word)+"; printf .").Output()
		if err != nil || string(b) != word+"." {
			t.Errorf("the shell makes %q of %q (%v)", b, word, err)
		}
	}
}

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

func TestNamedProviders(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string][]string{
		"openai/gpt-4o":                     {"openai"},
		"ollama/llama3:8b":                  {"ollama"},
		"openrouter/meta-llama/llama-3:x@y": {"openrouter"},
		"sim/balanced":                      nil,
		"replay:data/answers.csv":           nil,
		"replay:/data/a, b/answers.csv":     nil,
		"lexical":                           nil,
		"lexical, llm:openai/gpt-4o":        {"openai"},
		"llm:ollama/llama3:8b":              {"ollama"},
		"guard:wildguard@vllm/w:7b":         {"vllm"},
		"panel:majority(llm:a/x,llm:b/y:1,guard:g@c/z,lexical)": {"a", "b", "c"},
		"panel:weighted(llm:a/x=2,llm:a/y=1)":                   {"a"},
		"llm:sim/judge":                                         nil,
	} {
		if diff := cmp.Diff(want, namedProviders([]string{spec})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
	if got := namedProviders([]string{"b/x", "a/y", "b/z"}); !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("several name %q", got)
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

func TestProgressLine(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		stats           fill.Stats
		total           int
		took            time.Duration
		refused, judged int
	}{
		"0/10  $0.0000":                             {fill.Stats{}, 10, time.Second, 0, 0},
		"0/0  $0.0000":                              {fill.Stats{}, 0, 0, 0, 0},
		"4/10  2.0/s  ETA 3s  $0.1250":              {fill.Stats{Answered: 4, USD: 0.125}, 10, 2 * time.Second, 0, 0},
		"10/10  50/s  $0.0000":                      {fill.Stats{Answered: 100}, 10, 2 * time.Second, 0, 0},
		"7/10  0.5/s  ETA 6s  6 from memo  $0.0000": {fill.Stats{Answered: 1, Present: 6}, 10, 2 * time.Second, 0, 0},
		"8/20  1.0/s  ETA 12s  price unknown  25.0% refused so far  3 retries  2 failed": {
			fill.Stats{Answered: 6, Failed: 2, Retries: 3, Unpriced: []string{"a/b"}}, 20, 8 * time.Second, 1, 4,
		},
	} {
		if got := progressLine(tt.stats, tt.total, tt.took, tt.refused, tt.judged); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		usd      float64
		unpriced []string
	}{
		"$0.0000":       {0, nil},
		"$12.3457":      {12.34567, nil},
		"price unknown": {0, []string{"a/b"}},
		"$0.5000 and more (price unknown: a/b, c/d)": {0.5, []string{"a/b", "c/d"}},
	} {
		if got := money(tt.usd, tt.unpriced); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFreeFolder(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "reports", "demo")
	for _, want := range []string{base, base + "-2", base + "-3"} {
		got, err := freeFolder(base)
		if err != nil || got != want {
			t.Fatalf("got %s, %v; want %s", got, err, want)
		}
		if err := os.Mkdir(got, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// A link to nowhere is in the way too.
	if err := os.Symlink("nowhere", base+"-4"); err != nil {
		t.Fatal(err)
	}
	if got, err := freeFolder(base); err != nil || got != base+"-5" {
		t.Errorf("got %s, %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := freeFolder(filepath.Join(file, "demo")); ExitCode(err) != exitInput || !strings.Contains(err.Error(), "--out") {
		t.Errorf("a file where a folder should be: %v", err)
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
