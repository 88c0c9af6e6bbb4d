package fill_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

var (
	errKilled      = errors.New("the process is no more")
	errInterrupted = errors.New("interrupted")
	errTurn        = errors.New("the turn of the shard is over")
	errEndless     = errors.New("it does not end")
)

// process is one process: a handle of the store and its fills.
type process struct {
	w      *world
	name   string
	number int
	memory *store.Store
	store  *faulty
	ctx    context.Context
	stop   context.CancelCauseFunc
	abort  chan struct{}
	lives  []*fill.Live

	// All below are guarded by w.mu. owner is the name under which the store has its claims,
	// empty until that is known.
	owner string
	// gone is closed when the process is killed, thaw when it is no longer frozen.
	gone, thaw chan struct{}
	// killed and aborted are when, and frozen how long it was.
	killed, aborted time.Time
	frozen          []span
	// sent counts requests that reached a provider, told the answers that the store said
	// that it has.
	sent, told int
	// shares are those that the store has of the process, by their ID.
	shares map[string]store.Share
	// failed is true once the store has failed it.
	failed bool
	ended  bool
	err    error
}

// start starts a process, for the n-th time in its place.
func (w *world) start(number, n int) *process {
	p := &process{w: w, number: number, name: fmt.Sprintf("%c%d", 'A'+number, n), abort: make(chan struct{}), gone: make(chan struct{}), shares: map[string]store.Share{}}
	p.ctx, p.stop = context.WithCancelCause(context.Background())
	s, err := w.open(p)
	if err != nil {
		panic(err)
	}
	p.store = &faulty{Backend: s, p: p, asked: map[string]int{}}
	p.memory = store.New(p.store)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.processes = append(w.processes, p)
	w.now[number] = p
	w.note("%s starts", p.name)
	return p
}

// end ends the process, which worked until some error.
func (p *process) end(err error) {
	w := p.w
	w.mu.Lock()
	w.now[p.number] = nil
	p.err = err
	w.note("%s ends: %v", p.name, err)
	w.mu.Unlock()
	if err := p.memory.Close(); err != nil {
		w.problem("%s closes its store: %v", p.name, err)
	}
	w.mu.Lock()
	p.ended = true
	w.mu.Unlock()
	p.stop(nil)
}

// resumes reports whether a user would start a process again that ended so.
func resumes(err error) bool {
	var gaveUp *fill.GivenUpError
	return errors.Is(err, errKilled) || errors.Is(err, errStore) || errors.Is(err, errInterrupted) || errors.As(err, &gaveUp)
}

// wait waits while the process is frozen, and fails once it is killed.
func (p *process) wait() error {
	for {
		p.w.mu.Lock()
		thaw, gone := p.thaw, !p.killed.IsZero()
		p.w.mu.Unlock()
		switch {
		case gone:
			return errKilled
		case thaw == nil:
			return nil
		}
		select {
		case <-thaw:
		case <-p.gone:
		}
	}
}

// kill has nothing that the process does have an effect from now on.
func (p *process) kill(k kind) {
	w := p.w
	w.mu.Lock()
	if !p.killed.IsZero() {
		w.mu.Unlock()
		return
	}
	p.killed = time.Now()
	w.note("%s is %s", p.name, k)
	owner := p.owner
	w.mu.Unlock()
	if k == killedHere && owner != "" {
		// More than any system numbers its processes to.
		const nobody = 1 << 30
		if _, err := w.raw.Exec(`UPDATE claims SET pid = ? WHERE owner = ?`, nobody, owner); err != nil {
			w.problem("a claim is not changed: %v", err)
		}
	}
	close(p.gone)
	p.interruptWith(errKilled, true)
}

// freeze has the process do nothing for a while.
func (p *process) freeze(d time.Duration) {
	w := p.w
	w.mu.Lock()
	if p.thaw != nil || !p.killed.IsZero() {
		w.mu.Unlock()
		return
	}
	thaw := make(chan struct{})
	p.thaw = thaw
	now := time.Now()
	p.frozen = append(p.frozen, span{now, now.Add(d)})
	w.note("%s is frozen for %v", p.name, d)
	w.mu.Unlock()
	time.Sleep(d)
	w.mu.Lock()
	p.thaw = nil
	w.note("%s is thawed", p.name)
	w.mu.Unlock()
	close(thaw)
}

