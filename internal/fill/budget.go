package fill

import (
	"context"
	"fmt"
	"sync"
)

// Budget bounds what a command may spend. Zero fields bound nothing.
type Budget struct {
	// Requests is the most attempts that may be sent, those that fail included.
	Requests int
	// USD is the most that may be spent, in US dollars.
	USD float64
}

// BudgetError says that the next call could exceed the budget. Nothing was sent
// for it.
type BudgetError struct {
	Budget Budget
	// Requests and USD are what was spent.
	Requests int
	USD      float64
	// Next is the most that the next call could have cost, in US dollars.
	Next float64
}

// Error gives one line that names the limit, by its setting in backquotes, and what
// was spent.
func (e *BudgetError) Error() string {
	if e.Budget.Requests > 0 && e.Requests >= e.Budget.Requests {
		return fmt.Sprintf("stopped by `max-requests` %d: %d requests sent", e.Budget.Requests, e.Requests)
	}
	return fmt.Sprintf("stopped by `max-cost` %g: $%.4f spent, and the next call could cost up to $%.4f", e.Budget.USD, e.USD, e.Next)
}

// budget keeps to a Budget. Every attempt reserves the most that it can cost and
// settles for what it did cost.
type budget struct {
	limits Budget

	mu       sync.Mutex
	settled  *sync.Cond
	requests int
	spent    float64
	reserved float64
	open     int
}

func newBudget(limits Budget) *budget {
	b := &budget{limits: limits}
	b.settled = sync.NewCond(&b.mu)
	return b
}

// reserve takes one request and at most usd from the budget. While others hold
// reservations that may turn out cheaper, it waits for them before it gives up
// with a *BudgetError.
func (b *budget) reserve(ctx context.Context, usd float64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var watching bool
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		requestsLeft := b.limits.Requests == 0 || b.requests < b.limits.Requests
		usdLeft := b.limits.USD == 0 || b.spent+b.reserved+usd <= b.limits.USD
		if requestsLeft && usdLeft {
			b.requests++
			b.open++
			b.reserved += usd
			return nil
		}
		if !requestsLeft || b.open == 0 {
			return &BudgetError{Budget: b.limits, Requests: b.requests, USD: b.spent, Next: usd}
		}
		if !watching {
			watching = true
			defer context.AfterFunc(ctx, func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.settled.Broadcast()
			})()
		}
		b.settled.Wait()
	}
}

// settle replaces a reservation by what the attempt did cost.
func (b *budget) settle(reserved, usd float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open--
	b.reserved -= reserved
	b.spent += usd
	b.settled.Broadcast()
}

// sums gives the requests and the money spent so far.
func (b *budget) sums() (requests int, usd float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests, b.spent
}
