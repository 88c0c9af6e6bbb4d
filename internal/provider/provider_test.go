package provider_test

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/model"
)

func TestDefault(t *testing.T) {
	t.Parallel()
	want := []string{
		"openai", "anthropic", "google", "azure", "mistral", "together", "openrouter", "litellm", "groq",
		"deepseek", "fireworks", "xai", "ollama", "vllm", "lmstudio", "llamacpp", "openai-moderation", "tei", "vllm-classify",
	}
	all := provider.Default()
	if len(all) != len(want) {
		t.Fatalf("the table has %d entries, want %d", len(all), len(want))
	}
	text, err := os.ReadFile("providers.json")
	if err != nil {
		t.Fatal(err)
	}
	if own, err := (provider.Table{}).With(bytes.NewReader(text), "providers.json"); err != nil || !reflect.DeepEqual(own, all) {
		t.Errorf("as a user's file it is another table: %v", err)
	}
	for i, p := range all {
		if p.Name != want[i] {
			t.Errorf("entry %d is %s, want %s", i, p.Name, want[i])
		}
		if !strings.HasPrefix(p.Doc, "https://") {
			t.Errorf("%s names no page of documentation", p.Name)
		}
		// What a gateway such as litellm names is a provider's model.
		asked := model.Ref{Provider: p.Name, Model: "gpt-4o"}
		if own := strings.Contains(p.BaseURL, "127.0.0.1"); own && p.Name != "litellm" && model.ServedBy(asked, "claude-3-opus", nil) != model.Unclear {
			t.Errorf("%s is a server of one's own, which may give a model any name: name it in model/served.go", p.Name)
		}
		for _, env := range p.KeyEnv {
			if env != strings.ToUpper(env) || strings.ContainsAny(env, " -") {
				t.Errorf("%s: %q is no name for an environment variable", p.Name, env)
			}
		}
		if u, err := url.Parse(p.BaseURL); err != nil || p.BaseURL != "" && u.Scheme != "https" && u.Hostname() != "127.0.0.1" {
			t.Errorf("%s would send its key in the open to %q", p.Name, p.BaseURL)
		}
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	table := provider.Default()
	p, err := table.Lookup("mistral")
	if err != nil || p.SeedField != "random_seed" {
		t.Errorf("got %+v, %v", p, err)
	}
	for name, suggestion := range map[string]string{
		"opneai": "did you mean openai?", "OpenAI": "did you mean openai?", "gemini": "did you mean google?",
		"claude": "did you mean anthropic?", "olama": "did you mean ollama?", "llama.cpp": "did you mean llamacpp?",
		"nonesuch": "the providers are openai, ", "": "the providers are openai, ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := table.Lookup(name)
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "; "+suggestion) {
				t.Errorf("got %v, want an input error that says %q", err, suggestion)
			}
		})
	}
}

