package fill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/orbench/orbench/internal/pace"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

const (
	// maxBackoff bounds the mean wait between two attempts.
	maxBackoff = 30 * time.Second
	// giveUpAfter is how many calls of a model may fail in a row, and refusedAlike how many
	// of them the provider may find wrong in the same words: they say what is wrong with all.
	// unreadableAlike is how many of a model's first replies may be unreadable in the same way.
	giveUpAfter, refusedAlike, unreadableAlike = 20, 3, 5
	// mostTimeouts is how many attempts of a call may time out. The model may have worked
	// through each of them, so that it is charged, and what was too slow twice is likely
	// to be so again.
	mostTimeouts = 3
	// unreachableAfter is how many attempts a host gets that was never reached, or that
	// shows web pages only.
	unreachableAfter = 3
)

// answer brings one call to its end: remembered, or noted as failed, when ok is
// false. The error it returns stops the lane. ctx is for waiting, calls for the
// calls themselves.
func (l *Lane) answer(ctx, calls context.Context, c call) (response model.Response, ok bool, err error) {
	f := l.filler
	defer f.busy.leave(c.hash)
	// What others may make instead has been remembered, or noted as failed, by then.
	defer func() { f.claims.end(c.claim) }()
	of := l.about(c.ref())
	if l.closed(of) != nil {
		return model.Response{}, false, nil
	}
	response, err = l.attempts(ctx, calls, c, of)
	for errors.Is(err, errLapsed) {
		f.claims.end(c.claim)
		if response, ok, c.claim, err = f.await(ctx, c.hash, true); ok || err != nil || c.claim == nil {
			return response, ok, err
		}
		response, err = l.attempts(ctx, calls, c, of)
	}
	failure, failed := errors.AsType[*model.Error](err)
	switch {
	case errors.Is(err, errGivenUp):
		return model.Response{}, false, nil
	case failed:
		return model.Response{}, false, l.fail(c, of, failure)
	case err != nil:
		return model.Response{}, false, err
	}
	// The place is kept until the answer is durable, so that with the process no more answers
	// are lost than calls are made at once.
	defer l.gate.leave()
	defer f.underWay.Add(-1)
	if err := f.store.Remember(store.Record{Hash: c.hash, Request: c.canonical, Response: response}); err != nil {
		return model.Response{}, false, err
	}
	f.budget.stored(of.tariff, response.Usage)
	l.succeed(of, response)
	return response, true, nil
}

// attempts tries a call until it gives a response, an error that another
// attempt cannot help, or the attempts are used up. Rejects are no attempts: they are
// not counted while the provider says when to come back, or takes other calls.
func (l *Lane) attempts(ctx, calls context.Context, c call, of *asked) (model.Response, error) {
	config, pacer := l.filler.config, of.pacer
	pacer.Join(1)
	defer pacer.Join(-1)
	// inRow counts failures with no answer to any call of the lane in between.
	// While others are answered, a failure is this call's bad luck and no
	// reason to wait longer and longer.
	var n, inRow, timeouts int
	var answersBefore int64
	for number := 1; ; number++ {
		pass, err := pacer.Wait(ctx)
		if err != nil {
			return model.Response{}, err
		}
		response, err := l.attempt(ctx, calls, c, of, &pass)
		if errors.Is(err, errLate) {
			pacer.Drop(ctx, pass)
			number--
			continue
		}
		if err == nil {
			pacer.Accept(ctx, pass, response.Allowance, response.Usage.Input+response.Usage.Output)
			return response, nil
		}
		failed, ok := errors.AsType[*model.Error](err)
		if !ok || failed.RetryAfter > pace.LongestWait {
			pacer.Drop(ctx, pass)
			return model.Response{}, err
		}
		// A call that the pacer holds back with the others has no wait of its own.
		alone := true
		if failed.Rejected() {
			r := pacer.Reject(ctx, pass, failed.Allowance, failed.RetryAfter, config.Attempts)
			if r.For > 0 {
				failed.Message = strings.TrimPrefix(fmt.Sprintf("%s; all calls were rejected for %v", failed.Message, r.For.Round(time.Second)), "; ")
				return model.Response{}, failed
			}
			if r.Room > 0 {
				l.gate.takes(r.Room)
			}
			alone = r.Alone
			l.filler.count(func(s *Stats) { s.Rejected++ })
		} else {
			pacer.Drop(ctx, pass)
			n++
			if failed.Kind == model.Timeout && response.Latency > config.Timeout*3/4 {
				timeouts++
			}
			if of.unreadAlike(failed) || !failed.Retryable() || n >= config.Attempts || timeouts >= mostTimeouts || failed.Unusable && !of.hasAnswered() ||
				n >= unreachableAfter && (unreachable(failed) || failed.Status == 0 && WebPage(failed.Error())) && !of.hasAnswered() {
				return model.Response{}, failed
			}
			l.filler.count(func(s *Stats) {
				s.Retries++
				s.Retried = reasonOf(of.Ref, failed, config.Timeout).Text
			})
		}
		inRow++
		if answers := l.answers.Load(); answers != answersBefore {
			inRow, answersBefore = 1, answers
		}
		if !alone {
			continue
		}
		if inRow == 1 && c.waits != nil && of.hasAnswered() {
			c.waits()
		}
		if err := Sleep(ctx, max(failed.RetryAfter, config.backoff(inRow))); err != nil {
			return model.Response{}, err
		}
	}
}

