package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/store/storetest"
)

// bareLoop is the baseline of TestThroughput: it asks a server the prompts of a
// CSV file with net/http and encoding/json and keeps nothing.
// Usage: bareloop URL FILE CONCURRENCY
func bareLoop() {
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "bareloop:", err)
			os.Exit(1)
		}
	}
	url, path := os.Args[1]+"/chat/completions", os.Args[2]
	concurrency, err := strconv.Atoi(os.Args[3])
	check(err)
	f, err := os.Open(path)
	check(err)
	defer f.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConns: concurrency, MaxIdleConnsPerHost: concurrency}}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	ask := func(prompt string) error {
		body, err := json.Marshal(map[string]any{
			"model": "m", "messages": []message{{"user", prompt}}, "temperature": 0, "max_tokens": 1000,
		})
		if err != nil {
			return err
		}
		resp, err := client.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		var reply struct {
			Choices []struct{ Message message }
		}
		if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	prompts := make(chan string)
	var workers sync.WaitGroup
	for range concurrency {
		workers.Go(func() {
			for p := range prompts {
				check(ask(p))
			}
		})
	}
	rows := csv.NewReader(f)
	_, err = rows.Read()
	check(err)
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		check(err)
		prompts <- row[0]
	}
	close(prompts)
	workers.Wait()
}

// TestThroughput measures 80,000 prompts against a server that answers at once:
// orbench with its store, in a file and in Postgres, and its judge beside the bare loop, in
// turn, in processes of their own; then the same prompts judged again from the store. It prints the
// figures and the bars that they are held to, and runs for make bench only.
func TestThroughput(t *testing.T) {
	if os.Getenv("ORBENCH_BENCH") == "" {
		t.Skip("a benchmark: run it with make bench")
	}
	const prompts, concurrency, rounds = 80000, 256, 3
	server := exec.Command("orbench", "sim")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	}()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := string(bytes.TrimSpace(line[bytes.Index(line[:n], []byte("http")):n]))

	file, dir := writePrompts(t, prompts), t.TempDir()
	timed := func(name string, args ...string) (time.Duration, int64) {
		t.Helper()
		c := exec.Command(name, args...)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		began := time.Now()
		if err := c.Run(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, &stderr)
		}
		// Linux gives the peak in kilobytes.
		return time.Since(began), c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
	}
	eval := func(store string) []string {
		return []string{
			"eval", "--target", "openai/instant", "--base-url", url, "--dataset", file, "--judge", "lexical",
			"--store", store, "--concurrency", strconv.Itoa(concurrency), "--quiet", "--format", "json",
		}
	}
	postgres := storetest.StartPostgres(t, "")
	first := filepath.Join(dir, "0.db")
	var ratios, database []float64
	var peak int64
	for round := range rounds {
		bare, _ := timed("bareloop", url, file, strconv.Itoa(concurrency))
		ours, rss := timed("orbench", eval(filepath.Join(dir, fmt.Sprint(round, ".db")))...)
		ratios = append(ratios, bare.Seconds()/ours.Seconds())
		peak = max(peak, rss)
		t.Logf("bare loop %.0f prompts/s, orbench %.0f prompts/s, ratio %.2f, peak memory %d MB",
			prompts/bare.Seconds(), prompts/ours.Seconds(), ratios[round], rss)
		address := postgres.Database(t)
		ours, rss = timed("orbench", eval(address)...)
		database = append(database, bare.Seconds()/ours.Seconds())
		peak = max(peak, rss)
		t.Logf("with a store in Postgres %.0f prompts/s, ratio %.2f, peak memory %d MB", prompts/ours.Seconds(), database[round], rss)
	}
	slices.Sort(ratios)
	slices.Sort(database)
	again, rss := timed("orbench", append(eval(first), "--judge", "lexical,paper-keywords", "--out", filepath.Join(dir, "report"))...)
	peak = max(peak, rss)
	t.Logf("bars: ratio %.2f (at least 0.5), with Postgres %.2f (at least 0.3), judged again with two judges and reported in %.1f s (under 5), peak memory %d MB (under 300)",
		ratios[len(ratios)/2], database[len(database)/2], again.Seconds(), peak)
	if ratios[len(ratios)/2] < 0.5 || database[len(database)/2] < 0.3 || again > 5*time.Second || peak >= 300 {
		t.Error("a bar is missed")
	}
}
