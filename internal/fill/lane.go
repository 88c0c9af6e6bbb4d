package fill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Limits bound one lane. The zero value of a rate means no bound.
type Limits struct {
	// Concurrency is the most calls at once, at least 1.
	Concurrency       int
	RequestsPerMinute int
}

// Lane is the way to one provider endpoint, for all of its models.
type Lane struct {
	filler             *Live
	provider, endpoint string

	model  model.Model
	limits Limits
	gate   *gate
	// shares is the lane whose gate and pacers are this one's too, nil for none.
	shares *Lane
	// requests paces the lane; nil without a bound.
	requests Limiter

	mu sync.Mutex
	// models are by their name.
	models map[string]*asked
	// answers counts the answers.
	answers atomic.Int64
}

// Lane adds the lane to the provider and endpoint of a model, whose calls m makes,
// or gives the one that is there.
func (f *Live) Lane(at model.Ref, m model.Model, l Limits) *Lane {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.lanes, func(l *Lane) bool { return l.serves(at.Provider, at.Endpoint) }); i >= 0 {
		return f.lanes[i]
	}
	l.Concurrency = max(1, l.Concurrency)
	lane := &Lane{filler: f, provider: at.Provider, endpoint: at.Endpoint, model: m, limits: l, gate: newGate(l.Concurrency), models: map[string]*asked{}}
	if f.config.With != nil {
		lane.shares = f.config.With.Lane(at, m, Limits{Concurrency: l.Concurrency})
		lane.gate = lane.shares.gate
	}
	if n := l.RequestsPerMinute; n > 0 {
		lane.requests = f.config.Rate(at, n)
	}
	f.lanes = append(f.lanes, lane)
	return lane
}

// Limiter paces a lane.
type Limiter interface {
	// Wait returns when another request may be sent, or why none ever may.
	Wait(ctx context.Context) error
}

// ownRate is a limiter of this process. A second's worth may go at once.
func ownRate(_ model.Ref, perMinute int) Limiter {
	return rate.NewLimiter(rate.Limit(float64(perMinute)/60), max(1, perMinute/60))
}

// GivenUpError says that a model was given up: its remaining requests were not
// sent.
type GivenUpError struct {
	Provider, Model string
	// InRow is how many calls failed one after the other, 0 when the first
	// error was enough.
	InRow int
	Err   error
}

// Error gives one line.
func (e *GivenUpError) Error() string {
	of := e.Provider + "/" + e.Model
	why := strings.TrimPrefix(e.Err.Error(), of+": ")
	if e.InRow > 0 {
		return fmt.Sprintf("gave up %s after %d failed calls in a row, the last: %s", of, e.InRow, why)
	}
	return "gave up " + of + ": " + why
}

// Unwrap returns the last call's error.
func (e *GivenUpError) Unwrap() error { return e.Err }

// together is how many calls are claimed together.
func (l *Lane) together() int { return min(max(l.limits.Concurrency, claimAtLeast), lookAhead) }

// givenUp joins the errors of the lane's dead models, in the order of their
// names.
func (l *Lane) givenUp() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := slices.Sorted(maps.Keys(l.models))
	return errors.Join(table.RowsOf(names, func(name string) error { return l.models[name].givenUp() })...)
}

// held lists the models of the lane that are waited for.
func (l *Lane) held(now time.Time) (held []Held) {
	if l.shares != nil {
		return nil // it says so itself
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.models {
		if since, until, ok := a.pacer.Held(now); ok {
			held = append(held, Held{a.Ref, now.Sub(since), until.Sub(now)})
		}
	}
	return held
}

// serves reports whether the lane leads to a provider's endpoint.
func (l *Lane) serves(provider, endpoint string) bool {
	return l.provider == provider && l.endpoint == endpoint
}
