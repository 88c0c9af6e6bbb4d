package fill_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/model"
)

// world is what a schedule happens in.
type world struct {
	schedule
	path  string
	began time.Time
	// raw is the store's file, for what no process does.
	raw *sql.DB
	// targets answer, judges say what the answers are.
	targets, judges *provider
	// names are what a trace calls calls.
	names map[model.Hash]string

	// mu is never held by who waits.
	mu       sync.Mutex
	trace    []string
	problems []string
	random   *rand.Rand
	// processes are all that there were, and now those that run, by their number.
	processes []*process
	now       []*process
	// outages of the store have begun.
	outages []storeFault
	// again counts what was paid for again or for nothing, by its cause.
	again map[string]int
	// calm is true once nothing more goes wrong.
	calm bool
	// next is the time from which more may be sent to each provider, and limiters how many share it.
	next     map[string]time.Time
	limiters map[string]int
}

// storeFault is a fault of the store, for one process or with -1 for all.
type storeFault struct {
	span
	of     int
	writes bool // it fails what is written alone, and fails it for sure
}

// span is a stretch of time.
type span struct{ from, to time.Time }

// meets reports whether two stretches have a moment in common.
func (s span) meets(o span) bool { return !s.from.After(o.to) && !o.from.After(s.to) }

// logf adds to the trace.
func (w *world) logf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(format, args...)
}

// note is logf for a caller that holds w.mu.
func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%12.9f ", time.Since(w.began).Seconds())+fmt.Sprintf(format, args...))
}

// problem notes what must not be.
func (w *world) problem(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("PROBLEM: "+format, args...)
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// uniform draws from [0, 1) what the seed has for something. It does not depend on what was
// drawn before.
func (w *world) uniform(of ...any) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, w.seed, of)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(h.Sum(nil)), 2)).Float64()
}

// between draws a time, down to nanoseconds, so that no two things happen at once.
func (w *world) between(from, to time.Duration, of ...any) time.Duration {
	return from + time.Duration(w.uniform(of...)*float64(to-from))
}

// question is the n-th call.
func (w *world) question(n int) model.Request {
	return w.request(w.targets, fmt.Sprint("question ", n))
}

// verdict asks about the answer to a question.
func (w *world) verdict(answer string) model.Request {
	return w.request(w.judges, "is it a refusal: "+answer)
}

func (w *world) request(of *provider, content string) model.Request {
	return model.Request{
		Provider: of.name, Model: "m", Params: model.Params{MaxTokens: 20},
		Messages: []orbench.Message{{Role: orbench.User, Content: content}},
	}
}

// answered is the text of the answer to a call.
func answered(name string) string { return "answer to " + name }

// newWorld makes a world around a store at a path.
func newWorld(s schedule, path string) *world {
	w := &world{
		schedule: s, path: path, began: time.Now(), random: rand.New(rand.NewPCG(s.seed, 3)), names: map[model.Hash]string{},
		now: make([]*process, len(s.works)+1), next: map[string]time.Time{}, limiters: map[string]int{}, again: map[string]int{},
	}
	w.targets, w.judges = &provider{w: w, name: "targets", asked: map[string]int{}}, &provider{w: w, name: "judges", asked: map[string]int{}}
	for n := range s.calls {
		name := fmt.Sprint("q", n)
		w.names[w.question(n).Hash()] = name
		w.names[w.verdict(answered(name)).Hash()] = fmt.Sprint("j", n)
	}
	return w
}

// prices are a dollar for a million tokens.
func prices() price.Table {
	return []price.Price{{Provider: "targets", Model: "*", Input: 1, Output: 1}, {Provider: "judges", Model: "*", Input: 1, Output: 1}}
}

// run has the schedule happen, and gives what must not be.
func (w *world) run(t testing.TB) []string {
	raw, err := sql.Open("sqlite", "file:"+w.path+"?_pragma=busy_timeout(30000)")
	if err != nil {
		t.Error(err)
		return nil
	}
	w.raw = raw
	var faults, all sync.WaitGroup
	for i, f := range w.faults {
		faults.Go(func() {
			time.Sleep(f.at)
			w.befall(i, f)
		})
	}
	for i := range w.works {
		all.Go(func() {
			time.Sleep(w.starts[i])
			w.live(i)
		})
	}
	all.Wait()
	faults.Wait()
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	w.checkBudget()
	last := w.start(len(w.works), 0)
	err = last.fill(w.order(0))
	last.end(err)
	if err != nil {
		w.problem("the last process, which nothing disturbed, ended with: %v", err)
	}
	w.check(t)
	// What was left behind has time to come out.
	time.Sleep(2 * time.Minute)
	for _, p := range w.processes {
		if err := p.store.leave(); err != nil {
			w.problem("%s is closed: %v", p.name, err)
		}
	}
	if err := raw.Close(); err != nil {
		t.Error(err)
	}
	return w.problems
}

// mostStarts is how often a process is started again.
const mostStarts = 4

// live has a process work, and others in its place after it.
func (w *world) live(number int) {
	for n := range mostStarts {
		p := w.start(number, n)
		err := p.work()
		p.end(err)
		if !resumes(err) {
			return
		}
		time.Sleep(w.between(time.Second, 10*time.Second, "again", p.name))
	}
}

// befall has a fault happen.
func (w *world) befall(i int, f fault) {
	w.mu.Lock()
	p := w.now[min(f.of, len(w.now)-1)]
	w.mu.Unlock()
	from := time.Now()
	during := span{from, from.Add(f.lasts)}
	switch f.kind {
	case outage:
		of := []*provider{w.targets, w.judges}[f.of]
		w.mu.Lock()
		of.outages = append(of.outages, during)
		w.note("%s do not work for %v", of.name, f.lasts)
		w.mu.Unlock()
		return
	case cutOff, restarted, diskFull:
		s := storeFault{span: during, of: -1, writes: f.kind == diskFull}
		if f.kind == cutOff {
			s.of = f.of
		}
		w.mu.Lock()
		w.outages = append(w.outages, s)
		w.note("%s for %v (%d)", f.kind, f.lasts, f.of)
		w.mu.Unlock()
		return
	}
	if p == nil {
		return // it has not started, or has ended
	}
	switch f.kind {
	case killed, killedHere:
		p.kill(f.kind)
	case frozen:
		p.freeze(f.lasts)
	case interrupted:
		p.interrupt(false)
	case aborted:
		p.interrupt(true)
	}
}

// storeFault tells whether the store fails for a process, and for sure.
func (w *world) storeFault(p *process, writes bool) (fails, surely bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for _, o := range w.outages {
		if (o.of < 0 || o.of == p.number) && (writes || !o.writes) && o.meets(span{now, now}) {
			fails, surely = true, surely || o.writes
		}
	}
	return fails, surely
}

// order is that in which a process wants the calls, by its number.
func (w *world) order(number int) (all []model.Request) {
	for n := range w.calls {
		all = append(all, w.question((n+number*7)%w.calls))
	}
	return all
}

// draw is the source of randomness of fills.
func (w *world) draw() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.Float64()
}

// text is the trace. What happened at one instant is in the order of its words.
func (w *world) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.trace)
	return w.schedule.String() + strings.Join(w.trace, "\n") + "\n"
}

// open opens the store for a process, once it is there.
func (w *world) open(p *process) (*sqlite.Store, error) {
	for {
		time.Sleep(w.between(time.Millisecond, 20*time.Millisecond, "open", p.name))
		if fails, _ := w.storeFault(p, true); !fails {
			return sqlite.Open(context.Background(), w.path)
		}
		time.Sleep(time.Second)
	}
}
