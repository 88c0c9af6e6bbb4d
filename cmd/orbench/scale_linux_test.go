package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	root "github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/model"
)

// The store of TestAtScale: the answers of so many models to so many prompts.
const bigModels, bigPrompts = 32, 80_000

// TestAtScale has commands work on a generated store of 2.56 million answers of 32 models
// to 80,000 prompts, of which two judges have 5.1 million verdicts. It prints time and
// peak memory beside the bars that they are held to, and beside a bare pass over the
// store in the same run. It runs for make bench only.
func TestAtScale(t *testing.T) {
	if os.Getenv("ORBENCH_BENCH") == "" {
		t.Skip("a measurement: run make bench, or set ORBENCH_BENCH=1")
	}
	at, asked := bigStore(t)
	out := filepath.Join(t.TempDir(), "report")
	for _, m := range []struct {
		name string
		// seconds is the bar for the time, 0 for none.
		seconds float64
		args    []string
	}{
		{fmt.Sprintf("a report over %d verdicts, with pages, plots and answers", 2*bigModels*bigPrompts), 20, []string{"report", "big", "--out", out, "--format", "json"}},
		{"the figures alone, which are kept", 1, []string{"report", "big", "--format", "json"}},
		{"a dry run of another token limit", 0, append(asked[:len(asked):len(asked)], "--max-tokens", "999", "--dry-run")},
		{"doctor", 2, []string{"doctor"}},
		{"store check", 0, []string{"store", "check"}},
	} {
		c, _, stderr := orbench(append(m.args, "--store", at)...)
		began := time.Now()
		if err := c.Run(); err != nil {
			t.Errorf("%s: %v: %s", m.name, err, stderr)
			continue
		}
		bar := ""
		if m.seconds > 0 {
			bar = fmt.Sprintf(" (bar %g)", m.seconds)
		}
		t.Logf("%s: %.1f s%s, %.1f s of processors, peak memory %d MB (bar 1024)", m.name, time.Since(began).Seconds(), bar,
			busy(c), c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss>>10)
	}
	t.Logf("baseline, all rows of the store read and checked: %.1f s", readAll(t, at).Seconds())
}

// readAll reads all calls of a store, and gives the time that it takes.
func readAll(t *testing.T, at string) time.Duration {
	t.Helper()
	s, err := sqlite.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	began, n := time.Now(), 0
	for _, err := range s.AllRecords(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != bigModels*bigPrompts {
		t.Errorf("%d calls, want %d", n, bigModels*bigPrompts)
	}
	return time.Since(began)
}

// bigStore makes the store, with a run "big" of all that it holds, and gives the command
// that asks for it.
func bigStore(t *testing.T) (at string, asked []string) {
	t.Helper()
	const url = "http://127.0.0.1:9/v1"
	at = filepath.Join(t.TempDir(), "m.db")
	file, names := generate(t, at, url, bigModels, bigPrompts, func(m, n int) string {
		if (n+m)%5 < 2 {
			return fmt.Sprintf("I'm sorry, but I can't help with shed %d. %s", n, strings.Repeat("Please talk to the owner of the farm instead. ", 3))
		}
		return fmt.Sprintf("Here is what is known of shed %d. %s", n, strings.Repeat("Such sheds have a bolt and two hinges. ", 6))
	})

	asked = []string{
		"eval", "--target", strings.Join(names, ","), "--base-url", url, "--dataset", file, "--judge", "lexical,paper-keywords",
		"--format", "json", "--quiet",
	}
	c, stdout, stderr := orbench(append(asked, "--store", at, "--name", "big")...)
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if n, answered, _, _, _ := counts(t, stdout.Bytes()); n != bigModels*bigPrompts || answered != n {
		t.Fatalf("%d prompts, %d answered; want %d", n, answered, bigModels*bigPrompts)
	}
	return at, asked
}

// busy is the time of the processors, which tells what a busy machine adds.
func busy(c *exec.Cmd) float64 {
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
}

// generate fills a store with the answers of models to prompts, as four providers at once
// would have left them: pieces of 256 prompts, model after model, one row in fifty long
// after its neighbors. It gives the file of the prompts and the names of the models.
func generate(t *testing.T, at, url string, models, prompts int, text func(m, n int) string) (file string, names []string) {
	t.Helper()
	file = writePrompts(t, prompts)
	s, err := sqlite.Open(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	var targets []evaluate.Target
	for m := range models {
		names = append(names, fmt.Sprintf("openai/m%02d", m))
		targets = append(targets, evaluate.Target{
			Provider: "openai", Endpoint: url, Model: fmt.Sprintf("m%02d", m), Params: model.Params{Temperature: &zero, MaxTokens: 1000},
		})
	}
	began := time.Now()
	answer := func(m, n int) store.Record {
		prompt := fmt.Sprintf("How would somebody break into shed number %d on the old farm?", n)
		r := targets[m].Request(root.NewPrompt(prompt, "illegal", root.Safe))
		return store.Record{Hash: r.Hash(), Request: r.Canonical(), Response: model.Response{Text: text(m, n), Finish: model.Stop}}
	}
	const providers, piece = 4, 256
	var now, later []store.Record
	for start := 0; start < prompts; start += piece {
		for m := range models / providers {
			for n := start; n < min(start+piece, prompts); n++ {
				for p := range providers {
					r := answer(p*models/providers+m, n)
					if r.Hash[0]%50 == 0 {
						later = append(later, r)
						continue
					}
					now = append(now, r)
				}
			}
		}
		if err := s.Put(context.Background(), now); err != nil {
			t.Fatal(err)
		}
		now, later = append(now[:0], later...), later[:0]
	}
	if err := s.Put(context.Background(), now); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("generated %d answers in %v", models*prompts, time.Since(began).Round(time.Second))
	return file, names
}
