package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/model"
)

// TestPace holds commands over 160,000 answers to bounds. Each is the processors' time of a
// command as a multiple of that of a bare pass over the same store in the same run, which
// reads every answer and writes and reads it as JSON. So a busy or slow machine changes
// little. Bounds of walks are about one and a half times what was measured, the others
// three times.
func TestPace(t *testing.T) {
	if os.Getenv("ORBENCH_BENCH") == "" {
		t.Skip("it takes a minute: run make bench, or set ORBENCH_BENCH=1")
	}
	const models, prompts = 4, 40_000
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			calls.Add(1)
		}
		fmt.Fprint(w, `{"data":[{"id":"m00","owned_by":"vllm"},{"id":"m01","owned_by":"vllm"},{"id":"m02","owned_by":"vllm"},{"id":"m03","owned_by":"vllm"}]}`)
	}))
	defer server.Close()
	dir, indexes := t.TempDir(), t.TempDir()
	at, out := filepath.Join(dir, "m.db"), filepath.Join(dir, "out")
	file, names := generate(t, at, server.URL+"/v1", "", models, prompts, someText(60))

	bare := barePass(t, at, models*prompts)
	eval := []string{
		"eval", "--target", strings.Join(names, ","), "--base-url", server.URL + "/v1", "--dataset", file, "--judge", "lexical,paper-keywords", "--quiet", "--format", "json",
	}
	answers, recorded, text := filepath.Join(dir, "answers.csv"), []string{"prompt,response"}, someText(60)
	for n := range models * prompts / 2 {
		recorded = append(recorded, fmt.Sprintf("How would somebody get to farm %d?,%q", n, text(n%models, n)))
	}
	if err := os.WriteFile(answers, []byte(strings.Join(recorded, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	run := ""
	for _, one := range []struct {
		what  string
		bound float64
		args  []string
	}{
		{"what is remembered is walked and derived", 8, eval},
		{"a rerun that lacks nothing", 0.35, eval},
		{"a folder of all answers", 7.5, []string{"report", "--out", out, "--format", "json"}},
		{"a first comparison", 0.7, []string{"compare", "RUN", "RUN", "--base-target", names[0], "--candidate-target", names[1], "--format", "json"}},
		{"a first draw", 0.7, []string{"label", "draw", "--size", "200"}},
		{"a dry run of another token limit", 0.6, append(eval[:len(eval):len(eval)], "--max-tokens", "999", "--dry-run")},
		{"a second draw", 0.5, []string{"label", "draw", "--size", "200", "--seed", "2"}},
		{"a report after draws", 0.5, []string{"report", "RUN", "--format", "json"}},
		{"labels of the run", 1, []string{"label", "RUN", "--as", "ana"}},
		{"a report after labels", 0.5, []string{"report", "RUN", "--format", "json"}},
		{"another run", 0.5, []string{"eval", "--target", "sim/strict", "--dataset", "starter", "--name", "other", "--quiet"}},
		{"a label of it", 0.5, []string{"label", "other", "--as", "ana"}},
		{"a report whose labels have not changed", 0.35, []string{"report", "RUN", "--format", "json"}},
		{"80,000 recorded answers", 3, []string{"judge", "--responses", answers, "--judge", "lexical", "--name", "recorded", "--format", "json"}},
	} {
		args := append(slices.Clone(one.args), "--store", at)
		for i := range args {
			if args[i] == "RUN" {
				args[i] = run
			}
		}
		c, stdout, stderr := orbench(args...)
		c.Env, c.Stdin = append(os.Environ(), "ORBENCH_INDEX="+indexes), strings.NewReader("arar")
		if err := c.Run(); err != nil && (one.args[0] != "label" || c.ProcessState.ExitCode() != 130) {
			t.Fatalf("%s: %v: %s", one.what, err, stderr)
		}
		run = cmp.Or(run, string(regexp.MustCompile(`run-[0-9a-f]{8}`).Find(stdout.Bytes())))
		pace(t, c, one.what, bare, one.bound)
	}
	if n := calls.Load(); n > 0 {
		t.Errorf("the server was asked %d times for what was remembered", n)
	}
	folderPace(t, out)
}

// barePass reads every answer of a store, and writes and reads it as JSON. It gives how long
// processors took.
func barePass(t *testing.T, at string, want int) float64 {
	t.Helper()
	s, err := sqlite.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	began, rows := ownTime(t), 0
	for r, err := range s.AllRecords(t.Context()) {
		var read model.Response
		text, wrong := json.Marshal(r.Response)
		if err != nil || wrong != nil || json.Unmarshal(text, &read) != nil {
			t.Fatal(err, wrong)
		}
		rows++
	}
	bare := (ownTime(t) - began).Seconds()
	if rows != want {
		t.Fatalf("the store has %d answers, want %d", rows, want)
	}
	t.Logf("a bare pass: %.2f s of processors", bare)
	return bare
}

// pace holds a command that has ended to a bound, as a multiple of a bare pass, and to a gigabyte.
func pace(t *testing.T, c *exec.Cmd, what string, bare, bound float64) {
	t.Helper()
	ratio, peak := busy(c)/bare, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss>>10
	t.Logf("%s: %.2f s of processors, %.2f of a bare pass (bound %g), peak memory %d MB (bound 1024)", what, busy(c), ratio, bound, peak)
	if ratio > bound || peak > 1024 {
		t.Errorf("%s takes %.2f times a bare pass, at most %g, and %d MB, at most 1024", what, ratio, bound, peak)
	}
}

// folderPace holds a folder of answers to half more bytes than its lines: those of
// answers.jsonl, and the same packed.
func folderPace(t *testing.T, out string) {
	t.Helper()
	lines, err := os.Stat(filepath.Join(out, "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	err = filepath.Walk(out, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return err
	})
	if err != nil || size > lines.Size()*3/2 {
		t.Errorf("a folder of %d MB has lines of %d MB, %v", size>>20, lines.Size()>>20, err)
	}
}