// attempt makes one call when gate, pace and budget let it. With a response the place in
// the gate is still taken. With an error the response has the time that it took alone.
func (l *Lane) attempt(ctx, calls context.Context, c call, of *asked, mine *pace.Pass) (model.Response, error) {
	f, p := l.filler, of.pacer
	place, err := l.gate.enter(ctx)
	if err != nil {
		return model.Response{}, err
	}
	answered := false
	defer func() {
		if !answered {
			l.gate.failed(place)
			l.gate.leave()
		}
	}()
	if !p.Go(mine, place.underWay) {
		return model.Response{}, errLate
	}
	if err := l.pace(ctx); err != nil {
		return model.Response{}, err
	}
	reserved, err := f.budget.reserve(ctx, of.Ref, of.tariff, mostUsage(c.request), of.priced)
	if err != nil {
		return model.Response{}, err
	}
	switch {
	case l.closed(of) != nil:
		// It was given up while this call waited.
		f.budget.cancel(reserved)
		return model.Response{}, errGivenUp
	case !f.claims.live(c.claim):
		f.budget.cancel(reserved)
		return model.Response{}, errLapsed
	}
	timed, cancel := context.WithTimeout(calls, f.config.Timeout)
	defer cancel()
	start := time.Now()
	f.underWay.Add(1)
	response, err := l.model.Ask(timed, c.request)
	response.Latency = time.Since(start)
	response.Made = time.Now().UTC().Truncate(time.Millisecond)
	if err != nil {
		f.underWay.Add(-1)
		failed := failureOf(c.request, err)
		if failed.Kind == model.Limited {
			// Before the place in the gate is free.
			of.giveUp(&GivenUpError{Provider: of.Provider, Model: of.Model, Err: failed})
			f.Limit(of.Provider, cmp.Or(failed.Message, failed.Error()))
		}
		f.budget.fail(reserved, failed)
		if !of.priced && failed.MayCost(reserved.usage) != (model.Usage{}) {
			f.lacksPrice(of.Ref)
		}
		if calls.Err() != nil {
			return model.Response{}, context.Cause(ctx)
		}
		return model.Response{Latency: response.Latency}, failed
	}
	l.gate.answered(place, response.Latency)
	response.Usage = price.UsageOf(c.request.Messages, response)
	if err := f.budget.answer(reserved, response.Usage); err != nil {
		of.giveUp(&GivenUpError{Provider: of.Provider, Model: of.Model, Err: err})
	}
	if !of.priced {
		f.lacksPrice(of.Ref)
	}
	answered = true
	return response, nil
}

// errGivenUp ends a call whose model was given up before it was sent.
var errGivenUp = errors.New("the model was given up")

// errLate ends a call that waited for its place while calls were stopped or slowed down.
var errLate = errors.New("calls were stopped meanwhile")

// failureOf is the error of a call as a *model.Error. A cancellation, which nobody
// but the end of the run asks for, is a Transient.
func failureOf(r model.Request, err error) (failed *model.Error) {
	if !errors.As(err, &failed) && !errors.As(model.FromTransport(r.Provider, r.Model, err), &failed) {
		failed = &model.Error{Kind: model.Transient, Provider: r.Provider, Model: r.Model, Err: err}
	}
	return failed
}

// lacksPrice notes that a model without a price was used.
func (f *Live) lacksPrice(of model.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unpriced[of] = true
}

// pace waits until the lane's rate allows another request.
func (l *Lane) pace(ctx context.Context) error {
	if l.requests == nil {
		return nil
	}
	err := l.requests.Wait(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err // as where the wait would outlast the context's deadline
}

// UnboundedOutput is how many output tokens an answer is taken to have at most whose request
// has no limit of its own: more than today's models give to one prompt.
const UnboundedOutput = 32768

// mostUsage bounds the tokens of a request from above: a token holds at least
// one byte, and each message costs a few tokens more.
func mostUsage(r model.Request) model.Usage {
	const perMessage = 16
	u := model.Usage{Output: cmp.Or(r.Params.MaxTokens, UnboundedOutput)}
	for _, m := range r.Messages {
		u.Input += len(m.Content) + perMessage
	}
	return u
}

// backoff gives the wait after the n-th failure in a row: uniform between 0 and
// twice the mean, which doubles with n, so that calls that failed together do
// not come back together.
func (c LiveConfig) backoff(n int) time.Duration {
	mean := min(c.Backoff<<min(n-1, 20), maxBackoff)
	return time.Duration(c.Random() * 2 * float64(mean))
}

// unreachable reports whether an error means that no connection was made.
func unreachable(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) || errors.Is(err, syscall.ENETUNREACH) || errors.As(err, new(*net.DNSError))
}

// WebPage reports whether what a failure says quotes a web page.
func WebPage(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "<html") || strings.Contains(text, "<!doctype html")
}

// succeed counts a response.
func (l *Lane) succeed(of *asked, r model.Response) {
	of.succeed()
	l.answers.Add(1)
	l.filler.count(func(s *Stats) {
		s.Answered++
		if r.Finish == model.Blocked {
			s.Blocked++
		}
		s.Usage.Add(r.Usage)
	})
}

// fail notes a failure. Its error is the store's.
func (l *Lane) fail(c call, of *asked, failed *model.Error) error {
	f := l.filler
	f.mu.Lock()
	f.failed[c.hash] = true
	f.stats.Failed++
	f.stats.Reasons = counted(f.stats.Reasons, reasonOf(of.Ref, failed, f.config.Timeout))
	f.mu.Unlock()
	of.fail(failed)
	return f.store.PutFailures(context.Background(), []store.Failure{{Hash: c.hash, Kind: failed.Kind, Message: failed.Error()}})
}

// count changes the counts.
func (f *Live) count(change func(*Stats)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.stats)
}
