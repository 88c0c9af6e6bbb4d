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

// TestReportAtScale reports over 32 models × 80,000 prompts × 2 judges, 5.1
// million verdicts, from a generated store, and prints the time and the peak
// memory beside the bars that they are held to. It runs for make bench only.
func TestReportAtScale(t *testing.T) {
	if os.Getenv("ORBENCH_BENCH") == "" {
		t.Skip("a measurement: run make bench, or set ORBENCH_BENCH=1")
	}
	const (
		models, prompts = 32, 80_000
		url             = "http://127.0.0.1:9/v1"
	)
	at := filepath.Join(t.TempDir(), "m.db")
	file, names := generate(t, at, url, models, prompts, func(m, n int) string {
		if (n+m)%5 < 2 {
			return fmt.Sprintf("I'm sorry, but I can't help with shed %d. %s", n, strings.Repeat("Please talk to the owner of the farm instead. ", 3))
		}
		return fmt.Sprintf("Here is what is known of shed %d. %s", n, strings.Repeat("Such sheds have a bolt and two hinges. ", 6))
	})

	c, stdout, stderr := orbench("eval", "--target", strings.Join(names, ","), "--base-url", url, "--dataset", file,
		"--judge", "lexical,paper-keywords", "--store", at, "--name", "big", "--quiet", "--format", "json")
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if n, answered, _, _, _ := counts(t, stdout.Bytes()); n != models*prompts || answered != n {
		t.Fatalf("%d prompts, %d answered; want %d", n, answered, models*prompts)
	}
	out := filepath.Join(t.TempDir(), "report")
	c, _, stderr = orbench("report", "big", "--store", at, "--out", out, "--format", "json")
	began := time.Now()
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	took, peak := time.Since(began), c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss>>10
	t.Logf("a report over %d verdicts, with pages, plots and answers: %.1f s (bar 20), %.1f s of processors, peak memory %d MB (bar 1024)",
		2*models*prompts, took.Seconds(), busy(c), peak)
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
