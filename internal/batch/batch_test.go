package batch_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/model"
)

// models are what each kind of provider is asked for.
var models = map[string]string{"openai": "gpt-4o-mini", "together": "meta-llama/Llama-3.3-70B-Instruct-Turbo", "mistral": "mistral-small-2503", "anthropic": "claude-haiku-4-5", "google": "gemini-2.5-flash"}

// account is a run at a provider, with a store in a file.
type account struct {
	*server
	path  string
	key   string
	calls int
	now   time.Time
	// more are further lines of the experiment.
	more string
	// run is the one of the last manager.
	run *run.Run
}

func newAccount(t *testing.T, kind string, calls int) *account {
	t.Helper()
	s := newServer(t, kind)
	return &account{server: s, path: filepath.Join(t.TempDir(), "m.db"), key: s.key, calls: calls, now: time.Now()}
}

// desk opens the run as a command does, and through is what the store is seen through, nil
// for itself.
func (a *account) desk(t *testing.T, through func(store.Backend) store.Backend) *batch.Manager {
	t.Helper()
	m, err := address.Open(t.Context(), a.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	if through != nil {
		m = store.New(through(m.Backend))
		t.Cleanup(func() { _ = m.Close() })
	}
	clients, err := client.NewSet(client.Options{
		Providers: provider.Default(), Given: map[string]string{a.kind: a.URL + "/v1"},
		Getenv: func(name string) string {
			if strings.HasSuffix(name, "_API_KEY") {
				return a.key
			}
			return ""
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := experiment.Parse("experiment.yaml", fmt.Appendf(nil, "name: main\ntargets: [%s/%s]\ndatasets: [starter]\nlimit: %d\n%s", a.kind, models[a.kind], a.calls, a.more))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.New(t.Context(), &file.Experiment, clients, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Save(t.Context(), m, time.Now()); err != nil {
		t.Fatal(err)
	}
	a.run = r
	return &batch.Manager{Store: m, Job: r.Job(), Study: r.Study, Clients: clients, Prices: price.Default(), Now: func() time.Time { return a.now }}
}

// submit sends what is lacking, and wants so many batches to be out.
func (a *account) submit(t *testing.T, out int) []*batch.Batch {
	t.Helper()
	d := a.desk(t, nil)
	_, batches, err := d.Send(t.Context(), d.ToServices)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range batches {
		if b.Stage == batch.Out {
			n++
		}
	}
	if n != out {
		t.Fatalf("%d batches are out, want %d: %+v", n, out, batches)
	}
	return batches
}

// collect takes back what there is, and wants so many new answers and failures.
func (a *account) collect(t *testing.T, answered, failed, unmade int) *batch.Taken {
	t.Helper()
	done, err := a.desk(t, nil).Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a.kind == "google" {
		unmade = 0 // it tells of these as of failures
	}
	if done.Answered != answered || done.Failed != failed || done.Unmade != unmade {
		t.Fatalf("%d answers, %d failed of which %d were not made; want %d, %d and %d", done.Answered, done.Failed, done.Unmade, answered, failed, unmade)
	}
	return done
}

// finish has the n calls that are lacking answered by one more batch, and checks that none
// was paid for twice.
func (a *account) finish(t *testing.T, n int) {
	t.Helper()
	a.submit(t, 1)
	a.end("completed", n, 0)
	a.collect(t, n, 0, 0)
	a.paidOnce(t)
}

// lacking checks how many calls the run lacks that are in no batch, and that are.
func (a *account) lacking(t *testing.T, ready, out int) batch.Status {
	t.Helper()
	s, err := a.desk(t, nil).Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Ready != ready || s.Out != out {
		t.Fatalf("%d calls are in no batch and %d out, want %d and %d", s.Ready, s.Out, ready, out)
	}
	return s
}

// paidOnce checks that every call was paid for once, and that the run has all answers,
// marked and priced as such by batch.
func (a *account) paidOnce(t *testing.T) {
	t.Helper()
	for id, n := range a.made {
		if n != 1 {
			t.Errorf("call %.8s was paid for %d times", id, n)
		}
	}
	if len(a.made) != a.calls {
		t.Errorf("%d calls were made, want %d", len(a.made), a.calls)
	}
	d := a.desk(t, nil)
	result, err := run.Derive(t.Context(), d.Store, []*run.Run{a.run}, evaluate.Sinks{}, run.Walk)
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Runs[0].Answered; got != a.calls {
		t.Errorf("%d answers of %d", got, a.calls)
	}
	cost := result.Provenance.Runs[0].Cost
	tariff, _ := price.Default().Price(a.kind, models[a.kind])
	want := tariff.Cost(model.Usage{Input: 100 * a.calls, Output: 50 * a.calls}) / 2
	if cost.USD == nil || *cost.USD < want*0.999 || *cost.USD > want*1.001 || len(cost.Batches) != 1 || cost.Batches[0].Replies != a.calls || *cost.Batches[0].Factor != 0.5 {
		t.Errorf("the cost is %v, want $%g at half of the list price", cost, want)
	}
}

func eachKind(t *testing.T, do func(t *testing.T, kind string)) {
	for kind := range models {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			do(t, kind)
		})
	}
}

// All goes well: out, under way, back, and nothing is lacking.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		a := newAccount(t, kind, 12)
		a.submit(t, 1)
		a.submit(t, 0) // nothing twice
		a.lacking(t, 0, 12)
		a.collect(t, 0, 0, 0)
		a.end("completed", 12, 0)
		done := a.collect(t, 12, 0, 0)
		if done.USD == nil || *done.USD <= 0 {
			t.Errorf("it cost %v", done.USD)
		}
		a.lacking(t, 0, 0)
		a.paidOnce(t)
	})
}

