package fill_test

import (
	"context"
	"io"
	"math"
	"time"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/model"
)

// provider answers calls, keeps to its limit, and counts what it charges for.
type provider struct {
	w    *world
	name string

	// All below are guarded by w.mu. outages are when it does not work.
	outages []span
	// arrivals are when requests came, asked how often each call did.
	arrivals []time.Time
	asked    map[string]int
	rejects  int
	charges  []*charge
}

// charge is a call that is paid for.
type charge struct {
	of     *process
	call   string
	tokens int
	sent   time.Time
	// replied is when the process had the answer, and kept when that was in the store.
	replied, kept time.Time
	// lost is true where no answer came of it.
	lost bool
}

// outcome is what becomes of a call.
type outcome string

const (
	answers outcome = "answers"
	blocks  outcome = "blocks"
	refuses outcome = "finds wrong" // always the same calls
	rejects outcome = "rejects"
	breaks  outcome = "breaks"   // not charged
	isBusy  outcome = "is busy"  // not charged
	hangs   outcome = "hangs"    // charged
	cuts    outcome = "cuts off" // charged
)

const (
	// mostHold is how long an answer takes at most.
	mostHold = 8 * time.Second
	// window is the time for which a provider counts requests.
	window = 10 * time.Second
)

// invalid reports whether the provider finds a call wrong.
func (w *world) invalid(call string) bool { return w.uniform("invalid", call) < 0.02 }

// blocked reports whether the provider withholds the answer to a call.
func (w *world) blocked(call string) bool { return w.uniform("blocked", call) < 0.03 }

// fate decides about a call that comes for the n-th time. The caller holds w.mu.
func (p *provider) fate(call string, n int, now time.Time) outcome {
	w := p.w
	if w.takes > 0 {
		recent := 0
		for i := len(p.arrivals) - 1; i >= 0 && now.Sub(p.arrivals[i]) < window; i-- {
			recent++
		}
		if recent > w.takes {
			return rejects
		}
	}
	if !w.calm {
		for _, o := range p.outages {
			if o.meets(span{now, now}) {
				return []outcome{breaks, isBusy}[int(2*w.uniform("outage", call, n))]
			}
		}
		switch x := w.uniform("fate", call, n); {
		case x < 0.02:
			return breaks
		case x < 0.03:
			return hangs
		case x < 0.06:
			return cuts
		}
	}
	switch {
	case w.invalid(call):
		return refuses
	case w.blocked(call):
		return blocks
	}
	return answers
}

// ask makes a call of a process.
func (p *provider) ask(ctx context.Context, of *process, r model.Request) (model.Response, error) {
	w := p.w
	if err := of.wait(); err != nil {
		return model.Response{}, &model.Error{Kind: model.Transient, Unsent: true, Err: err}
	}
	w.mu.Lock()
	now := time.Now()
	call := w.names[r.Hash()]
	p.asked[call]++
	n := p.asked[call]
	p.arrivals = append(p.arrivals, now)
	of.sent++
	what := p.fate(call, n, now)
	usage := model.Usage{Input: price.EstimateTokens(r.Messages), Output: 1 + int(20*w.uniform("output", call))}
	var paid *charge
	switch what {
	case answers, blocks, hangs, cuts:
		paid = &charge{of: of, call: call, tokens: usage.Input + usage.Output, sent: now, lost: what == hangs || what == cuts}
		p.charges = append(p.charges, paid)
	case rejects:
		p.rejects++
	}
	w.note("%s asks %s, which %s", of.name, call, what)
	// An answer takes a second on average, and some take long.
	takes := min(100*time.Millisecond+time.Duration(-math.Log(1-w.uniform("takes", call, n))*float64(800*time.Millisecond)), mostHold)
	again := time.Duration(0)
	switch what {
	case rejects, breaks, isBusy, refuses:
		takes = w.between(20*time.Millisecond, 80*time.Millisecond, "takes", call, n)
		if oldest := len(p.arrivals) - w.takes; what == rejects && w.says {
			again = p.arrivals[oldest].Add(window).Sub(now).Truncate(time.Second) + time.Second
		}
	case hangs:
		takes = time.Hour
	}
	w.mu.Unlock()
	timer := time.NewTimer(takes)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	if err := of.wait(); err != nil {
		return model.Response{}, err
	}
	if err := ctx.Err(); err != nil && (what == hangs || of.hasAborted()) {
		return model.Response{}, model.FromTransport(r.Provider, r.Model, err)
	}
	failed := &model.Error{Provider: r.Provider, Model: r.Model, Kind: model.Transient, RetryAfter: again}
	switch what {
	case rejects:
		failed.Kind, failed.Status = model.RateLimited, 429
		return model.Response{}, failed
	case breaks:
		failed.Status = 500
		return model.Response{}, failed
	case isBusy:
		failed.Status = 503
		return model.Response{}, failed
	case refuses:
		failed.Kind, failed.Status = model.Invalid, 400
		return model.Response{}, failed
	case cuts:
		failed.Err = io.ErrUnexpectedEOF
		return model.Response{}, failed
	}
	w.mu.Lock()
	paid.replied = time.Now()
	w.mu.Unlock()
	response := model.Response{Text: answered(call), Finish: model.Stop, Usage: usage}
	if what == blocks {
		response.Finish, response.Block = model.Blocked, &model.Block{Kind: model.PromptFilter}
	}
	return response, nil
}