func TestParseTarget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, provider, model string }{
		{"openai/gpt-4o", "openai", "gpt-4o"},
		{" openrouter/meta-llama/llama-3.3-70b:free ", "openrouter", "meta-llama/llama-3.3-70b:free"},
		{"ollama/hf.co/a/b:Q4_K_M", "ollama", "hf.co/a/b:Q4_K_M"},
		{"vllm//models/mine", "vllm", "/models/mine"},
	} {
		name, model, err := provider.ParseTarget(tt.in)
		if err != nil || name != tt.provider || model != tt.model {
			t.Errorf("%q gives %q, %q, %v", tt.in, name, model, err)
		}
	}
	for _, in := range []string{"", " ", "gpt-4o", "/gpt-4o", "openai/", "openai/a\nb", "openai/\xff"} {
		if name, model, err := provider.ParseTarget(in); !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%q gives %q, %q, %v, want an input error", in, name, model, err)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	const key = "k-123456"
	for _, tt := range []struct {
		name, provider, baseURL   string
		env                       map[string]string
		url, key, field, identity string
	}{
		{"its own address", "openai", "", map[string]string{"OPENAI_API_KEY": key}, "https://api.openai.com/v1", key, "max_completion_tokens", ""},
		{"a key with a line break after it", "openai", "", map[string]string{"OPENAI_API_KEY": key + "\n"}, "https://api.openai.com/v1", key, "max_completion_tokens", ""},
		{"another server", "openai", "http://127.0.0.1:8080/v1/", nil, "http://127.0.0.1:8080/v1", "", "max_tokens", "http://127.0.0.1:8080/v1"},
		{"the route of a completion", "openai", "http://127.0.0.1:8080/v1/completions/", map[string]string{"OPENAI_API_KEY": key}, "http://127.0.0.1:8080/v1", key, "max_tokens", "http://127.0.0.1:8080/v1"},
		{"the route of messages", "openai", "http://127.0.0.1:8080/v1/messages", map[string]string{"OPENAI_API_KEY": key}, "http://127.0.0.1:8080/v1", key, "max_tokens", "http://127.0.0.1:8080/v1"},
		{"another server with a key", "openai", "HTTP://LocalHost:8080/v1/chat/completions", map[string]string{"OPENAI_API_KEY": key}, "http://localhost:8080/v1", key, "max_tokens", "http://127.0.0.1:8080/v1"},
		{"another region", "openai", "https://eu.api.openai.com/v1", map[string]string{"OPENAI_API_KEY": key}, "https://eu.api.openai.com/v1", key, "max_completion_tokens", "https://eu.api.openai.com/v1"},
		{"its own address spelt out", "openai", "https://api.openai.com/v1/", map[string]string{"OPENAI_API_KEY": key}, "https://api.openai.com/v1", key, "max_completion_tokens", ""},
		{"the second variable", "google", "", map[string]string{"GOOGLE_API_KEY": key}, "https://generativelanguage.googleapis.com", key, "max_tokens", ""},
		{"the first variable", "google", "", map[string]string{"GOOGLE_API_KEY": "other", "GEMINI_API_KEY": key}, "https://generativelanguage.googleapis.com", key, "max_tokens", ""},
		{
			"azure", "azure", "",
			map[string]string{"AZURE_OPENAI_API_KEY": key, "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com/"},
			"https://x.openai.azure.com/openai/v1", key, "max_completion_tokens", "https://x.openai.azure.com/openai/v1",
		},
		{
			"azure with the path", "azure", "",
			map[string]string{"AZURE_OPENAI_API_KEY": key, "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com/openai/v1/"},
			"https://x.openai.azure.com/openai/v1", key, "max_completion_tokens", "https://x.openai.azure.com/openai/v1",
		},
		{
			"azure by flag", "azure", "https://x.openai.azure.com/openai/v1",
			map[string]string{"AZURE_OPENAI_API_KEY": key},
			"https://x.openai.azure.com/openai/v1", key, "max_completion_tokens", "https://x.openai.azure.com/openai/v1",
		},
		{"ollama", "ollama", "", nil, "http://127.0.0.1:11434/v1", "", "max_tokens", ""},
		{"ollama on all interfaces", "ollama", "", map[string]string{"OLLAMA_HOST": "0.0.0.0"}, "http://127.0.0.1:11434/v1", "", "max_tokens", ""},
		{"ollama on another port", "ollama", "", map[string]string{"OLLAMA_HOST": ":9999"}, "http://127.0.0.1:9999/v1", "", "max_tokens", "http://127.0.0.1:9999/v1"},
		{"ollama on another host", "ollama", "", map[string]string{"OLLAMA_HOST": "gpu"}, "http://gpu:11434/v1", "", "max_tokens", "http://gpu:11434/v1"},
		{"ollama by IPv6", "ollama", "", map[string]string{"OLLAMA_HOST": "[::1]"}, "http://[::1]:11434/v1", "", "max_tokens", "http://[::1]:11434/v1"},
		{"ollama behind TLS", "ollama", "", map[string]string{"OLLAMA_HOST": "https://llm.example.org/"}, "https://llm.example.org/v1", "", "max_tokens", "https://llm.example.org/v1"},
		{"the flag before the variable", "ollama", "http://b/v1", map[string]string{"OLLAMA_HOST": "a"}, "http://b/v1", "", "max_tokens", "http://b/v1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := provider.Default().Lookup(tt.provider)
			if err != nil {
				t.Fatal(err)
			}
			e, err := p.Resolve(tt.baseURL, func(name string) string { return tt.env[name] })
			if err != nil {
				t.Fatal(err)
			}
			if e.BaseURL != tt.url || e.Key != tt.key || e.MaxTokensField != tt.field || e.Identity != tt.identity {
				t.Errorf("got %q, key %q, field %q, identity %q", e.BaseURL, e.Key, e.MaxTokensField, e.Identity)
			}
		})
	}
}

