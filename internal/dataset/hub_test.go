package dataset

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
)

const commit = "51809bb9e7c029d7cc1247389e0578da92e784e2"

// TestFetch asks each host by its own form of address; what else can happen on the
// way is in the tests of dataset.Pull.
func TestFetch(t *testing.T) {
	t.Parallel()
	var asked, token string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, token = r.URL.Path, r.Header.Get("Authorization")
		w.Header().Set("ETag", `W/"`+strings.Repeat("0", 64)+`"`)
		if strings.HasPrefix(asked, "/datasets/") {
			w.Header().Set("ETag", `"no checksum"`)
			w.Header().Set("X-Repo-Commit", commit)
		}
		w.Write([]byte("prompt\nHello\n"))
	}))
	t.Cleanup(s.Close)
	opts := PullOptions{Endpoint: s.URL + "/", GitHub: s.URL, Token: "secret"}
	for _, tc := range []struct {
		entry                Entry
		page, address, token string
	}{
		{Entry{Repo: "o/n", Revision: "main"}, "https://huggingface.co/datasets/o/n", "/datasets/o/n/resolve/main/a/b.csv", "Bearer secret"},
		{Entry{Host: onGitHub, Repo: "o/n", Revision: commit}, "https://github.com/o/n", "/o/n/" + commit + "/a/b.csv", ""},
	} {
		f, err := fetch(t.Context(), tc.entry, "a/b.csv", opts)
		if err != nil || f.Commit != commit || asked != tc.address || token != tc.token || tc.entry.URL() != tc.page {
			t.Errorf("%+v: asked %s with %q: %+v, %v", tc.entry, asked, token, f, err)
		}
		if err := f.verify("a/b.csv", f.SHA256); err != nil {
			t.Error(err)
		}
		if err := f.verify("a/b.csv", strings.Repeat("0", 64)); err == nil || !strings.Contains(err.Error(), "a/b.csv at commit "+commit+" is not the published file") {
			t.Errorf("got %v", err)
		}
	}
	for _, opts := range []PullOptions{{GitHub: "github.com"}, {GitHub: "ftp://x"}} {
		_, err := fetch(t.Context(), Entry{Host: onGitHub, Repo: "o/n", Revision: commit}, "a", opts)
		if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "ORBENCH_GITHUB") {
			t.Errorf("%+v: %v", opts, err)
		}
	}
}

// TestLocal finds a file by its path, then by its name.
func TestLocal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a/b.csv": "by path", "b.csv": "by name", "c.csv": "alone"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{"a/b.csv": "by path", "x/c.csv": "alone"} {
		f, err := local(dir, file)
		if err != nil || string(f.Content) != want || f.Commit != "" || f.verify(file, "") != nil {
			t.Errorf("%s: %q, %v", file, f.Content, err)
		}
	}
	if _, err := local(dir, "x/d.csv"); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "fetch x/d.csv") {
		t.Errorf("got %v", err)
	}
}
