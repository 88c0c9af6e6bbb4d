package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/store/storetest"
)

const (
	// meteredPrice is what a token costs at the meter, in US dollars per million.
	meteredPrice = 10
	// meteredOutput is the most output tokens that it is asked for.
	meteredOutput = 100
)

// meter is a server of models that counts what it is to be paid: the words of each prompt and of
// each answer, also where the answer does not arrive.
type meter struct {
	*httptest.Server
	// faults is the share of calls that are paid for and fail.
	faults float64

	mu     sync.Mutex
	random *rand.Rand
	calls  int
	asked  map[string]int
	tokens int
	// most is the most that a call has cost, in tokens.
	most int
}

func newMeter(t *testing.T, seed uint64, faults float64) *meter {
	m := &meter{random: rand.New(rand.NewPCG(seed, 1)), faults: faults, asked: map[string]int{}}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Content string }
	}
	var body strings.Builder
	if err := json.NewDecoder(io.TeeReader(r.Body, &body)).Decode(&asked); err != nil || len(asked.Messages) == 0 {
		http.Error(w, `{"error":{"message":"no messages"}}`, http.StatusBadRequest)
		return
	}
	input := len(strings.Fields(asked.Messages[len(asked.Messages)-1].Content))
	m.mu.Lock()
	output, takes := meteredOutput/2+m.random.IntN(meteredOutput/2), 10+m.random.IntN(90)
	fails, how := m.random.Float64() < m.faults, m.random.IntN(3)
	m.calls++
	m.asked[body.String()]++
	m.tokens += input + output
	m.most = max(m.most, input+output)
	m.mu.Unlock()
	time.Sleep(time.Duration(takes) * time.Millisecond)
	switch {
	case fails && how == 0:
		http.Error(w, `{"error":{"message":"overheated"}}`, http.StatusInternalServerError)
		return
	case fails && how == 1:
		panic(http.ErrAbortHandler)
	case fails:
		fmt.Fprint(w, `{"choices":[{"mess`)
		return
	}
	fmt.Fprintf(w, `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`,
		strings.Repeat("word ", output), input, output)
}

// usd is what is to be paid so far, and call the most that one call of it was.
func (m *meter) usd() (usd, call float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return float64(m.tokens) * meteredPrice / 1e6, float64(m.most) * meteredPrice / 1e6
}

func (m *meter) answered() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// metered is what the commands of a case share.
type metered struct {
	*meter
	t             *testing.T
	store         string
	prompts       string
	prices, cache string
}