func TestResolveFault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, provider, baseURL string
		env                     map[string]string
		want                    string
	}{
		{"no key", "anthropic", "", nil, "there is no key for anthropic; set ANTHROPIC_API_KEY"},
		{"no key of two", "google", "", nil, "set GEMINI_API_KEY or GOOGLE_API_KEY"},
		{"no address", "azure", "", map[string]string{"AZURE_OPENAI_API_KEY": "k"}, "set AZURE_OPENAI_ENDPOINT to it, or give `base-url`"},
		{"no scheme", "openai", "127.0.0.1:8080/v1", nil, "base-url: "},
		{"no URL", "openai", "http://a b:secret-1/", nil, "it is not a URL"},
		{"no host", "openai", "http:///v1", nil, "names no host"},
		{"no port", "openai", "http://127.0.0.1:99999/v1", nil, "no port 99999"},
		{"port 0", "openai", "http://127.0.0.1:0/v1", nil, "no port 0"},
		{"another scheme", "openai", "file:///etc/passwd", nil, "must start with http"},
		{"a password", "openai", "https://u:secret-1@example.org/v1", nil, "must not hold a user or a password"},
		{"two addresses", "openai", "https://example.org/v1,vllm=http://127.0.0.1:8000/v1", nil, "give each address by itself"},
		{"a key in the query", "openai", "https://example.org/v1?key=secret-1", nil, "must not hold a ?"},
		{"a bad variable", "ollama", "", map[string]string{"OLLAMA_HOST": "u:secret-1@host"}, "the address in OLLAMA_HOST is wrong"},
		{"a key with a line break within", "openai", "", map[string]string{"OPENAI_API_KEY": "secret-1\nsecret-1"}, "the key in OPENAI_API_KEY holds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := provider.Default().Lookup(tt.provider)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Resolve(tt.baseURL, func(name string) string { return tt.env[name] })
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an input error with %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "secret-1") {
				t.Errorf("the secret is in %v", err)
			}
		})
	}
}

func TestWith(t *testing.T) {
	t.Parallel()
	table, err := provider.Default().With(strings.NewReader(`[
	{"name": "mine", "dialect": "openai", "base_url": "https://llm.example.org/v1", "key_env": ["MINE_API_KEY"], "concurrency": 2},
	{"name": "groq", "dialect": "openai", "base_url": "https://proxy.example.org/v1", "key_optional": true, "concurrency": 1}
]`), "mine.json")
	if err != nil {
		t.Fatal(err)
	}
	if n, want := len(table), len(provider.Default())+1; n != want {
		t.Errorf("the table has %d entries, want %d", n, want)
	}
	if p, err := table.Lookup("groq"); err != nil || p.BaseURL != "https://proxy.example.org/v1" {
		t.Errorf("groq was not replaced: %+v, %v", p, err)
	}
	if p, err := table.Lookup("mine"); err != nil || p.Concurrency != 2 {
		t.Errorf("mine was not added: %+v, %v", p, err)
	}
	if _, err := provider.Default().Lookup("mine"); err == nil {
		t.Error("the default table was changed")
	}
}

