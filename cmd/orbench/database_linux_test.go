package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/store/storetest"
)

// network stands between processes and a server, and can be cut: nothing gets through then,
// and nobody is told.
type network struct {
	listener net.Listener
	to       string
	mu       sync.RWMutex
	conns    sync.WaitGroup
}

func newNetwork(t *testing.T, to string) *network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{listener: l, to: to}
	n.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.conns.Go(func() { n.carry(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		n.conns.Wait()
	})
	return n
}

// carry carries what goes over a connection, both ways, until either end closes it.
func (n *network) carry(from net.Conn) {
	to, err := net.Dial("tcp", n.to)
	if err != nil {
		from.Close()
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			defer from.Close()
			defer to.Close()
			_, _ = io.Copy(way[0], cuttable{way[1], n})
		})
	}
	both.Wait()
}

// cuttable reads while the network is not cut.
type cuttable struct {
	io.Reader
	*network
}

func (c cuttable) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.mu.RLock()
	defer c.mu.RUnlock()
	return n, err
}

// cut cuts the network for a time.
func (n *network) cut(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	time.Sleep(d)
}

// TestDatabaseFaults has three processes fill one database, and processes, server and
// network fail. Every prompt is answered, once but for the calls that were under way at a
// fault, and the run is the one that a single undisturbed process makes. With ORBENCH_LONG=2
// it does so for 20,000 prompts, with a process that is frozen for longer than its claims
// last, a network that is cut and a disk that is full.
func TestDatabaseFaults(t *testing.T) {
	t.Parallel()
	prompts, concurrency := 600, 8
	if fullSize() {
		prompts, concurrency = 20_000, 32
	}
	disk := ""
	if fullSize() {
		disk = smallDisk(t)
	}
	server := storetest.StartPostgres(t, disk, "max_wal_size=64MB", "min_wal_size=32MB")
	direct := server.Database(t)
	wire := newNetwork(t, "127.0.0.1:"+server.Port())
	at := strings.Replace(direct, ":"+server.Port(), ":"+fmt.Sprint(wire.listener.Addr().(*net.TCPAddr).Port), 1)
	models, err := sim.Serve(t.Context(), "127.0.0.1:0", 0, sim.Faults{"slow": 1, "slow-by": 0.02})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = models.Close() })
	file := writePrompts(t, prompts)
	args := func(store string) []string {
		return []string{
			"eval", "--target", "openai/balanced", "--base-url", models.BaseURL(), "--dataset", file, "--name", "main", "--judge", "lexical",
			"--store", store, "--concurrency", fmt.Sprint(concurrency), "--quiet", "--format", "json",
		}
	}
	start := func() *process {
		p := &process{}
		p.Cmd, p.stdout, p.stderr = orbench(args(at)...)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		return p
	}
	asked := func() int {
		stats, err := fetchStats(strings.TrimSuffix(models.BaseURL(), "/v1") + "/stats")
		if err != nil {
			t.Fatal(err)
		}
		return int(stats.Requests)
	}
	until := func(share float64) {
		for began := time.Now(); float64(asked()) < share*float64(prompts); time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > 3*time.Minute {
				t.Fatalf("%d of %d prompts are asked, and no more", asked(), prompts)
			}
		}
	}
	all := []*process{start(), start(), start()}
	faults := 0

	until(0.15)
	if err := errors.Join(all[0].Process.Kill(), ignore(all[0].Wait())); err != nil {
		t.Fatal(err)
	}
	all[0] = start()
	faults += concurrency

	until(0.4)
	if err := server.Kill(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if fullSize() {
		until(0.5)
		frozen := all[1].Process
		if err := frozen.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		faults += concurrency
		thaw := time.AfterFunc(35*time.Second, func() { _ = frozen.Signal(syscall.SIGCONT) })
		defer thaw.Stop()
		until(0.6)
		wire.cut(10 * time.Second)
		until(0.7)
		if disk != "" {
			fillDisk(t, disk, server)
		}
	}
	want, stdout, stderr := orbench(args(filepath.Join(t.TempDir(), "one.db"))...)
	for i, p := range all {
		err := p.Wait()
		if p.cameEarly() {
			all[i] = start()
			p, err = all[i], all[i].Wait()
		}
		if err != nil {
			t.Errorf("process %d: %v: %s", i, err, p.stderr)
		}
	}
	// Conservation, by the rows and by what the models have seen.
	stats, err := fetchStats(strings.TrimSuffix(models.BaseURL(), "/v1") + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	if stats.Answered-stats.Distinct > int64(faults) || stats.Distinct != int64(prompts) {
		t.Errorf("%d of %d prompts were answered, %d again; at most %d calls were under way at faults", stats.Distinct, prompts, stats.Answered-stats.Distinct, faults)
	}
	t.Logf("%d prompts, %d answered again, %d under way at faults", prompts, stats.Answered-stats.Distinct, faults)
	m, err := address.OpenExisting(t.Context(), direct)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := m.Count(t.Context())
	if failed, lost := m.AllFailures(t.Context()); err != nil || rows != prompts || len(failed) > 0 || lost != nil {
		t.Errorf("%d rows and %d failures, %v; want %d and none", rows, len(failed), errors.Join(err, lost), prompts)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if health, err := address.Check(t.Context(), direct); err != nil || !health.Sound() {
		t.Errorf("%+v, %v", health, err)
	}
	if err := want.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	for i, p := range all {
		if !bytes.Equal(outcomes(t, p.stdout.Bytes()), outcomes(t, stdout.Bytes())) {
			t.Errorf("process %d shows other figures than one that ran alone:\n%s", i, p.stdout)
		}
	}
}

// TestWorkerFaults has three workers make the calls that an eval has queued, while the
// server is started anew. The eval is left and taken up. With ORBENCH_LONG=2 there are 20,000
// prompts, a worker is killed and another frozen for longer than its claims last, the network
// to the server is cut for ten seconds, and its disk is full. No call is lost, and none
// answered again but those that were under way in the worker that was killed or frozen; limit
// and budget hold over all workers.
func TestWorkerFaults(t *testing.T) {
	t.Parallel()
	const perSecond, window = 600, 5 * time.Second
	prompts, concurrency, disk, answering := 600, 8, "", 20*time.Millisecond
	if fullSize() {
		// Answers that take so long keep all places taken, whenever a fault comes.
		prompts, concurrency, disk, answering = 20_000, 32, smallDisk(t), 150*time.Millisecond
	}
	server := storetest.StartPostgres(t, disk, "max_wal_size=64MB", "min_wal_size=32MB")
	direct := server.Database(t)
	wire := newNetwork(t, "127.0.0.1:"+server.Port())
	at := strings.Replace(direct, ":"+server.Port(), ":"+fmt.Sprint(wire.listener.Addr().(*net.TCPAddr).Port), 1)
	models := &witness{next: sim.NewHandler(0, sim.Faults{"slow": 1, "slow-by": answering.Seconds()}), asked: map[string][]string{}}
	listening := httptest.NewServer(models)
	t.Cleanup(listening.Close)
	until := func(share float64) {
		for began := time.Now(); float64(models.next.Stats().Distinct) < share*float64(prompts); time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > 3*time.Minute {
				t.Fatalf("%d of %d prompts are answered, and no more", models.next.Stats().Distinct, prompts)
			}
		}
	}
	start := func(args ...string) *process {
		p := &process{}
		p.Cmd, p.stdout, p.stderr = orbench(append(args, "--store", at)...)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Process.Kill() })
		return p
	}
	worker := func() *process { return start("worker", "--concurrency", fmt.Sprint(concurrency), "--turn", "2s") }
	eval := func(target string, mostRequests int) *process {
		return start("eval", "--set", "workers=true", "--target", target, "--base-url", listening.URL+"/v1", "--dataset", writePrompts(t, prompts), "--name", target,
			"--judge", "lexical", "--set", fmt.Sprint("rpm=", 60*perSecond), "--set", fmt.Sprint("max_requests=", mostRequests), "--quiet", "--format", "json")
	}
	workers := []*process{worker(), worker(), worker()}
	left := eval("openai/balanced", 2*prompts)
	// stop stops a worker, and gives how many calls it had under way: those that it has sent
	// and whose answers are in no row.
	stop := func(p *process) int {
		if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		kept := keptPrompts(t, direct)
		n := 0
		for _, prompt := range models.askedBy(t, p.Process.Pid) {
			if !kept[prompt] {
				n++
			}
		}
		return n
	}
	until(0.15)
	if err := left.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _ = left.Wait(); left.ProcessState.ExitCode() != 130 {
		t.Errorf("the eval that was left has exit code %d: %s", left.ProcessState.ExitCode(), left.stderr)
	}
	if err := server.Kill(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	taken := eval("openai/balanced", 2*prompts)
	underWay := 0
	if fullSize() {
		until(0.3)
		killed := stop(workers[0])
		if err := errors.Join(workers[0].Process.Kill(), ignore(workers[0].Wait())); err != nil {
			t.Fatal(err)
		}
		workers[0] = worker()
		until(0.4)
		began := time.Now()
		frozen := stop(workers[1])
		t.Logf("%d calls were under way in the worker that was killed, %d in the one that was frozen", killed, frozen)
		underWay = killed + frozen
		until(0.5)
		wire.cut(10 * time.Second)
		until(0.6)
		if disk != "" {
			fillDisk(t, disk, server)
		}
		time.Sleep(time.Until(began.Add(40 * time.Second)))
		if err := workers[1].Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if err := taken.Wait(); err != nil {
		t.Errorf("the eval that was taken up: %v: %s", err, taken.stderr)
	}
	if fullSize() {
		time.Sleep(5 * time.Second) // what was frozen has finished what it had under way
	}
	seen := models.next.Stats()
	t.Logf("%d prompts, %d answered again, %d under way in workers at faults, most in %v: %d", prompts, seen.Answered-seen.Distinct, underWay, window, models.mostIn(window))
	if seen.Distinct != int64(prompts) || seen.Answered-seen.Distinct > int64(underWay) {
		t.Errorf("%d of %d prompts were answered, %d again; at most %d calls were under way at faults", seen.Distinct, prompts, seen.Answered-seen.Distinct, underWay)
	}
	// A second's worth may be taken ahead by each worker, of which there were four.
	if n, bound := models.mostIn(window), int(window.Seconds()+4)*perSecond; n > bound {
		t.Errorf("%d requests in %v, want %d at most", n, window, bound)
	}
	if n, answered, _, failed, unanswered := counts(t, taken.stdout.Bytes()); n != prompts || answered != prompts || failed+unanswered != 0 {
		t.Errorf("of %d prompts %d are answered, %d failed, %d unanswered", n, answered, failed, unanswered)
	}
	if kept := keptPrompts(t, direct); len(kept) != prompts {
		t.Errorf("%d rows, want %d", len(kept), prompts)
	}
	before := models.next.Stats().Requests
	const budget = 50
	spent := eval("openai/strict", budget)
	if err := spent.Wait(); spent.ProcessState.ExitCode() != 3 {
		t.Errorf("an eval whose budget is spent: %v: %s", err, spent.stderr)
	}
	if n := models.next.Stats().Requests - before; n > budget || n < budget/2 {
		t.Errorf("%d requests of a budget of %d", n, budget)
	}
	for i, w := range workers {
		if err := w.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if _ = w.Wait(); w.ProcessState.ExitCode() != 130 && !w.cameEarly() {
			t.Errorf("worker %d has exit code %d: %s", i, w.ProcessState.ExitCode(), w.stderr)
		}
	}
}

// witness notes who asks models what, and when.
type witness struct {
	next *sim.Handler

	mu sync.Mutex
	// asked are the prompts that came from an address.
	asked map[string][]string
	at    []time.Time
}

func (m *witness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // who asked is gone
	}
	m.mu.Lock()
	m.asked[r.RemoteAddr] = append(m.asked[r.RemoteAddr], promptIn(body))
	m.at = append(m.at, time.Now())
	m.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.next.ServeHTTP(w, r)
}

