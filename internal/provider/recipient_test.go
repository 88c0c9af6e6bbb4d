package provider_test

import (
	"testing"

	"github.com/orbench/orbench/internal/provider"
)

// TestKeyBelongs says which keys go where without the user's word.
func TestKeyBelongs(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"OPENAI_API_KEY": "k", "VLLM_API_KEY": "k", "MINE_API_KEY": "k", "AZURE_OPENAI_API_KEY": "k", "OLLAMA_API_KEY": "k",
		"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com/", "OLLAMA_HOST": "gpu",
	}
	for _, tt := range []struct {
		key, address string
		want         bool
	}{
		{"OPENAI_API_KEY", "https://api.openai.com/v1", true},
		{"OPENAI_API_KEY", "https://API.openai.com:443/other", true},
		{"OPENAI_API_KEY", "http://api.openai.com/v1", false},
		{"OPENAI_API_KEY", "https://api.openai.com:8443/v1", false},
		{"OPENAI_API_KEY", "https://api.openai.com.evil.example/v1", false},
		{"OPENAI_API_KEY", "https://eu.api.openai.com/v1", false},
		{"OPENAI_API_KEY", "https://api.groq.com/openai/v1", false},
		{"OPENAI_API_KEY", "http://127.0.0.1:8080/v1", true},
		{"OPENAI_API_KEY", "http://127.8.8.8:8080/v1", true},
		{"OPENAI_API_KEY", "http://[::1]/v1", true},
		{"OPENAI_API_KEY", "http://[::ffff:127.0.0.1]/v1", true},
		{"OPENAI_API_KEY", "http://LocalHost/v1", true},
		{"OPENAI_API_KEY", "http://127.0.0.1.evil.example/v1", false},
		{"OPENAI_API_KEY", "http://localhost.evil.example/v1", false},
		{"OPENAI_API_KEY", "http://0.0.0.0/v1", false},
		{"VLLM_API_KEY", "http://10.0.0.7:8000/v1", false},
		{"UNSET_API_KEY", "https://evil.example/v1", true},
		{"MINE_API_KEY", "https://evil.example/v1", false},
		{"AZURE_OPENAI_API_KEY", "https://x.openai.azure.com/openai/v1", true},
		{"AZURE_OPENAI_API_KEY", "https://y.openai.azure.com/openai/v1", false},
		{"OLLAMA_API_KEY", "http://gpu:11434/v1", true},
		{"OPENAI_API_KEY", "http://gpu:11434/v1", false},
	} {
		p := provider.Provider{Name: "mine", KeyEnv: []string{tt.key}, KeyOptional: true}
		e, err := p.Locate(tt.address, func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		if got := e.KeyBelongs(func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("%s to %s: %v, want %v", tt.key, tt.address, got, tt.want)
		}
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://Gateway.example/v1": "gateway.example", "https://gateway.example:443": "gateway.example", "https://gateway.example:80/v1": "gateway.example:80",
		"http://gateway.example": "gateway.example:80", "http://gateway.example:/v1": "gateway.example:80", "http://gateway.example:443": "gateway.example:443",
		"http://[::2]": "[::2]:80", "https://[::2]:8443/v1": "[::2]:8443", "": "", "gateway.example": "", "://": "",
	} {
		if got := provider.Host(address); got != want {
			t.Errorf("the host of %q is %q, want %q", address, got, want)
		}
	}
	for text, want := range map[string]string{
		"gateway.example": "gateway.example", " Gateway.example:8443 ": "gateway.example:8443", "https://gateway.example/v1": "gateway.example",
		"http://gateway.example/v1": "gateway.example:80", "gpu-box:8000": "gpu-box:8000", "[::2]:8000": "[::2]:8000",
		"": "", "*": "", "*.example": "", "a b": "", "a,b": "", "me:secret@host": "", "ftp://host": "", "host:port": "", ":80": "", "host:99999": "", "host:0": "",
	} {
		got, err := provider.ParseHost(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is the host %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestExposed(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://gpu:8000/v1": true, "http://10.0.0.7/v1": true, "https://gpu:8000/v1": false, "http://127.0.0.1:8000/v1": false, "http://localhost/v1": false,
	} {
		if got := (provider.Recipient{Address: address}).Exposed(); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}