// A batch that expires in part keeps what was answered; the rest, and what failed, goes
// out again, and only that. Progress tells failures from answers.
func TestPartlyExpired(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		a := newAccount(t, kind, 12)
		a.submit(t, 1)
		a.progress(4, 3)
		if kind != "together" { // which tells no counts
			if b := a.lacking(t, 0, 12).Batches[0]; b.Answered != 4 || b.Failed != 3 || b.Waiting() != 5 {
				t.Errorf("answered %d, failed %d, waiting %d; want 4, 3, 5", b.Answered, b.Failed, b.Waiting())
			}
		}
		a.end("expired", 5, 0)
		a.collect(t, 5, 7, 7)
		if b := a.lacking(t, 7, 0).Batches[0]; b.Stage != batch.Collected || b.Answered != 5 || b.Failed != 7 {
			t.Errorf("%s, answered %d, failed %d; want collected, 5, 7", b.Stage, b.Answered, b.Failed)
		}
		if got := a.submit(t, 1)[0].Calls; got != 7 {
			t.Errorf("%d calls went out again, want 7", got)
		}
		a.end("completed", 7, 0)
		a.collect(t, 7, 0, 0)
		a.paidOnce(t)
	})
}

// The calls of judges are known when the answers are there. They are left to eval, which
// makes them at once, unless they are to go by batch too.
func TestJudges(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "openai", 4)
	a.more = `judges: ["llm:openai/gpt-4o"]` + "\n"
	if a.submit(t, 1); !a.lacking(t, 0, 4).Further {
		t.Error("nothing tells that judges are to follow")
	}
	a.end("completed", 4, 0)
	a.collect(t, 4, 0, 0)
	s := a.lacking(t, 0, 0)
	if s.Judging < 4 {
		t.Errorf("%d calls of judges are known, want one for each answer at least", s.Judging)
	}
	a.submit(t, 0)
}

// What is asked behind a defense depends on replies, and goes out when these are there.
func TestSteps(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "openai", 3)
	a.more = "variants: {defenses: [response-check], cross: false}\n"
	first := a.submit(t, 1)[0].Calls
	if !a.lacking(t, 0, first).Further {
		t.Error("nothing tells that more is to follow")
	}
	a.end("completed", first, 0)
	a.collect(t, first, 0, 0)
	if s := a.lacking(t, 3, 0); !s.Further {
		t.Errorf("after the answers %+v; want the checks of 3", s)
	}
	a.submit(t, 1)
}

