package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/provider"
)

// TestWithheld says by whose word a key goes where.
func TestWithheld(t *testing.T) {
	t.Parallel()
	const own, other = "https://gateway.example/v1", "https://other.example/v1"
	at := func(name, address string) map[string]string { return map[string]string{name: address} }
	for name, tt := range map[string]struct {
		config client.Options
		// base is the address that a file names for the target.
		base     string
		withheld bool
	}{
		"the provider's own":         {client.Options{}, "", false},
		"named":                      {client.Options{Named: at("openai", own)}, "", true},
		"named for the target":       {client.Options{}, own, true},
		"named and allowed":          {client.Options{Named: at("openai", own), Allowed: []string{"gateway.example"}}, "", false},
		"another is allowed":         {client.Options{Named: at("openai", own), Allowed: []string{"gateway.example:8443", "example"}}, "", true},
		"given":                      {client.Options{Given: at("openai", own)}, "", false},
		"given in place of named":    {client.Options{Given: at("openai", own), Named: at("openai", other)}, "", false},
		"given, another is named":    {client.Options{Given: at("openai", own)}, other, true},
		"given, the same is named":   {client.Options{Given: at("openai", own)}, own + "/more", false},
		"given for another provider": {client.Options{Given: at("vllm", own)}, own, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.config.Providers = provider.Default()
			tt.config.Getenv = func(name string) string { return map[string]string{"OPENAI_API_KEY": "sk-0123456789abcdef"}[name] }
			set, err := client.NewSet(tt.config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = set.Model("openai/m", tt.base)
			if tt.withheld != errors.Is(err, orbench.ErrInput) || tt.withheld && !strings.Contains(err.Error(), "the key in OPENAI_API_KEY would go to ") {
				t.Errorf("withheld is %v, and the error %v", tt.withheld, err)
			}
			if len(set.Recipients()) == 0 != tt.withheld {
				t.Errorf("asked are %v", set.Recipients())
			}
		})
	}
}

func TestRecipients(t *testing.T) {
	t.Parallel()
	var told []provider.Recipient
	set, err := client.NewSet(client.Options{
		Providers: provider.Default(), Unasked: true, Named: map[string]string{"openai": "https://gateway.example/v1"},
		Getenv:    func(name string) string { return map[string]string{"OPENAI_API_KEY": "k", "GOOGLE_API_KEY": "k"}[name] },
		Connected: func(r provider.Recipient) { told = append(told, r) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vllm/m", "sim/balanced", "openai/m", "openai/n", "google/m"} {
		if _, err := set.Model(name, ""); err != nil {
			t.Fatal(err)
		}
	}
	google := provider.Recipient{Provider: "google", Address: "https://generativelanguage.googleapis.com", KeyEnv: "GOOGLE_API_KEY"}
	openai := provider.Recipient{Provider: "openai", Address: "https://gateway.example/v1", KeyEnv: "OPENAI_API_KEY", Withheld: true}
	vllm := provider.Recipient{Provider: "vllm", Address: "http://127.0.0.1:8000/v1", KeyEnv: "VLLM_API_KEY", Unset: true}
	if diff := cmp.Diff([]provider.Recipient{google, openai, vllm}, set.Recipients()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]provider.Recipient{vllm, openai, google}, told); diff != "" {
		t.Error(diff)
	}
}
