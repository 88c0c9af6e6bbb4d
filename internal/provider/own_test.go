package provider_test

import (
	"testing"

	"github.com/orbench/orbench/internal/provider"
)

func TestOwn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, address string
		own           bool
	}{
		{"openai", "", false},
		{"openai", "https://eu.api.openai.com/v1", false},
		{"openai", "http://127.0.0.1:8080/v1", true},
		{"openai", "https://llm.example.org/v1", true},
		{"vllm", "", true},
		{"vllm", "http://gpu1:8000/v1", true},
		{"ollama", "http://192.168.1.7:11434/v1", true},
		{"azure", "https://mine.openai.azure.com/openai/v1", false},
		{"groq", "", false},
	} {
		p, err := provider.Default().Lookup(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.Locate(tt.address, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		if e.Own() != tt.own {
			t.Errorf("%s at %q: own is %v", tt.name, tt.address, e.Own())
		}
	}
}
