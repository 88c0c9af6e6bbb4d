package command

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHubToken finds the token where the hub's own programs do, in their order.
func TestHubToken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(path, token string) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("path", "of the path")
	write("home/token", "of the home")
	write("cache/huggingface/token", "of the cache")
	write("user/.cache/huggingface/token", "of the user")
	at := func(path string) string { return filepath.Join(dir, path) }
	for want, env := range map[string]map[string]string{
		"of the variable":     {"HF_TOKEN": "of the variable", "HF_TOKEN_PATH": at("path")},
		"of the old variable": {"HUGGING_FACE_HUB_TOKEN": "of the old variable", "HF_HOME": at("home")},
		"of the path":         {"HF_TOKEN_PATH": at("path"), "HF_HOME": at("home")},
		"of the home":         {"HF_HOME": at("home"), "XDG_CACHE_HOME": at("cache")},
		"of the cache":        {"XDG_CACHE_HOME": at("cache"), "HOME": at("user")},
		"of the user":         {"HOME": at("user")},
		"":                    {"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1", "HOME": at("user")},
	} {
		e := &Env{Getenv: func(name string) string { return env[name] }}
		if got := e.HubToken(); got != want {
			t.Errorf("%v: got %q, want %q", env, got, want)
		}
	}
	none := &Env{Getenv: func(string) string { return "" }}
	if got := none.HubToken(); got != "" {
		t.Errorf("got %q where there is none", got)
	}
}
