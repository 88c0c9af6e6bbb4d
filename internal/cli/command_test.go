package cli

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
)

// TestMain gives the commands of all tests a cache of their own.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "orbench-cli-")
	if err != nil {
		panic(err)
	}
	os.Setenv("HOME", dir)
	os.Unsetenv("XDG_CACHE_HOME")
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// runCommand runs a command line with a world of its own.
func runCommand(env map[string]string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Run(&command.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err,
		Getenv: func(name string) string { return env[name] },
	})
	return code, out.String(), err.String()
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	input := &orbench.InputError{Problem: "x"}
	for name, tt := range map[string]struct {
		err  error
		want int
	}{
		"done":                    {nil, 0},
		"failures":                {command.ErrFailures, 1},
		"a fault":                 {errors.New("x"), 1},
		"input":                   {fmt.Errorf("reading: %w", input), 2},
		"usage":                   {usageError{errors.New("x")}, 2},
		"budget":                  {errors.Join(&fill.GivenUpError{}, &fill.BudgetError{}), 3},
		"interrupted":             {fmt.Errorf("filling: %w", command.ErrInterrupted), 130},
		"interrupted, and budget": {errors.Join(&fill.BudgetError{}, command.ErrInterrupted), 130},
	} {
		if got := endOf(tt.err).code; got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// TestInputErrorAfterCalls puts a file into the folder of the report while the answers for
// it come: the code of what is refused before anything is sent is not for that.
func TestInputErrorAfterCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "report")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			return // what the server is, asked before
		}
		if err := errors.Join(os.MkdirAll(out, 0o700), os.WriteFile(filepath.Join(out, "mine.txt"), nil, 0o600)); err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, `{"model": "m", "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "Sure."}}]}`)
	}))
	defer server.Close()
	eval := func() (int, string) {
		code, _, stderr := runCommand(nil, "eval", "--target", "openai/m", "--base-url", server.URL+"/v1", "--dataset", "starter", "--limit", "2",
			"--quiet", "--store", filepath.Join(dir, "m.db"), "--out", out)
		return code, stderr
	}
	if code, stderr := eval(); code != 1 || !strings.Contains(stderr, "not empty") || !strings.Contains(stderr, "what was answered is kept") {
		t.Errorf("code %d, want 1: %s", code, stderr)
	}
	if code, stderr := eval(); code != 2 || strings.Contains(stderr, "is kept") {
		t.Errorf("again, where nothing is sent: code %d, want 2: %s", code, stderr)
	}
}

func TestUnknownRun(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	at := filepath.Join(t.TempDir(), "m.db")
	open := func() *store.Store {
		t.Helper()
		m, err := address.Open(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if err := open().Close(); err != nil {
		t.Fatal(err)
	}
	report := func(want string, args ...string) {
		t.Helper()
		code, out, said := runCommand(nil, append([]string{"report", "--store", at}, args...)...)
		if code != exitInput || out != "" || said != "orbench: "+want+"\n" {
			t.Errorf("report %q: code %d, %q, %q; want %q", args, code, out, said, want)
		}
	}
	report(at + ": holds no run; make one with orbench eval, or name another store with --store")
	report(at+": holds no run; make one with orbench eval, or name another store with --store", "mine")
	m := open()
	for n := range 12 {
		if err := m.SaveRun(ctx, store.Run{Name: fmt.Sprintf("r%02d", n), Config: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	env := &command.Env{Getenv: func(string) string { return "" }}
	_, err := env.OpenRun(ctx, m, at, "mine")
	if endOf(err).code != exitInput || !strings.HasPrefix(err.Error(), at+`: holds no run named "mine"; it holds r`) || strings.Count(err.Error(), ", ") != 10 || !strings.HasSuffix(err.Error(), ", …") {
		t.Errorf("with 12 runs the error is %v", err)
	}
	if err := m.SaveRun(ctx, store.Run{Name: "broken", Config: []byte("[1]")}); err != nil {
		t.Fatal(err)
	}
	if _, err := env.OpenRun(ctx, m, at, "broken"); err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a damaged run gives %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	missing := filepath.Join(t.TempDir(), "none.db")
	if code, _, said := runCommand(nil, "report", "--store", missing); code != exitInput || !strings.Contains(said, missing) {
		t.Errorf("a missing store: code %d, %q", code, said)
	}
}

// TestPull fetches a dataset from a hub on loopback and uses it.
func TestPull(t *testing.T) {
	t.Parallel()
	const (
		repo, file, rows = "bench-llm/or-bench", "or-bench-80k.csv", 80359
		commit           = "e36d8b80e81837c8a8f264bbb2a49f1b32c7e272"
		token            = "hf_averysecrettokenfortests"
	)
	var content bytes.Buffer
	content.WriteString("prompt,category\n")
	for n := range rows {
		fmt.Fprintf(&content, "How do people handle situation %d?,privacy\n", n)
	}
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", content.Len()), content.Bytes()...))
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token:
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/api/datasets/"+repo+"/revision/"):
			_ = json.NewEncoder(w).Encode(map[string]any{"id": repo, "sha": commit, "siblings": []map[string]string{{"rfilename": file}}})
		case strings.HasPrefix(r.URL.Path, "/datasets/"+repo+"/resolve/"):
			w.Header().Set("X-Repo-Commit", commit)
			w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sum))
			w.Header().Set("Content-Length", fmt.Sprint(content.Len()))
			if r.Method == http.MethodGet {
				_, _ = w.Write(content.Bytes())
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(hub.Close)
	env := map[string]string{"HF_ENDPOINT": hub.URL, "ORBENCH_CACHE": filepath.Join(t.TempDir(), "cache")}

	if code, out, said := runCommand(env, "dataset", "show", "or-bench-80k"); code != exitInput || out != "" || !strings.Contains(said, "orbench dataset pull or-bench-80k") {
		t.Errorf("before the pull: code %d, %q, %q", code, out, said)
	}
	if code, out, said := runCommand(env, "dataset", "pull", "or-bench-80k"); code == exitDone || out != "" || !strings.Contains(said, "HF_TOKEN") {
		t.Errorf("without a token: code %d, %q, %q", code, out, said)
	}
	env["HF_TOKEN"] = token
	code, out, said := runCommand(env, "dataset", "pull", "or-bench-80k")
	if code != exitDone || !strings.Contains(out, "or-bench-80k: 80359 prompts, sha256 ") || strings.Contains(out+said, token) {
		t.Errorf("the pull: code %d, %q, %q", code, out, strings.ReplaceAll(said, token, "[the token]"))
	}
	if code, out, said := runCommand(env, "dataset", "show", "or-bench-80k", "--limit", "1"); code != exitDone || !strings.Contains(out, "situation 0?") || strings.Count(out, "\n") != 1 {
		t.Errorf("after the pull: code %d, %q, %q", code, out, said)
	}
	if code, out, _ := runCommand(env, "dataset", "list"); code != exitDone || !listed(out, "or-bench-80k", "yes") || !listed(out, "or-bench-toxic", "no") {
		t.Errorf("the list: code %d, %s", code, out)
	}
}

// listed reports whether a list of datasets has one with that word for whether it is here.
func listed(list, name, here string) bool {
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == name {
			return slices.Contains(words, here)
		}
	}
	return false
}
