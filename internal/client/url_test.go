package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/client"
)

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
		"of which":             {[]string{url}, []string{"a", "b"}, nil, "could be for any of a, b; write `base-url` PROVIDER=URL"},
		"of none":              {[]string{url}, nil, nil, "is for no model that is named; leave it out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := client.ParseURLs(tt.flags, tt.named)
			if tt.problem != "" {
				if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), tt.problem) || !strings.HasPrefix(err.Error(), "base-url: ") {
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