// What failed is tried again by the next submission, and a call that failed is not done.
func TestRetry(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		a := newAccount(t, kind, 6)
		a.submit(t, 1)
		a.end("completed", 4, 2)
		a.collect(t, 4, 2, 0)
		a.lacking(t, 2, 0)
		if b := a.submit(t, 1); len(b) != 1 || b[0].Calls != 2 {
			t.Errorf("submitted %+v, want a batch of 2", b)
		}
		a.end("completed", 2, 0)
		a.collect(t, 2, 0, 0)
		a.lacking(t, 0, 0)
	})
}

// A batch is called off, and what it had answered is kept.
func TestCancel(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		a := newAccount(t, kind, 9)
		a.submit(t, 1)
		canceled, err := a.desk(t, nil).Cancel(t.Context(), false)
		if err != nil || len(canceled) != 1 || canceled[0].Stage != batch.Out || !canceled[0].Canceling {
			t.Fatalf("canceled %+v, %v", canceled, err)
		}
		a.lacking(t, 0, 9) // until the provider says that it is over
		a.end("cancelled", 4, 0)
		a.collect(t, 4, 5, 5)
		if b := a.lacking(t, 5, 0).Batches[0]; b.Stage != batch.Canceled {
			t.Errorf("the batch is %s", b.Stage)
		}
		a.finish(t, 5)
	})
}

// Another key does not know the batch. Nothing is given up for that.
func TestOtherKey(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		a := newAccount(t, kind, 5)
		a.submit(t, 1)
		a.end("completed", 5, 0)
		a.key = "secret-key-two"
		d := a.desk(t, nil)
		_, status := d.Status(t.Context())
		_, collected := d.Collect(t.Context())
		_, canceled := d.Cancel(t.Context(), false)
		for what, err := range map[string]error{"status": status, "collect": collected, "cancel": canceled} {
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), batch.Fingerprint("secret-key-one")) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s with another key: %v", what, err)
			}
		}
		a.key = "secret-key-one"
		a.lacking(t, 0, 5)
		a.collect(t, 5, 0, 0)
		a.paidOnce(t)
		// Where the key is lost, the calls can be given up.
		a = newAccount(t, kind, 5)
		a.submit(t, 1)
		a.key = "secret-key-two"
		if _, err := a.desk(t, nil).Cancel(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		a.lacking(t, 5, 0)
	})
}

// A provider that takes nothing now, at once or after a look at the file, is asked again by
// the same command, and nothing is lost or made twice.
func TestQuota(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		a := newAccount(t, kind, 8)
		full := true
		a.refuse = func() (int, string) {
			if full {
				return 429, `{"error":{"message":"Enqueued token limit reached for gpt-4o-mini","type":"requests","code":"token_limit_exceeded"}}`
			}
			return 0, ""
		}
		b := a.submit(t, 0)[0]
		if b.Stage != batch.Planned || !strings.Contains(b.Problem, "Enqueued token limit") {
			t.Errorf("the batch is %s: %q", b.Stage, b.Problem)
		}
		a.lacking(t, 0, 8) // it is planned, and nobody asks its calls unasked
		full = false
		if kind != "anthropic" { // which looks at all of it at once
			a.fail = "token_limit_exceeded"
			a.submit(t, 1)
			done := a.collect(t, 0, 0, 0)
			if got := done.Batches[0]; got.Stage != batch.Planned || got.Problem == "" {
				t.Errorf("a batch that the provider did not begin is %s: %q", got.Stage, got.Problem)
			}
			a.fail = ""
		}
		a.finish(t, 8)
	})
}

// A batch that is out past its window says so, and comes back when it does.
func TestPastItsWindow(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		a := newAccount(t, kind, 5)
		a.submit(t, 1)
		a.now = a.now.Add(window(kind) + time.Minute)
		b := a.lacking(t, 0, 5).Batches[0]
		if !b.Overdue(a.now) || !strings.Contains(b.Problem, "window ended") {
			t.Errorf("the problem of a batch past its window is %q", b.Problem)
		}
		a.collect(t, 0, 0, 0)
		a.end("expired", 3, 0)
		a.collect(t, 3, 2, 2)
		a.finish(t, 2)
	})
}