// mostIn is the largest number of requests that came within a time.
func (m *witness) mostIn(d time.Duration) (most int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := 0
	for i, at := range m.at {
		for at.Sub(m.at[first]) >= d {
			first++
		}
		most = max(most, i+1-first)
	}
	return most
}

// askedBy are the prompts that came over the connections that a process has.
func (m *witness) askedBy(t *testing.T, pid int) (prompts []string) {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{}
	for _, link := range links {
		to, err := os.Readlink(link)
		if err != nil {
			t.Fatal(err)
		}
		own[to] = true
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for line := range strings.Lines(string(table)) {
		// https://docs.kernel.org/networking/proc_net_tcp.html
		fields := strings.Fields(line)
		_, port, _ := strings.Cut(fields[1], ":")
		if len(fields) < 10 || !own["socket:["+fields[9]+"]"] {
			continue
		}
		n, err := strconv.ParseUint(port, 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, m.asked[fmt.Sprint("127.0.0.1:", n)]...)
	}
	return prompts
}

// promptIn is the text of the message in a request.
func promptIn(request []byte) string {
	var r struct{ Messages []struct{ Content string } }
	if json.Unmarshal(request, &r) != nil || len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// keptPrompts are those whose answers a store has.
func keptPrompts(t *testing.T, at string) map[string]bool {
	t.Helper()
	m, err := address.OpenExisting(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for r, err := range m.AllRecords(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		kept[promptIn(r.Request)] = true
	}
	if failed, err := m.AllFailures(t.Context()); err != nil || len(failed) > 0 {
		t.Errorf("%d failures, %v", len(failed), err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	return kept
}

// TestWorkersScale compares four workers with one, each with 64 calls of 100 ms under way
// and as many calls to make. It prints the figures, with the processor time that each part
// takes, and the bar that they are held to, and runs for make bench only.
func TestWorkersScale(t *testing.T) {
	if os.Getenv("ORBENCH_BENCH") == "" {
		t.Skip("a benchmark: run it with make bench")
	}
	const each = 8_000
	perSecond := map[int]float64{}
	for _, workers := range []int{1, 4} {
		perSecond[workers] = measureWorkers(t, workers, workers*each)
	}
	share := perSecond[4] / (4 * perSecond[1])
	t.Logf("bar: four workers make %.2f of four times the calls of one (at least 0.9)", share)
	if share < 0.9 {
		t.Error("the bar is missed")
	}
}

// measureWorkers has some workers answer prompts, and gives how many they do in a second.
func measureWorkers(t *testing.T, workers, prompts int) (perSecond float64) {
	server := storetest.StartPostgres(t, "")
	at := server.Database(t)
	models, err := sim.Serve(t.Context(), "127.0.0.1:0", 0, sim.Faults{"slow": 1, "slow-by": 0.1})
	if err != nil {
		t.Fatal(err)
	}
	defer models.Close()
	var all []*process
	run := func(args ...string) *process {
		p := &process{}
		p.Cmd, p.stdout, p.stderr = orbench(append(args, "--store", at)...)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for range workers {
		all = append(all, run("worker", "--concurrency", "64"))
	}
	file := writePrompts(t, prompts)
	time.Sleep(3 * time.Second) // they have started
	began, own := time.Now(), ownTime(t)
	eval := run("eval", "--set", "workers=true", "--target", "openai/instant", "--base-url", models.BaseURL(), "--dataset", file, "--judge", "lexical", "--quiet", "--format", "json")
	if eval.Wait() != nil {
		t.Fatal(eval.stderr)
	}
	took := time.Since(began)
	own = ownTime(t) - own
	var used time.Duration
	for _, p := range all {
		if err := errors.Join(p.Process.Kill(), ignore(p.Wait())); err != nil {
			t.Error(err)
		}
		used += p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	}
	if err := server.Kill(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	per := func(d time.Duration) float64 { return d.Seconds() / float64(prompts) * 1000 }
	perSecond = float64(prompts) / took.Seconds()
	t.Logf("%d workers: %.0f calls a second; processor seconds for 1,000 calls: workers %.3f, eval %.3f, database %.3f, models %.3f",
		workers, perSecond, per(used), per(eval.ProcessState.UserTime()+eval.ProcessState.SystemTime()), per(server.Used()), per(own))
	return perSecond
}

// ownTime is the processor time that this process has used.
func ownTime(t *testing.T) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// process is a command that runs.
type process struct {
	*exec.Cmd
	stdout, stderr *output
}

// cameEarly reports whether a process that has ended opened the store while the server was
// away, which is a fault of its address as far as it can tell.
func (p *process) cameEarly() bool {
	return p.ProcessState.ExitCode() == 2 && strings.Contains(p.stderr.String(), "no Postgres server answers there")
}

// ignore is no error: what was killed has ended with one.
func ignore(error) error { return nil }

// outcomes are the counts of a result.
func outcomes(t *testing.T, out []byte) []byte {
	t.Helper()
	n, answered, blocked, failed, unanswered := counts(t, out)
	return fmt.Append(nil, n, answered, blocked, failed, unanswered)
}

// smallDisk makes a disk that can be filled, and gives its folder; empty where this process
// may not make one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "orbench-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=300m,mode=1777"); err != nil {
		t.Logf("no disk is filled: %v", err)
		return ""
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk fills the disk for some seconds. A server that gave up is started again.
func fillDisk(t *testing.T, dir string, server *storetest.Server) {
	t.Helper()
	ballast, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(ballast, zeros{})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	full := time.Now()
	for server.Exec("postgres", "CREATE TABLE IF NOT EXISTS more AS SELECT repeat('x', 100) FROM generate_series(1, 50000)") == nil && time.Since(full) < 30*time.Second {
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(3 * time.Second)
	if err := errors.Join(ballast.Close(), os.Remove(ballast.Name())); err != nil {
		t.Fatal(err)
	}
	if server.Exec("postgres", "SELECT 1") != nil {
		t.Log("the full disk has ended the server")
		if err := server.Kill(syscall.SIGQUIT); err != nil {
			t.Log(err)
		}
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
	}
}

// zeros are bytes without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