func TestWithFault(t *testing.T) {
	t.Parallel()
	ok := `{"name": "a", "dialect": "openai", "base_url": "https://a.example/v1", "key_env": ["K_API_KEY"], "concurrency": 1}`
	for _, tt := range []struct{ name, in, want string }{
		{"no list", `{}`, "f.json:1: settings by name stand where a list is expected"},
		{"nothing", ``, "f.json:1: this is not a list"},
		{"no end", `[` + ok, "f.json:1: "},
		{"more after the end", "[]\n[]", "f.json:2: "},
		{"unknown field", "[\n" + ok + ",\n{\"nam\": \"b\"}]", `f.json:3: unknown field "nam"`},
		{"wrong type", "[\n\n{\"name\": [5]}]", "f.json:3: "},
		{"bad syntax", "[\n" + ok + ",\n\n{]", "f.json:4: "},
		{"twice", "[" + ok + ",\n" + ok + "]", "f.json:2: a is listed twice"},
		{"no name", `[{"dialect": "openai"}]`, "f.json:1: an entry has no name"},
		{"bad name", `[{"name": "A/b"}]`, "may hold only lower-case"},
		{"taken name", `[{"name": "sim"}]`, "the name sim is taken"},
		{"bad dialect", `[{"name": "a", "dialect": "soap"}]`, `the dialect is "soap"`},
		{"no address", `[{"name": "a", "dialect": "openai"}]`, "neither base_url nor base_url_env"},
		{"no key", `[{"name": "a", "dialect": "openai", "base_url": "https://a"}]`, "key_env is missing"},
		{"no concurrency", `[{"name": "a", "dialect": "openai", "base_url": "https://a", "key_optional": true}]`, "concurrency must be"},
		{"bad address", `[{"name": "a", "dialect": "openai", "base_url": "a", "key_optional": true, "concurrency": 1}]`, "a: base_url: it must start"},
		{"bad limit field", `[{"name": "a", "dialect": "openai", "base_url": "https://a", "key_optional": true, "concurrency": 1, "max_tokens_field": "n"}]`, "token limit must be"},
		{"another secret", `[{"name": "a", "dialect": "openai", "base_url": "https://a", "key_env": ["A_API_KEY", "AWS_SECRET_ACCESS_KEY"], "concurrency": 1}]`, "f.json:1: a: key_env: a file may name only variables that end in _API_KEY"},
		{"another secret as address", `[{"name": "a", "dialect": "openai", "base_url_env": "AWS_SECRET_ACCESS_KEY", "key_optional": true, "concurrency": 1}]`, "f.json:1: a: base_url_env: a file may name only variables that end in _URL"},
		{"bad seed field", `[{"name": "a", "dialect": "openai", "base_url": "https://a", "key_optional": true, "concurrency": 1, "seed_field": "n"}]`, "seed_field must be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := provider.Default().With(strings.NewReader(tt.in), "f.json")
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an input error with %q", err, tt.want)
			}
		})
	}
}

func FuzzWith(f *testing.F) {
	f.Add(`[{"name": "a", "dialect": "openai", "base_url": "https://a.example/v1", "key_env": ["K_API_KEY"], "concurrency": 1}]`)
	f.Add("[\n{\"name\": 5},,]")
	f.Add("- name: a\n  dialect: openai\n  base_url: https://a.example/v1\n  key_optional: true\n  concurrency: 1\n")
	f.Fuzz(func(t *testing.T, in string) {
		table, err := provider.Table{}.With(strings.NewReader(in), "f.json")
		if err != nil {
			e, ok := errors.AsType[*orbench.InputError](err)
			if !ok || e.Line < 1 || e.Line > 1+strings.Count(in, "\n")+strings.Count(in, "\r") {
				t.Errorf("%q gives %v, want an input error with a line of the text", in, err)
			}
			return
		}
		for _, p := range table {
			if got, err := table.Lookup(p.Name); err != nil || got.Name != p.Name {
				t.Errorf("%q is in the table but not found: %v", p.Name, err)
			}
		}
	})
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1:8080/v1/", "0.0.0.0", ":9999", "[::1]:80", "https://u:p@h", "http://h/chat/completions/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		p, err := provider.Default().Lookup("ollama")
		if err != nil {
			t.Fatal(err)
		}
		for _, resolve := range []func() (provider.Endpoint, error){
			func() (provider.Endpoint, error) {
				return p.Resolve(address, func(string) string { return "" })
			},
			func() (provider.Endpoint, error) {
				return p.Resolve("", func(name string) string {
					if name == "OLLAMA_HOST" {
						return address
					}
					return ""
				})
			},
		} {
			e, err := resolve()
			if err != nil {
				if !errors.Is(err, orbench.ErrInput) {
					t.Errorf("%q gives %v, want an input error", address, err)
				}
				continue
			}
			u, err := url.Parse(e.BaseURL)
			if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || strings.HasSuffix(e.BaseURL, "/") {
				t.Errorf("%q gives the address %q: %v", address, e.BaseURL, err)
			}
			// What is stored must mean the same when it is read again.
			again, err := p.Resolve(e.BaseURL, func(string) string { return "" })
			if err != nil || again.BaseURL != e.BaseURL {
				t.Errorf("%q gives %q, and that gives %q, %v", address, e.BaseURL, again.BaseURL, err)
			}
		}
	})
}