// interrupt stops the process, which then finishes what is under way, or not.
func (p *process) interrupt(abort bool) {
	p.w.logf("%s is interrupted; aborted: %t", p.name, abort)
	p.interruptWith(errInterrupted, abort)
}

func (p *process) interruptWith(cause error, abort bool) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if abort && p.aborted.IsZero() {
		p.aborted = time.Now()
		close(p.abort)
	}
	p.stop(cause)
}

// hasAborted reports whether the calls under way are abandoned.
func (p *process) hasAborted() bool {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return !p.aborted.IsZero()
}

// learnOwner finds the name of the process in the claims, by that nobody else has it.
func (p *process) learnOwner(ctx context.Context) error {
	w := p.w
	w.mu.Lock()
	known := map[string]bool{}
	for _, o := range w.processes {
		known[o.owner] = true
	}
	w.mu.Unlock()
	if p.owner != "" || !slices.ContainsFunc(w.faults, func(f fault) bool { return f.kind == killedHere }) {
		return nil
	}
	rows, err := w.raw.QueryContext(ctx, `SELECT DISTINCT owner FROM claims WHERE pid = ?`, os.Getpid())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var owner string
		if err := rows.Scan(&owner); err != nil {
			return err
		}
		if !known[owner] {
			w.mu.Lock()
			p.owner = owner
			w.mu.Unlock()
		}
	}
	return rows.Err()
}

// live makes a fill of the process, which shares the bounds of another, nil for none.
func (p *process) live(with *fill.Live) *fill.Live {
	w := p.w
	c := fill.LiveConfig{Timeout: 15 * time.Second, Random: w.draw, Prices: prices(), Abort: p.abort, Rate: p.rate, With: with}
	if p.number < len(w.works) && w.budget != (fill.Budget{}) {
		c.Budget, c.Account = w.budget, fill.NewAccount(p.memory, "study", time.Now(), false)
	}
	places := w.concurrency
	if w.room && p.number < len(w.works) && w.works[p.number] != fills {
		places = 2 * shardCalls
	}
	f := fill.NewLive(p.memory, c)
	for _, of := range []*provider{w.targets, w.judges} {
		// A bound of requests is there for its limiter, which may bound nothing.
		f.Lane(model.Ref{Provider: of.name}, model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
			return of.ask(ctx, p, r)
		}), fill.Limits{Concurrency: places, RequestsPerMinute: max(1, w.perMinute)})
	}
	p.lives = append(p.lives, f)
	return f
}

// work has the process do its work.
func (p *process) work() error {
	all := p.w.order(p.number)
	switch p.w.works[p.number] {
	case asks:
		return p.ask(p.live(nil), all)
	case both:
		bounds := fill.NewLive(p.memory, fill.LiveConfig{Random: p.w.draw})
		one, other := p.live(bounds), p.live(bounds)
		reversed := slices.Clone(all)
		slices.Reverse(reversed)
		var errs [2]error
		var done sync.WaitGroup
		done.Go(func() { errs[0] = p.ask(one, all) })
		done.Go(func() { errs[1] = p.ask(other, reversed) })
		done.Wait()
		return errors.Join(errs[:]...)
	}
	return p.fill(all)
}

// endless is longer than any work takes.
const endless = 30 * time.Minute

// fill has the calls made, and where replies are judged theirs, as eval does.
func (p *process) fill(all []model.Request) error {
	w := p.w
	ctx, cancel := context.WithTimeoutCause(p.ctx, endless, errEndless)
	defer cancel()
	todo := fill.Work{Fixed: func(context.Context) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			for _, r := range all {
				if !yield(r, nil) {
					return
				}
			}
		}
	}}
	if w.judged {
		todo.Models = []model.Ref{{Provider: w.judges.name}}
		todo.Missing = func(ctx context.Context, _ func(model.Ref) bool) iter.Seq2[model.Request, error] {
			return func(yield func(model.Request, error) bool) { p.lacking(ctx, all, yield) }
		}
	}
	return p.live(nil).Fill(ctx, todo)
}