// window is for how long a provider says that a batch takes at most.
func window(kind string) time.Duration {
	if kind == "google" {
		return 48 * time.Hour
	}
	return 24 * time.Hour
}

// Who waits takes back what comes, looks less and less often while nothing moves, and ends
// when all has ended. An interrupt loses nothing, and a batch that is past its window, or
// that the provider does not have, is not waited for.
func TestWait(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		a := newAccount(t, kind, 6)
		a.submit(t, 1)
		var nexts []time.Duration
		looks := 0
		a.asked = func() {
			switch looks++; looks {
			case 4:
				a.progress(2, 0)
			case 6:
				a.end("completed", 4, 2)
			}
		}
		wait := func(ctx context.Context, d *batch.Manager) (*batch.Taken, error) {
			nexts = nil
			return d.Wait(ctx, time.Millisecond, func(_ *batch.Taken, next time.Duration) { nexts = append(nexts, next) })
		}
		ctx, interrupt := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		done, err := a.desk(t, nil).Wait(ctx, time.Hour, func(*batch.Taken, time.Duration) { interrupt(stopped) })
		if !errors.Is(err, stopped) || done.Waiting != 6 {
			t.Fatalf("interrupted: %+v, %v", done, err)
		}
		done, err = wait(t.Context(), a.desk(t, nil))
		if err != nil || done.Answered != 4 || done.Failed != 2 || done.Waiting != 0 || len(done.Batches) != 1 || done.Batches[0].Stage != batch.Collected {
			t.Fatalf("took back %+v, %v", done, err)
		}
		ms := time.Millisecond
		want := []time.Duration{ms, ms * 3 / 2, ms, ms * 3 / 2, 0}
		if kind == "together" { // which tells no counts
			want[2], want[3] = ms*9/4, ms*27/8
		}
		if !slices.Equal(nexts, want) {
			t.Errorf("it looked again in %v, want %v", nexts, want)
		}
		// Nothing is out.
		if done, err := wait(t.Context(), a.desk(t, nil)); err != nil || len(done.Batches) != 0 {
			t.Errorf("%+v, %v", done, err)
		}
		a.submit(t, 1)
		a.now = a.now.Add(window(kind) + 2*time.Hour)
		done, err = wait(t.Context(), a.desk(t, nil))
		if err != nil || done.Waiting != 2 || !strings.Contains(done.Batches[0].Problem, "window ended") || len(nexts) != 1 {
			t.Errorf("past its window: %+v, %v", done, err)
		}
		a.now, a.jobs = time.Now(), nil
		if done, err = wait(t.Context(), a.desk(t, nil)); err != nil || done.Waiting != 2 || done.Batches[0].Problem == "" || len(nexts) != 1 {
			t.Errorf("forgotten by its provider: %+v, %v", done, err)
		}
	})
}

// Replies that are lost, and results that break off, cost nothing: a batch that was started
// is found again.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, kind string) {
		a := newAccount(t, kind, 7)
		a.drop = 1
		if b := a.submit(t, 0)[0]; b.Stage != batch.Planned || b.Tried.IsZero() {
			t.Errorf("after a lost reply the batch is %s", b.Stage)
		}
		a.submit(t, 1)
		if len(a.jobs) != 1 {
			t.Errorf("%d batches were started", len(a.jobs))
		}
		a.end("completed", 7, 0)
		a.cut = 1
		done, err := a.desk(t, nil).Collect(t.Context())
		if err != nil || done.Batches[0].Stage != batch.Out || done.Batches[0].Problem == "" {
			t.Fatalf("results that broke off: %+v, %v", done, err)
		}
		a.collect(t, 7-done.Answered, 0, 0)
		a.paidOnce(t)
	})
}

