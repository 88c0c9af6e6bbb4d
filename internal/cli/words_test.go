package cli

import (
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	t.Parallel()
	a := &app{args: []string{"eval", "--target", "sim/balanced", "--system", "@be brief.txt", ""}}
	if got, want := a.commandLine(), "orbench eval --target sim/balanced --system '@be brief.txt' ''"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A misspelled provider must not send the calls to the provider's own address.
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