// lacking yields what is lacking to have some calls answered and judged.
func (p *process) lacking(ctx context.Context, all []model.Request, yield func(model.Request, error) bool) {
	for some := range slices.Chunk(all, 32) {
		var steps []model.Step
		for _, r := range some {
			steps = append(steps, func(look model.Lookup) []model.Request {
				answer, ok := look(r)
				if !ok {
					return []model.Request{r}
				}
				next, judged := p.judgment(answer)
				if _, ok := look(next); ok || !judged {
					return nil
				}
				return []model.Request{next}
			})
		}
		lacking, err := fill.Recall(ctx, p.memory, steps, nil)
		if err != nil {
			yield(model.Request{}, err)
			return
		}
		for _, requests := range lacking {
			for _, r := range requests {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// judgment is the call that judges an answer, where there is one.
func (p *process) judgment(answer model.Response) (r model.Request, ok bool) {
	return p.w.verdict(answer.Text), p.w.judged && answer.Finish != model.Blocked
}

const (
	// shardCalls is how many calls a worker takes together, and turn how long it keeps them.
	shardCalls = 12
	turn       = 20 * time.Second
)

// ask has the calls made, and the replies judged, as a worker does: shard by shard, each
// for a turn, until nothing is left.
func (p *process) ask(f *fill.Live, open []model.Request) error {
	ctx, cancel := context.WithTimeoutCause(p.ctx, endless, errEndless)
	defer cancel()
	for len(open) > 0 {
		var left []model.Request
		for shard := range slices.Chunk(open, shardCalls) {
			cut, err := p.shard(ctx, f, shard)
			if given := f.GiveBack(context.WithoutCancel(ctx)); err == nil {
				err = given
			}
			if err != nil {
				return err
			}
			left = append(left, cut...)
		}
		open = left
	}
	return nil
}

// shard asks for the calls of a shard, and gives those that the end of its turn cut short.
func (p *process) shard(ctx context.Context, f *fill.Live, shard []model.Request) (cut []model.Request, err error) {
	turn, cancel := context.WithTimeoutCause(ctx, turn, errTurn)
	defer cancel()
	errs := make([]error, len(shard))
	var all sync.WaitGroup
	for i, r := range shard {
		all.Go(func() {
			answer, ok, err := f.Ask(turn, r)
			if next, judged := p.judgment(answer); ok && err == nil && judged {
				_, _, err = f.Ask(turn, next)
			}
			errs[i] = err
		})
	}
	all.Wait()
	for i, e := range errs {
		switch {
		case errors.Is(e, errTurn):
			cut = append(cut, shard[i])
		case e != nil && err == nil:
			err = e
		}
	}
	return cut, err
}

// rate makes the limiter of a fill.
func (p *process) rate(at model.Ref, perMinute int) fill.Limiter {
	w := p.w
	l := &limiter{p: p}
	if w.perMinute == 0 {
		return l
	}
	w.mu.Lock()
	w.limiters[at.Provider]++
	w.mu.Unlock()
	l.shared = fill.NewSharedRate(perMinute, func(ctx context.Context, by time.Duration) (wait time.Duration, err error) {
		return wait, p.store.do("move the rate of "+at.Provider, true, nil, func() error {
			w.mu.Lock()
			defer w.mu.Unlock()
			from := w.next[at.Provider]
			if now := time.Now(); from.Before(now) {
				from = now
			}
			w.next[at.Provider] = from.Add(by)
			wait = time.Until(from)
			l.leases = append(l.leases, rateLease{from, int((by*time.Duration(perMinute) + time.Second) / time.Minute)})
			return nil
		})
	})
	return l
}

// limiter is that of a process, which may be frozen, with a rate that is shared or nil.
type limiter struct {
	p      *process
	shared *fill.SharedRate
	// leases are what was taken of the rate, and used what of it was used; w.mu guards them.
	leases []rateLease
	used   int
}

// rateLease allows so much from some time on.
type rateLease struct {
	from    time.Time
	allowed int
}

func (l *limiter) Wait(ctx context.Context) error {
	if l.shared == nil {
		return l.p.wait()
	}
	if err := l.shared.Wait(ctx); err != nil {
		return err
	}
	w := l.p.w
	w.mu.Lock()
	allowed := 0
	for _, lease := range l.leases {
		if !lease.from.After(time.Now()) {
			allowed += lease.allowed
		}
	}
	l.used++
	used := l.used
	w.mu.Unlock()
	if used > allowed {
		w.problem("%s has used %d of a rate, and may by now use %d", l.p.name, used, allowed)
	}
	return l.p.wait()
}

// add adds to a budget, or with sign -1 takes from it.
func add(to *fill.Budget, b fill.Budget, sign int) {
	to.Requests += sign * b.Requests
	to.Tokens += sign * b.Tokens
	to.USD += float64(sign) * b.USD
}
