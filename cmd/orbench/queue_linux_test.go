package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench/internal/store/storetest"
)

// keyed answers calls after a time, counts those that came, were under way and were answered,
// and takes one key alone.
type keyed struct {
	*httptest.Server
	took                          time.Duration
	came, underWay, answered, bad atomic.Int64
}

// serveKeyed starts a server that takes the key "right".
func serveKeyed(t *testing.T, took time.Duration) *keyed {
	k := &keyed{took: took}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r) // it says nothing of itself
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Header.Get("Authorization") != "Bearer right" {
			k.bad.Add(1)
			http.Error(w, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, http.StatusUnauthorized)
			return
		}
		k.came.Add(1)
		k.underWay.Add(1)
		defer k.underWay.Add(-1)
		time.Sleep(k.took)
		k.answered.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"model":"m","choices":[{"message":{"role":"assistant","content":"Here is how."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`)
	}))
	t.Cleanup(k.Close)
	return k
}

// queued is a database with what works on it.
type queued struct {
	t  *testing.T
	at string
}

// run starts orbench with the key for openai and more of the environment.
func (q queued) run(key string, env []string, args ...string) *process {
	q.t.Helper()
	p := &process{}
	p.Cmd, p.stdout, p.stderr = orbench(append(args, "--store", q.at)...)
	p.Env = append(append(p.Environ(), "OPENAI_API_KEY="+key), env...)
	if err := p.Start(); err != nil {
		q.t.Fatal(err)
	}
	q.t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	return p
}

// eval starts an eval over workers of so many prompts.
func (q queued) eval(server *keyed, name string, prompts int, more ...string) *process {
	q.t.Helper()
	return q.run("right", nil, append([]string{
		"eval", "--set", "workers=true", "--target", "openai/m", "--base-url", server.URL + "/v1",
		"--dataset", writePrompts(q.t, prompts), "--name", name, "--quiet", "--format", "json",
	}, more...)...)
}

// within waits until something holds, and gives how long that took.
func within(t *testing.T, most time.Duration, what string, holds func() bool) time.Duration {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if holds() {
			return time.Since(began)
		}
		if time.Since(began) > most {
			t.Fatalf("not in %v: %s", most, what)
		}
	}
}

// done waits for a process to end well.
func done(t *testing.T, p *process, most time.Duration) time.Duration {
	t.Helper()
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- p.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("%v: %s", err, p.stderr)
		}
	case <-time.After(most):
		t.Fatalf("it has not ended in %v: %s", most, p.stderr)
	}
	return time.Since(began)
}

// TestQueueCancel cancels a queued run: no more than the calls under way are made.
func TestQueueCancel(t *testing.T) {
	t.Parallel()
	server := serveKeyed(t, 200*time.Millisecond)
	q := queued{t, storetest.Database(t)}
	const concurrency, workers = 8, 2
	for range workers {
		q.run("right", nil, "worker", "--concurrency", fmt.Sprint(concurrency))
	}
	eval := q.eval(server, "main", 2000)
	within(t, time.Minute, "100 calls", func() bool { return server.came.Load() > 100 })
	cancel := q.run("", nil, "worker", "cancel", "main")
	took := done(t, cancel, 20*time.Second)
	underWay, came := server.underWay.Load(), server.came.Load()
	time.Sleep(3 * time.Second)
	t.Logf("canceled in %v: %s; %d calls were made, %d of them under way then, and %d later", took.Round(time.Millisecond), strings.TrimSpace(cancel.stdout.String()), came, underWay, server.came.Load()-came)
	if later := server.came.Load() - came; later > 0 || came >= 2000 {
		t.Errorf("%d calls were made after it was canceled", later)
	}
	if err := eval.Wait(); err == nil || !strings.Contains(eval.stderr.String(), "its queued calls were canceled") {
		t.Errorf("who followed it: %v: %s", err, eval.stderr)
	}
}

// TestQueuePause lists a queued run, pauses it and has it go on: nothing is asked meanwhile,
// and nothing twice.
func TestQueuePause(t *testing.T) {
	t.Parallel()
	server := serveKeyed(t, 50*time.Millisecond)
	q := queued{t, storetest.Database(t)}
	eval := q.eval(server, "main", 400)
	printed := func(args ...string) string {
		p := q.run("", nil, append([]string{"worker"}, args...)...)
		done(t, p, 20*time.Second)
		return p.stdout.String()
	}
	within(t, 20*time.Second, "400 calls are queued", func() bool {
		p := q.run("", nil, "worker", "list")
		_ = p.Wait() // at first there is no store
		return strings.Contains(p.stdout.String(), " 400 ")
	})
	q.run("right", nil, "worker", "--concurrency", "8")
	within(t, time.Minute, "50 calls", func() bool { return server.came.Load() > 50 })
	printed("pause", "main")
	came := server.came.Load()
	time.Sleep(4 * time.Second)
	later := server.came.Load() - came
	listed := printed("list", "--format", "json")
	printed("resume", "main")
	done(t, eval, time.Minute)
	t.Logf("paused after %d calls; %d came in the 4 s after that, and %d in all", came, later, server.came.Load())
	if later > 0 || server.came.Load() != 400 || !strings.Contains(listed, `"halted": "paused"`) || !regexp.MustCompile(`orbench worker resume --store \S+ main\n`).MatchString(eval.stderr.String()) {
		t.Errorf("%s\n%s", listed, eval.stderr)
	}
	if text := printed("list"); text != "no call is queued\n" {
		t.Error(text)
	}
	wrong := q.run("", nil, "worker", "cancel", "main")
	if err := wrong.Wait(); wrong.ProcessState.ExitCode() != 2 || !strings.Contains(wrong.stderr.String(), `no call of "main" is queued`) {
		t.Errorf("%v: %s", err, wrong.stderr)
	}
}

// TestQueueWrongKey has one worker with a wrong key: it leaves the provider to the other.
func TestQueueWrongKey(t *testing.T) {
	t.Parallel()
	server := serveKeyed(t, time.Millisecond)
	q := queued{t, storetest.Database(t)}
	wrong := q.run("wrong", nil, "worker", "--concurrency", "8")
	eval := q.eval(server, "main", 4000)
	within(t, 30*time.Second, "the follower says that none can", func() bool {
		return strings.Contains(eval.stderr.String(), "none of the running workers can ask openai")
	})
	q.run("right", nil, "worker", "--concurrency", "32")
	took := done(t, eval, 2*time.Minute)
	n, answered, _, failed, unanswered := counts(t, eval.stdout.Bytes())
	t.Logf("%d of %d answered, %d failed, in %v more; %d calls with the wrong key", answered, n, failed, took.Round(time.Second), server.bad.Load())
	if answered != 4000 || failed+unanswered > 0 || server.bad.Load() > 32 {
		t.Errorf("%d answered, %d failed, %d unanswered, %d calls with the wrong key", answered, failed, unanswered, server.bad.Load())
	}
	named := fmt.Sprintf("left to other workers by worker %d on ", wrong.Process.Pid)
	if said := eval.stderr.String(); !strings.Contains(said, named) || !strings.Contains(said, "401") {
		t.Errorf("the follower does not name it: %s", said)
	}
	if said := wrong.stderr.String(); !strings.Contains(said, "calls are left to other workers") {
		t.Errorf("the worker does not say so: %s", said)
	}
}

// TestQueueFairness queues 2,000 calls at 60 a minute, then 200 of another user to another
// server, which must not wait for them. With ORBENCH_LONG it queues 20,000.
func TestQueueFairness(t *testing.T) {
	t.Parallel()
	slow, instant := serveKeyed(t, time.Millisecond), serveKeyed(t, 0)
	q := queued{t, storetest.Database(t)}
	ahead := 2_000
	if long() {
		ahead = 20_000
	}
	q.run("right", nil, "worker")
	q.eval(slow, "slow", ahead, "--set", "rpm=60")
	within(t, time.Minute, "the slow calls begin", func() bool { return slow.came.Load() > 5 })
	took := done(t, q.eval(instant, "instant", 200), time.Minute)
	t.Logf("200 calls behind %d at 60 a minute took %v, start of the command included; %d of the others were made", ahead, took.Round(100*time.Millisecond), slow.came.Load())
	if took > 15*time.Second || instant.answered.Load() != 200 {
		t.Errorf("%v for %d calls", took, instant.answered.Load())
	}
}

// TestQueueNobody says within ten seconds that no worker runs, and that none has a key.
func TestQueueNobody(t *testing.T) {
	t.Parallel()
	server := serveKeyed(t, time.Millisecond)
	q := queued{t, storetest.Database(t)}
	eval := q.eval(server, "main", 50)
	none := within(t, 15*time.Second, "that no worker runs", func() bool { return strings.Contains(eval.stderr.String(), "no worker runs") })
	keyless := q.run("", nil, "worker")
	lacks := within(t, 15*time.Second, "that none has the key", func() bool {
		return strings.Contains(eval.stderr.String(), fmt.Sprintf("by worker %d on ", keyless.Process.Pid)) && strings.Contains(eval.stderr.String(), "none of the running workers can ask openai")
	})
	t.Logf("it said after %v that no worker runs, after %v that none can", none.Round(100*time.Millisecond), lacks.Round(100*time.Millisecond))
	if none > 10*time.Second || lacks > 10*time.Second {
		t.Errorf("after %v and %v", none, lacks)
	}
	q.run("right", nil, "worker")
	done(t, eval, time.Minute)
}

// TestQueueConnections has twenty workers, an eval and a console on a server as it is
// installed: none has more than four connections, and the console gets in.
func TestQueueConnections(t *testing.T) {
	t.Parallel()
	if !long() {
		t.Skip("twenty processes: set ORBENCH_LONG=1, as .ci/run does")
	}
	server := serveKeyed(t, 20*time.Millisecond)
	database := storetest.StartPostgres(t, "", "max_connections=100")
	q := queued{t, database.Database(t)}
	for i := range 20 {
		q.run("right", []string{fmt.Sprint("PGAPPNAME=worker", i)}, "worker", "--concurrency", "16")
	}
	eval := q.eval(server, "main", 10_000)
	within(t, 2*time.Minute, "calls", func() bool { return server.came.Load() > 100 })
	most, all := 0, 0
	for server.answered.Load() < 9_000 {
		console, err := pgx.Connect(t.Context(), q.at)
		if err != nil {
			t.Fatal("the console: ", err)
		}
		var one, sum int
		if err := console.QueryRow(t.Context(), `SELECT max(n), sum(n) FROM (SELECT count(*) AS n FROM pg_stat_activity WHERE application_name LIKE 'worker%' GROUP BY application_name) AS w`).Scan(&one, &sum); err != nil {
			t.Fatal(err)
		}
		most, all = max(most, one), max(all, sum)
		if err := console.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	done(t, eval, 2*time.Minute)
	t.Logf("twenty workers have %d connections together at most, one has %d", all, most)
	if most > 4 {
		t.Errorf("a worker has %d connections", most)
	}
}

// TestQueueKilled kills one of two workers: whoever follows is told, the other has its shards
// within half a minute, and only the calls under way are made twice. With ORBENCH_LONG the two
// are as on two machines, so that nobody can know that it is gone.
func TestQueueKilled(t *testing.T) {
	t.Parallel()
	server := serveKeyed(t, 50*time.Millisecond)
	q := queued{t, storetest.Database(t)}
	const concurrency, prompts = 8, 800
	worker := func() *process {
		p := &process{}
		p.Cmd, p.stdout, p.stderr = orbench("worker", "--concurrency", fmt.Sprint(concurrency), "--store", q.at)
		p.Env = append(p.Environ(), "OPENAI_API_KEY=right")
		if long() {
			elsewhere(p.Cmd, 0)
		}
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
		return p
	}
	// The first has all shards.
	first, eval := worker(), q.eval(server, "main", prompts)
	within(t, time.Minute, "calls", func() bool { return server.came.Load() > 100 })
	worker()
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	took, again := done(t, eval, time.Minute), server.came.Load()-prompts
	t.Logf("all were answered %.1f s after a worker was killed, %d again", took.Seconds(), again)
	if took > 45*time.Second || again > concurrency+1 { // one call tries the model
		t.Errorf("all were answered %.1f s after a worker was killed, %d of them again", took.Seconds(), again)
	}
	if !strings.Contains(eval.stderr.String(), "has fallen silent; others take over its calls within 30 seconds") {
		t.Errorf("who follows is not told: %s", eval.stderr)
	}
}

// TestQueueRestart starts the server anew: what River says of that is nobody's log.
func TestQueueRestart(t *testing.T) {
	t.Parallel()
	server := serveKeyed(t, 20*time.Millisecond)
	database := storetest.StartPostgres(t, "")
	q := queued{t, database.Database(t)}
	worker := q.run("right", nil, "worker", "--concurrency", "8")
	eval := q.eval(server, "main", 1500)
	within(t, time.Minute, "calls", func() bool { return server.came.Load() > 200 })
	if err := database.Kill(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := database.Restart(); err != nil {
		t.Fatal(err)
	}
	done(t, eval, 2*time.Minute)
	said := worker.stderr.String()
	t.Logf("the worker said:\n%s", said)
	for _, word := range []string{"roducer", "lector", "river", "otifier", "SQLSTATE"} {
		if strings.Contains(said, word) {
			t.Errorf("the log of the worker says %q", word)
		}
	}
}
