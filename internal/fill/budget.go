package fill

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Budget bounds what may be spent: on a run, where LiveConfig.Spent has what commands before
// this one spent on it, or else by a command. Zero fields bound nothing.
type Budget struct {
	// Requests is the most attempts that may be sent, those that fail included.
	Requests int
	// Tokens is the most that may be used, of input and output together, with the most
	// that failed attempts may have used.
	Tokens int
	// USD is the most that may be spent, in US dollars, the most that failed attempts
	// may have cost included.
	USD float64
}

// Add adds what something else takes or may take.
func (b *Budget) Add(o Budget) { *b = b.plus(o) }

// plus adds another budget.
func (b Budget) plus(o Budget) Budget {
	return Budget{Requests: b.Requests + o.Requests, Tokens: b.Tokens + o.Tokens, USD: b.USD + o.USD}
}

// minus takes another budget away.
func (b Budget) minus(o Budget) Budget {
	return b.plus(Budget{Requests: -o.Requests, Tokens: -o.Tokens, USD: -o.USD})
}

// atLeastNothing has nothing in place of what is less.
func (b Budget) atLeastNothing() Budget {
	return Budget{Requests: max(0, b.Requests), Tokens: max(0, b.Tokens), USD: max(0, b.USD)}
}

// of is the part of it that limits bound.
func (b Budget) of(limits Budget) Budget {
	if limits.Requests == 0 {
		b.Requests = 0
	}
	if limits.Tokens == 0 {
		b.Tokens = 0
	}
	if limits.USD == 0 {
		b.USD = 0
	}
	return b
}

// within reports whether it is at most what is left, of all that limits bound.
func (b Budget) within(limits, left Budget) bool {
	b = b.of(limits)
	left = left.of(limits)
	return b.Requests <= left.Requests && b.Tokens <= left.Tokens && b.USD <= left.USD
}

// Left is the rest of each bound after some was spent, zero or less if nothing is left.
// A bound that is not set stays zero.
func (b Budget) Left(spent Budget) Budget { return b.minus(spent).of(b) }

// Exhausted reports whether nothing is left of a bound when some is spent.
func (b Budget) Exhausted(spent Budget) bool {
	left := b.Left(spent)
	return b.Requests > 0 && left.Requests <= 0 || b.Tokens > 0 && left.Tokens <= 0 || b.USD > 0 && left.USD <= 0
}

// SharedBudget is a Budget that several processes spend from. Each takes leases of it ahead, and
// gives back what it has not spent; the lease of one that dies stays taken.
type SharedBudget interface {
	// Take takes at least what is said, and more where there is much left. What cannot be
	// taken is a zero Budget.
	Take(ctx context.Context, least Budget) (Budget, error)
	// Give gives back.
	Give(ctx context.Context, unspent Budget) error
}

// bounds reports whether what a call uses is bounded, and not only how many there are.
func (b Budget) bounds() bool { return b.USD > 0 || b.Tokens > 0 }

// BudgetError says that the next call could exceed the budget. Nothing was sent
// for it.
type BudgetError struct {
	Budget Budget
	// Spent is what was spent of it, and Before the part of that which was spent before, by
	// other commands or by batch.
	Spent, Before Budget
	// Charged counts the failed attempts that may have been charged, and Failed is the part
	// of Spent that they took: the most that they can have cost.
	Charged int
	Failed  Budget
	// Next is the most that the next call could have cost.
	Next Budget
}

// After is the error of a budget of which e.Budget was left when so much was spent.
func (e BudgetError) After(b, before Budget) BudgetError {
	e.Budget, e.Before = b, before
	e.Spent.Add(before)
	return e
}

// Is holds for any other BudgetError: of several calls that find a budget spent, one says
// so.
func (e *BudgetError) Is(target error) bool {
	_, same := target.(*BudgetError)
	return same
}

