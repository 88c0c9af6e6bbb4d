package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
// CSV file with net/http and encoding/json. It keeps nothing, or appends each answer to a file
// and goes on once that is on the disk, where those that wait together are written together.
// Usage: bareloop URL FILE CONCURRENCY [KEPT]
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
	type kept struct {
		line []byte
		done chan error
	}
	keep := make(chan kept, concurrency)
	if len(os.Args) > 4 {
		f, err := os.Create(os.Args[4])
		check(err)
		go func() {
			for first := range keep {
				together := []kept{first}
				for range len(keep) {
					together = append(together, <-keep)
				}
				var lines []byte
				for _, k := range together {
					lines = append(lines, k.line...)
				}
				_, err := f.Write(lines)
				err = errors.Join(err, f.Sync())
				for _, k := range together {
					k.done <- err
				}
			}
		}()
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
		if _, err = io.Copy(io.Discard, resp.Body); err != nil || len(os.Args) <= 4 {
			return err
		}
		answer, err := json.Marshal(reply)
		if err != nil {
			return err
		}
		k := kept{slices.Concat(body, answer, []byte("\n")), make(chan error)}
		keep <- k
		return <-k.done
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
// turn, in processes of their own; 64 at once beside a loop that makes each answer durable, by
// the time of processors too, which tells less of other work on the machine; then the same prompts judged again from the store. It prints the
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
	var used float64 // of the processors, by what was timed last
	timed := func(name string, args ...string) (time.Duration, int64) {
		t.Helper()
		c := exec.Command(name, args...)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		began := time.Now()
		if err := c.Run(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, &stderr)
		}
		used = busy(c)
		// Linux gives the peak in kilobytes.
		return time.Since(began), c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
	}
	eval := func(store string, concurrency int) []string {
		return []string{
			"eval", "--target", "openai/instant", "--base-url", url, "--dataset", file, "--judge", "lexical",
			"--store", store, "--concurrency", strconv.Itoa(concurrency), "--quiet", "--format", "json",
		}
	}
	postgres := storetest.StartPostgres(t, "")
	first := filepath.Join(dir, "0.db")
	var ratios, database, durable []float64
	least := math.Inf(1) // milliseconds of processors for a call
	var peak int64
	for round := range rounds {
		bare, _ := timed("bareloop", url, file, strconv.Itoa(concurrency))
		ours, rss := timed("orbench", eval(filepath.Join(dir, fmt.Sprint(round, ".db")), concurrency)...)
		ratios = append(ratios, bare.Seconds()/ours.Seconds())
		peak = max(peak, rss)
		t.Logf("bare loop %.0f prompts/s, orbench %.0f prompts/s, ratio %.2f, peak memory %d MB",
			prompts/bare.Seconds(), prompts/ours.Seconds(), ratios[round], rss)
		address := postgres.Database(t)
		ours, rss = timed("orbench", eval(address, concurrency)...)
		database = append(database, bare.Seconds()/ours.Seconds())
		peak = max(peak, rss)
		t.Logf("with a store in Postgres %.0f prompts/s, ratio %.2f, peak memory %d MB", prompts/ours.Seconds(), database[round], rss)
		bare, _ = timed("bareloop", url, file, "64", filepath.Join(dir, "kept"))
		loop := used
		ours, _ = timed("orbench", eval(filepath.Join(dir, fmt.Sprint(round, "-64.db")), 64)...)
		durable, least = append(durable, bare.Seconds()/ours.Seconds()), min(least, used*1000/prompts)
		t.Logf("64 at once, each durable: loop %.0f prompts/s and %.3f ms of processors a call, orbench %.0f and %.3f, ratio %.2f",
			prompts/bare.Seconds(), loop*1000/prompts, prompts/ours.Seconds(), used*1000/prompts, durable[round])
	}
	slices.Sort(ratios)
	slices.Sort(database)
	slices.Sort(durable)
	again, rss := timed("orbench", append(eval(first, concurrency), "--judge", "lexical,paper-keywords", "--out", filepath.Join(dir, "report"))...)
	peak = max(peak, rss)
	t.Logf("bars: ratio %.2f (at least 0.5), with Postgres %.2f (at least 0.3), each durable %.2f (at least 0.8) and %.3f ms of processors a call (at most 0.12), judged again with two judges and reported in %.1f s (under 5), peak memory %d MB (under 300)",
		ratios[len(ratios)/2], database[len(database)/2], durable[len(durable)/2], least, again.Seconds(), peak)
	if ratios[len(ratios)/2] < 0.5 || database[len(database)/2] < 0.3 || durable[len(durable)/2] < 0.8 || least > 0.12 || again > 5*time.Second || peak >= 300 {
		t.Error("a bar is missed")
	}
}