func newMetered(t *testing.T, seed uint64, faults float64, store string, prompts int) *metered {
	m := &metered{meter: newMeter(t, seed, faults), t: t, store: store, prompts: writePrompts(t, prompts), cache: t.TempDir()}
	m.prices = filepath.Join(t.TempDir(), "prices.json")
	prices := fmt.Sprintf(`[{"provider": "openai", "model": "m", "input": %d, "output": %[1]d, "as_of": "2026-01-01"}]`, meteredPrice)
	if err := os.WriteFile(m.prices, []byte(prices), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// eval starts an eval of the run main with a bound, 0 for none.
func (m *metered) eval(bound float64, more ...string) *process {
	m.t.Helper()
	return m.started(m.command(bound, more...))
}

// command is that of eval.
func (m *metered) command(bound float64, more ...string) *process {
	args := []string{
		"eval", "--target", "openai/m", "--base-url", m.URL + "/v1", "--dataset", m.prompts, "--name", "main", "--judge", "lexical", "--max-tokens", strconv.Itoa(meteredOutput),
		"--set", "providers=" + m.prices, "--store", m.store, "--concurrency", "32", "--quiet", "--format", "json",
	}
	if bound > 0 {
		args = append(args, "--max-cost", fmt.Sprint(bound))
	}
	return m.prepare(append(args, more...)...)
}

func (m *metered) prepare(args ...string) *process {
	p := &process{}
	p.Cmd, p.stdout, p.stderr = orbench(args...)
	p.Env = append(os.Environ(), "ORBENCH_CACHE="+m.cache, "OPENAI_API_KEY=unused")
	return p
}

func (m *metered) start(args ...string) *process {
	m.t.Helper()
	return m.started(m.prepare(args...))
}

func (m *metered) started(p *process) *process {
	m.t.Helper()
	if err := p.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

var spentWords = regexp.MustCompile(`stopped by --max-cost \S+: \$([0-9.]+) spent`)

// stopped waits for a command that its bound is to stop, and gives what it says was spent.
func (m *metered) stopped(p *process) float64 {
	m.t.Helper()
	err := p.Wait()
	found := spentWords.FindStringSubmatch(p.stderr.String())
	if p.ProcessState.ExitCode() != 3 || found == nil {
		m.t.Fatalf("the bound does not stop it: %v: %s", err, p.stderr)
	}
	said, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		m.t.Fatal(err)
	}
	return said
}

// holds compares what was to be paid with a bound and with what was said, which may be one call
// off, and where atMost is true more.
func (m *metered) holds(what string, bound, slack, said float64, atMost bool) {
	m.t.Helper()
	spent, call := m.usd()
	m.t.Logf("%s: spent $%.4f, %.3f of the bound; said $%.4f, %.3f of what was spent", what, spent, spent/bound, said, said/spent)
	const rounding = 0.00006
	if spent > bound+slack*call {
		m.t.Errorf("%s: $%.4f of a bound of $%.4f were spent", what, spent, bound)
	}
	if said < spent-call-rounding || !atMost && said > spent+call+rounding {
		m.t.Errorf("%s: $%.4f is said to be spent, and $%.4f was", what, said, spent)
	}
}

// budgetRepeats is how often each case of TestBudgetHolds is tried.
func budgetRepeats() int {
	switch {
	case fullSize():
		return 20
	case long():
		return 6
	}
	return 1
}

// TestBudgetHolds has commands and workers that spend on one run keep to its bound, by what the
// server is to be paid, and say what that is.
func TestBudgetHolds(t *testing.T) {
	t.Parallel()
	repeat := func(name string, do func(t *testing.T, seed uint64)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range budgetRepeats() {
				seed := rand.Uint64()
				t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { do(t, seed) })
			}
		})
	}
	file := func(t *testing.T) string { return filepath.Join(t.TempDir(), "orbench.db") }
	repeat("four at once", func(t *testing.T, seed uint64) {
		m := newMetered(t, seed, 0, file(t), 6000)
		const bound = 0.5
		var all []*process
		for range 4 {
			all = append(all, m.eval(bound))
		}
		said := make([]float64, len(all))
		for i, p := range all {
			said[i] = m.stopped(p)
		}
		for i := range all {
			m.holds(fmt.Sprint("command ", i+1), bound, 1, said[i], false)
		}
	})
	repeat("one after another", func(t *testing.T, seed uint64) {
		m := newMetered(t, seed, 0, file(t), 3000)
		for _, bound := range []float64{0.05, 0.1, 0.1, 0.2} {
			m.holds(fmt.Sprint("bound ", bound), bound, 0, m.stopped(m.eval(bound)), false)
		}
	})
	repeat("workers", func(t *testing.T, seed uint64) {
		m := newMetered(t, seed, 0, storetest.Database(t), 3000)
		var workers []*process
		for range 3 {
			workers = append(workers, m.start("worker", "--store", m.store, "--concurrency", "16", "--quiet"))
		}
		for _, bound := range []float64{0.05, 0.1} {
			m.holds(fmt.Sprint("bound ", bound), bound, 0, m.stopped(m.eval(bound, "--set", "workers=true")), false)
		}
		for _, w := range workers {
			_ = w.Process.Signal(os.Interrupt)
			_ = w.Wait()
		}
	})
	repeat("twenty kills", func(t *testing.T, seed uint64) {
		m := newMetered(t, seed, 0.2, file(t), 6000)
		random := rand.New(rand.NewPCG(seed, 2))
		const bound, kills = 2.0, 20
		killed := 0
		for range kills {
			p := m.eval(bound)
			ended := make(chan struct{})
			go func() { _ = p.Wait(); close(ended) }()
			until := m.answered() + 1 + random.IntN(60)
			for over := false; m.answered() < until && !over; {
				select {
				case <-ended:
					over = true
				case <-time.After(time.Millisecond):
				}
			}
			if p.Process.Kill() == nil {
				killed++
			}
			<-ended
		}
		said := m.stopped(m.eval(bound))
		t.Logf("%d kills fell into a command", killed)
		m.holds("after the kills", bound, 0, said, true)
		// A report says what the answers have cost and the most that the rest may have.
		report, stdout, stderr := orbench("report", "main", "--store", m.store, "--format", "json")
		if err := report.Run(); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		var shown struct {
			Provenance struct {
				Runs []struct {
					Cost struct {
						USD       *float64 `json:"usd"`
						FailedUSD *float64 `json:"failed_usd"`
					}
				}
			}
		}
		if err := json.Unmarshal(stdout.Bytes(), &shown); err != nil || len(shown.Provenance.Runs) != 1 || shown.Provenance.Runs[0].Cost.USD == nil || shown.Provenance.Runs[0].Cost.FailedUSD == nil {
			t.Fatalf("%v: no cost in %.300s", err, stdout)
		}
		cost := shown.Provenance.Runs[0].Cost
		m.holds("report", bound, 0, *cost.USD+*cost.FailedUSD, true)
	})
}