// Error gives one line that names the limit, by its setting in backquotes, and what
// was spent.
func (e *BudgetError) Error() string {
	before := func(any bool, spent string) string {
		if !any {
			return ""
		}
		return ", " + spent + " before"
	}
	limits, spent, next := e.Budget, e.Spent, e.Next
	if limits.Requests > 0 && spent.Requests >= limits.Requests {
		return fmt.Sprintf("stopped by `max-requests` %d: %s sent%s", limits.Requests, table.Counted(spent.Requests, "request", "requests"), before(e.Before.Requests > 0, fmt.Sprintf("%d of them", e.Before.Requests)))
	}
	failed := func(most string) string {
		if e.Charged == 0 {
			return ""
		}
		return fmt.Sprintf(" (of it up to %s for %s)", most, table.Counted(e.Charged, "failed attempt", "failed attempts"))
	}
	if limits.Tokens > 0 && spent.Tokens+next.Tokens > limits.Tokens {
		return fmt.Sprintf("stopped by `max-total-tokens` %d: %d tokens used%s%s, and the next call could use up to %d",
			limits.Tokens, spent.Tokens, failed(strconv.Itoa(e.Failed.Tokens)), before(e.Before.Tokens > 0, fmt.Sprintf("%d of them", e.Before.Tokens)), next.Tokens)
	}
	return fmt.Sprintf("stopped by `max-cost` %g: $%.4f spent%s%s, and the next call could cost up to $%.4f",
		limits.USD, spent.USD, failed(fmt.Sprintf("$%.4f", e.Failed.USD)), before(e.Before.USD > 0, fmt.Sprintf("$%.4f of it", e.Before.USD)), next.USD)
}

// UsageError says that a model charges for more tokens than it was allowed, so that a
// bound of tokens or of money cannot be kept.
type UsageError struct {
	Budget Budget
	// Reported is the usage of the reply, Most what was thought to be its bound.
	Reported, Most model.Usage
	// USD is what the reply costs, Reserved what was reserved for it, in US dollars.
	USD, Reserved float64
}

// Error gives one line, with settings in backquotes.
func (e *UsageError) Error() string {
	bound, money := "`max-cost`", fmt.Sprintf(" ($%.4f in place of $%.4f)", e.USD, e.Reserved)
	if e.Budget.USD == 0 {
		bound, money = "`max-total-tokens`", ""
	}
	return fmt.Sprintf("a reply is charged with %d input and %d output tokens where at most %d and %d were reckoned with%s, so %s cannot be kept; raise `max-tokens`, or leave %[6]s out",
		e.Reported.Input, e.Reported.Output, e.Most.Input, e.Most.Output, money, bound)
}

// contradicts is how many times its reservation a reply may cost. What costs more, and is
// not within it, is no token that was counted differently: the model does not keep to its
// limit, or the server does not tell the truth.
const contradicts = 2

// budget keeps to a Budget. Every attempt reserves the most that it can cost and
// settles for what it did cost, or where it failed, for what it may have cost.
type budget struct {
	limits Budget
	// before is what was spent of limits before.
	before Budget
	// shared is the budget that leased was taken from, nil for limits of this process.
	shared SharedBudget
	leased Budget

	mu       sync.Mutex
	settled  *sync.Cond
	requests int
	// answers is what responses did cost, failures what failed attempts may have, and
	// reserved what those under way may: tokens and money, without requests.
	answers, failures, reserved Budget
	// charged counts the attempts behind failures.
	charged int
	open    int
	// models has what is known of each model, by provider and name.
	models map[model.Ref]*allowance
}

// allowance is what the budget knows of a model.
type allowance struct {
	// open counts the reservations, settled is true once a call was made for one.
	open    int
	settled bool
	// excess is the usage by which replies exceeded the bound of their request.
	excess model.Usage
}

// reservation is what was taken from a budget for an attempt.
type reservation struct {
	of     model.Ref
	tariff price.Price
	// most bounds the usage of the request, usage is that with the model's excess.
	most, usage model.Usage
	cost        Budget
}

// costOf is what a usage takes of a budget beside requests.
func costOf(tariff price.Price, u model.Usage) Budget {
	return Budget{Tokens: u.Input + u.Output, USD: tariff.Cost(u)}
}

func newBudget(limits, before Budget, shared SharedBudget) *budget {
	b := &budget{limits: limits, before: before, shared: shared, models: map[model.Ref]*allowance{}}
	b.settled = sync.NewCond(&b.mu)
	return b
}