// Where a service keeps no name of ours, another's batch of the same time and size may be
// taken for ours. That is seen by its calls, and ours is found.
func TestAnothersBatch(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "anthropic", 4)
	a.drop, a.others = 1, 1
	a.submit(t, 0)
	a.submit(t, 1)
	a.end("completed", 4, 0)
	done, err := a.desk(t, nil).Collect(t.Context())
	if err != nil || done.Answered != 0 || done.Batches[0].Stage != batch.Planned || len(done.Batches[0].NotOurs) != 1 {
		t.Fatalf("took %+v, %v", done, err)
	}
	a.submit(t, 1)
	a.collect(t, 4, 0, 0)
	if len(a.jobs) != 2 {
		t.Errorf("%d batches were started", len(a.jobs)-1)
	}
	a.paidOnce(t)
}

// dying is a store whose process is killed at its nth write.
type dying struct {
	store.Backend
	left int
}

var errKilled = errors.New("killed")

func (d *dying) write() error {
	if d.left--; d.left < 0 {
		return errKilled
	}
	return nil
}

func (d *dying) PutBatch(ctx context.Context, b store.Batch, calls []store.BatchCall) error {
	if err := d.write(); err != nil {
		return err
	}
	return d.Backend.PutBatch(ctx, b, calls)
}

func (d *dying) Put(ctx context.Context, records []store.Record) error {
	if err := d.write(); err != nil {
		return err
	}
	return d.Backend.Put(ctx, records)
}

// A command that is killed before any of its writes loses nothing and pays for nothing
// twice: the next ends what it began.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	kinds := []string{"openai", "together", "mistral", "anthropic"}
	for left := range 12 {
		kind := kinds[left%len(kinds)]
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			t.Parallel()
			a := newAccount(t, kind, 5)
			d := a.desk(t, func(s store.Backend) store.Backend { return &dying{s, left} })
			_, _, sent := d.Send(t.Context(), d.ToServices)
			a.end("completed", 3, 0)
			_, collected := d.Collect(t.Context())
			if sent == nil && collected == nil && left < 6 {
				t.Errorf("nothing was killed at write %d", left)
			}
			for range 3 {
				d := a.desk(t, nil)
				if _, _, err := d.Send(t.Context(), d.ToServices); err != nil {
					t.Fatal(err)
				}
				a.end("completed", 5, 0)
				if _, err := d.Collect(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			a.lacking(t, 0, 0)
			a.paidOnce(t)
		})
	}
}

// Batches are split at the limits of the provider, by calls and by bytes.
func TestSplit(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "openai", 10)
	d := a.desk(t, nil)
	limited := func(l batch.Limits) batch.Asked {
		return func(model.Ref) (string, batch.Limits, string) { return "openai", l, "" }
	}
	for limits, want := range map[batch.Limits]int{
		{Calls: 4, Bytes: 1 << 20}: 3, {Calls: 5, Bytes: 1 << 20}: 2, {Calls: 100, Bytes: 1000}: 4, {Calls: 100, Bytes: 1}: 10,
	} {
		plan, err := d.Plan(t.Context(), limited(limits))
		if err != nil {
			t.Fatal(err)
		}
		if plan.Calls() != 10 || want == 10 && len(plan.Parts) != want || want < 4 && len(plan.Parts) != want {
			t.Errorf("%+v: %d calls in %d batches, want 10 in %d", limits, plan.Calls(), len(plan.Parts), want)
		}
		for _, p := range plan.Parts {
			if p.Calls > limits.Calls || p.Bytes > limits.Bytes && p.Calls > 1 {
				t.Errorf("%+v: a batch of %d calls and %d bytes", limits, p.Calls, p.Bytes)
			}
		}
	}
	if _, batches, err := d.Send(t.Context(), limited(batch.Limits{Calls: 4, Bytes: 1 << 20})); err != nil || len(batches) != 3 {
		t.Fatalf("%d batches, %v; want 3", len(batches), err)
	}
	a.end("completed", 10, 0)
	a.collect(t, 10, 0, 0)
	a.paidOnce(t)
}
