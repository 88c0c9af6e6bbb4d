package command

import (
	"errors"
	"strings"
	"testing"

	"github.com/orbench/orbench"
)

// A misspelled provider must not send the calls to the provider's own address.
func TestBaseURLOfAnUnknownProvider(t *testing.T) {
	t.Parallel()
	e := &Env{Getenv: func(string) string { return "" }}
	_, err := e.Clients(Calls{baseURLs: []string{"openia=http://127.0.0.1:1/v1"}}, nil, nil)
	if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "--base-url") || !strings.Contains(err.Error(), "did you mean openai?") {
		t.Errorf("the error is %v", err)
	}
	if _, err := e.Clients(Calls{baseURLs: []string{"openai=http://127.0.0.1:1/v1"}}, nil, nil); err != nil {
		t.Error(err)
	}
}

// TestOfProviders tells files of providers from files of prices.
func TestOfProviders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"- {name: acme, dialect: openai}\n":    true,
		"- name: acme\n  dialect: openai\n":    true,
		`[{"name":"acme","dialect":"openai"}]`: true,
		"# prices of models in any dialect: by list\n- {provider: acme, model: dialect, input: 1, output: 2}\n": false,
		"- provider: acme\n  model: m\n  note: 'not for dialect'\n":                                             false,
	} {
		if got := ofProviders.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