// reserve takes one request, and what most of a model can cost, from the budget. A bound
// of tokens or money has the first call of each model go alone, so that its usage is known before
// others are sent. While others hold reservations that may turn out cheaper, reserve waits
// for them before it gives up with a *BudgetError.
func (b *budget) reserve(ctx context.Context, of model.Ref, tariff price.Price, most model.Usage) (reservation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.models[of]
	if known == nil {
		known = &allowance{}
		b.models[of] = known
	}
	var watching bool
	for {
		if ctx.Err() != nil {
			return reservation{}, context.Cause(ctx)
		}
		usage := model.Usage{Input: most.Input + known.excess.Input, Output: most.Output + known.excess.Output}
		next := costOf(tariff, usage)
		if b.shared != nil {
			if err := b.lease(ctx, next); err != nil {
				return reservation{}, err
			}
		}
		requestsLeft := b.limits.Requests == 0 || b.requests < b.most().Requests
		costLeft := b.taken().plus(next).within(b.limits, b.most())
		alone := !b.limits.bounds() || known.settled || known.open == 0
		if requestsLeft && costLeft && alone {
			b.requests++
			b.open++
			known.open++
			b.reserved = b.reserved.plus(next)
			return reservation{of, tariff, most, usage, next}, nil
		}
		if !requestsLeft || b.open == 0 {
			return reservation{}, &BudgetError{
				Budget: b.limits, Before: b.before, Spent: Budget{Requests: b.requests}.plus(b.answers).plus(b.failures).plus(b.before),
				Next: next, Charged: b.charged, Failed: b.failures,
			}
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

// taken is what is spent, and what is reserved.
func (b *budget) taken() Budget {
	return Budget{Requests: b.requests}.plus(b.answers).plus(b.failures).plus(b.reserved)
}

// most is what this process may spend.
func (b *budget) most() Budget {
	if b.shared != nil {
		return b.leased
	}
	return b.limits.Left(b.before)
}

// lease takes from the shared budget what is lacking to have one more request that costs so much, as
// far as it is there.
func (b *budget) lease(ctx context.Context, next Budget) error {
	next.Requests = 1
	lacking := b.taken().plus(next).minus(b.leased).atLeastNothing().of(b.limits)
	if lacking == (Budget{}) {
		return nil
	}
	got, err := b.shared.Take(ctx, lacking)
	b.leased.Add(got)
	return err
}

// giveBack gives back to the shared budget what is neither spent nor reserved.
func (b *budget) giveBack(ctx context.Context) error {
	if b.shared == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	unspent := b.leased.minus(b.taken()).atLeastNothing()
	if unspent == (Budget{}) {
		return nil
	}
	b.leased = b.leased.minus(unspent)
	return b.shared.Give(ctx, unspent)
}

// answer replaces a reservation by what the response did cost. Usage beyond the
// reservation raises the model's next ones; where it contradicts it, and tokens or
// money are bounded, the error is a *UsageError.
func (b *budget) answer(r reservation, usage model.Usage) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.release(r)
	known.settled = true
	did := costOf(r.tariff, usage)
	b.answers = b.answers.plus(did)
	known.excess.Input = max(known.excess.Input, usage.Input-r.most.Input)
	known.excess.Output = max(known.excess.Output, usage.Output-r.most.Output)
	if b.limits.USD > 0 && did.USD > contradicts*r.cost.USD || b.limits.Tokens > 0 && did.Tokens > contradicts*r.cost.Tokens {
		return &UsageError{Budget: b.limits, Reported: usage, Most: r.usage, USD: did.USD, Reserved: r.cost.USD}
	}
	return nil
}

// fail replaces a reservation by what the failed attempt may have cost.
func (b *budget) fail(r reservation, failed *model.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release(r).settled = true
	if charge := failed.MayCost(r.usage); charge != (model.Usage{}) {
		b.charged++
		b.failures = b.failures.plus(costOf(r.tariff, charge))
	}
}

// cancel gives back a reservation for which nothing was sent.
func (b *budget) cancel(r reservation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release(r)
	b.requests--
}

// release ends a reservation for a caller that holds b.mu.
func (b *budget) release(r reservation) *allowance {
	known := b.models[r.of]
	known.open--
	b.open--
	b.reserved = b.reserved.minus(r.cost)
	b.settled.Broadcast()
	return known
}

// into puts what was spent so far into the counts.
func (b *budget) into(s *Stats) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Requests, s.USD, s.Charged, s.FailedUSD, s.FailedTokens = b.requests, b.answers.USD, b.charged, b.failures.USD, b.failures.Tokens
}

// left is what may still be spent; see Load.Left.
func (b *budget) left() Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limits.Left(b.taken().plus(b.before))
}
