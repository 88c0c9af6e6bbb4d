package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestServeAtScale has the pages of 2.56 million answers asked for, alone and by 50 readers
// beside a run that writes, and holds them to bars of the server's processors' time.
func TestServeAtScale(t *testing.T) {
	if os.Getenv("ORBENCH_BENCH") == "" {
		t.Skip("a measurement: run make bench, or set ORBENCH_BENCH=1")
	}
	prompts := 80_000
	if n, err := strconv.Atoi(os.Getenv("ORBENCH_BENCH_PROMPTS")); err == nil {
		prompts = n
	}
	const models = 32
	at := filepath.Join(t.TempDir(), "m.db")
	file, names := generate(t, at, "http://127.0.0.1:9/v1", "big", models, prompts, someText(30))
	c, _, stderr := orbench("eval", "--target", strings.Join(names, ","), "--base-url", "http://127.0.0.1:9/v1", "--dataset", file,
		"--judge", "lexical,paper-keywords", "--name", "big", "--quiet", "--format", "json", "--store", at)
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	serveAtScale(t, at, file, names, prompts)
}

// serveAtScale measures the pages of a store with a run named big, which asked models of
// some names the prompts of a file. Other work on the machine lengthens times, so what the
// server's processors did is logged too.
func serveAtScale(t *testing.T, at, file string, names []string, prompts int) {
	models := len(names)
	draw, _, stderr := orbench("label", "draw", "big", "--size", "200", "--store", at)
	if err := draw.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	server := exec.Command("orbench", "serve", "--addr", "127.0.0.1:0", "--store", at)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSuffix(strings.TrimSpace(line), "/")
	get := func(address string) (time.Duration, error) {
		began := time.Now()
		r, err := http.Get(root + address)
		if err != nil {
			return 0, err
		}
		defer r.Body.Close()
		_, err = io.Copy(io.Discard, r.Body)
		if err == nil && r.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", address, r.Status)
		}
		return time.Since(began), err
	}
	ready := func(what, address string) {
		t.Helper()
		took, err := get(address)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f s", what, took.Seconds())
	}
	ready("the first look at the run, which derives its rows", "/answers.json?study=big")
	ready("the first search, which lists the words", "/answers.json?study=big&q=shed")
	ready("the figures in the list, once", "/figures.json?study=big")

	random, vocabulary := rand.New(rand.NewPCG(7, 8)), someWords()
	filter := func() url.Values {
		v := url.Values{"study": {"big"}}
		if random.IntN(2) == 0 {
			v.Set("variant", names[random.IntN(models)])
		}
		if random.IntN(2) == 0 {
			v.Set("verdict", []string{"refused", "answered", "full_answer"}[random.IntN(3)])
		}
		if random.IntN(3) == 0 {
			v.Set("judge", "paper-keywords")
		}
		if random.IntN(3) == 0 {
			v.Set("sort", []string{"score", "-score", "-length"}[random.IntN(3)])
		}
		return v
	}
	search := func() url.Values {
		v := filter()
		var words []string
		for range 1 + random.IntN(3) {
			words = append(words, vocabulary[random.IntN(1<<random.IntN(13))])
		}
		v.Set("q", strings.Join(words, " "))
		return v
	}
	percentile := func(took []time.Duration, p int) time.Duration {
		slices.Sort(took)
		return took[len(took)*p/100].Round(time.Millisecond)
	}
	measure := func(what string, bar time.Duration, times int, address func() string) {
		t.Helper()
		var took, busy []time.Duration
		for range times {
			before := processors(t, server.Process.Pid)
			d, err := get(address())
			if err != nil {
				t.Fatal(err)
			}
			took, busy = append(took, d), append(busy, processors(t, server.Process.Pid)-before)
		}
		t.Logf("%s: median %v, 95th percentile %v; of processors %v and %v (bar %v)", what, percentile(took, 50), percentile(took, 95), percentile(busy, 50), percentile(busy, 95), bar)
		if percentile(busy, 95) > bar {
			t.Errorf("%s takes %v of processors, more than %v", what, percentile(busy, 95), bar)
		}
	}
	measure("the list of studies", 300*time.Millisecond, 60, func() string { return "/" })
	measure("its figures", 300*time.Millisecond, 60, func() string { return "/figures?study=big" })
	measure("first page", 300*time.Millisecond, 60, func() string { return "/answers?study=big" })
	measure("a filtered page", 500*time.Millisecond, 100, func() string { return "/answers?" + filter().Encode() })
	measure("a filtered page, one by one", 500*time.Millisecond, 60, func() string { return "/answers?by=answer&" + filter().Encode() })
	measure("counts and rows as JSON", 500*time.Millisecond, 60, func() string { return "/answers.json?by=answer&" + filter().Encode() })
	measure("search", time.Second, 100, func() string { return "/answers?by=answer&" + search().Encode() })
	measure("search, prompts with all answers", time.Second, 60, func() string { return "/answers?" + search().Encode() })
	ready("the report of the run, drawn", "/?study=big")
	measure("the report of the run", 300*time.Millisecond, 20, func() string { return "/?study=big" })
	pair := func() url.Values {
		a := random.IntN(models)
		return url.Values{"study": {"big"}, "target": {names[a], names[(a+1+random.IntN(models-1))%models]}}
	}
	measure("two targets compared, for the first time", time.Second, 10, func() string { return "/compare.json?" + pair().Encode() })
	same := pair()
	ready("two targets compared", "/compare.json?"+same.Encode())
	measure("two targets compared, again", 500*time.Millisecond, 40, func() string {
		same.Set("flip", []string{"newly_refused", "newly_answered"}[random.IntN(2)])
		return "/compare?" + same.Encode()
	})
	var found struct{ Rows []struct{ Address string } }
	if body, err := http.Get(root + "/answers.json?by=answer&study=big"); err != nil {
		t.Fatal(err)
	} else if err := errors.Join(json.NewDecoder(body.Body).Decode(&found), body.Body.Close()); err != nil {
		t.Fatal(err)
	}
	one := func() string { return found.Rows[random.IntN(len(found.Rows))].Address }
	measure("one answer beside the others", 300*time.Millisecond, 40, one)
	measure("its raw calls", 300*time.Millisecond, 40, func() string { return strings.Replace(one(), "/answers?", "/raw?", 1) })
	ready("the queue of drawn answers, once", "/label.json?person=ana&study=big")
	measure("the queue of drawn answers", 500*time.Millisecond, 20, func() string { return "/label?person=ana&study=big" })
	measure("a filter to label", 500*time.Millisecond, 20, func() string { return "/label.json?person=ana&label=safe&" + filter().Encode() })

	// readers has 50 people read for some seconds, a page a second each.
	readers := func(seconds int) (took []time.Duration, failed []error) {
		var mu sync.Mutex
		var all sync.WaitGroup
		var addresses []string
		for range 50 * seconds {
			addresses = append(addresses, "/answers?by=answer&"+filter().Encode())
		}
		for r := range 50 {
			all.Go(func() {
				for i := range seconds {
					began := time.Now()
					d, err := get(addresses[r*seconds+i])
					mu.Lock()
					if took = append(took, d); err != nil {
						failed = append(failed, err)
					}
					mu.Unlock()
					time.Sleep(time.Second - time.Since(began))
				}
			})
		}
		all.Wait()
		return took, failed
	}
	idle, failed := readers(10)
	t.Logf("50 readers of an idle store: median %v, 95th percentile %v, %d errors", percentile(idle, 50), percentile(idle, 95), len(failed))

	sim := exec.Command("orbench", "sim")
	pipe, err := sim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	simURL := strings.TrimSpace(said[strings.Index(said, "http"):])
	write := func(name string, meanwhile func()) float64 {
		c, _, stderr := orbench("eval", "--target", "openai/"+name, "--base-url", simURL, "--dataset", file, "--judge", "lexical", "--name", name, "--store", at, "--quiet", "--format", "json")
		began := time.Now()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { meanwhile(); close(done) }()
		if err := c.Wait(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		rate := float64(prompts) / time.Since(began).Seconds()
		<-done
		return rate
	}
	alone := write("instant", func() {})
	var beside []time.Duration
	seconds := max(2, int(float64(prompts)/alone))
	read := write("permissive", func() { beside, failed = readers(seconds) })
	t.Logf("a run writes %.0f answers a second alone, and %.0f beside 50 readers: %.2f (bar 0.5)", alone, read, read/alone)
	t.Logf("50 readers beside a run that writes: median %v, 95th percentile %v, %.1f times that of an idle store (bar 2), %d errors", percentile(beside, 50), percentile(beside, 95),
		float64(percentile(beside, 95))/float64(percentile(idle, 95)), len(failed))
	for i, err := range failed {
		if i < 3 {
			t.Error(err)
		}
	}
	for _, p := range []*exec.Cmd{sim, server} {
		if err := p.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_ = p.Wait()
	}
	t.Logf("peak memory of the server: %d MB (bar 500)", server.ProcessState.SysUsage().(*syscall.Rusage).Maxrss>>10)
}

// processors is how long the processors have worked for a process, in steps of 10 ms.
func processors(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks int
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
