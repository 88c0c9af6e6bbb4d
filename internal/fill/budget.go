package fill

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Budget bounds what may be spent on a study, by all that spend on its Account. Zero fields bound
// nothing.
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

// within reports whether none of it is more than another.
func (b Budget) within(other Budget) bool {
	return b.Requests <= other.Requests && b.Tokens <= other.Tokens && b.USD <= other.USD
}

// Left is the rest of each bound after some was spent, zero or less if nothing is left.
// A bound that is not set stays zero.
func (b Budget) Left(spent Budget) Budget { return b.minus(spent).of(b) }

// Exhausted reports whether nothing is left of a bound when some is spent.
func (b Budget) Exhausted(spent Budget) bool {
	left := b.Left(spent)
	return b.Requests > 0 && left.Requests <= 0 || b.Tokens > 0 && left.Tokens <= 0 || b.USD > 0 && left.USD <= 0
}

// bounds reports whether what a call uses is bounded, and not only how many there are.
func (b Budget) bounds() bool { return b.USD > 0 || b.Tokens > 0 }

// BudgetError says that the next call could exceed the budget. Nothing was sent
// for it.
type BudgetError struct {
	Budget Budget
	// Spent is what was spent of it. Before is the part of that which was spent before, by other
	// commands or by batch, and Others what those took that spent at the same time.
	Spent, Before, Others Budget
	// Charged counts the failed attempts that may have been charged, and Failed is the part
	// of Spent that they took: the most that they can have cost.
	Charged int
	Failed  Budget
	// Next is the most that the next call could have cost.
	Next Budget
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
	limits, spent := e.Budget, e.Spent
	// part is what was not spent by this command: a part of what was, said in the same words.
	part := func(before, others bool, said func(Budget) string) (text string) {
		if before {
			text = ", " + said(e.Before) + " before"
		}
		if others {
			text += ", " + said(e.Others) + " by others at the same time"
		}
		return text
	}
	if limits.Requests > 0 && spent.Requests >= limits.Requests {
		return fmt.Sprintf("stopped by `max-requests=%d`: %s sent%s", limits.Requests, table.Counted(spent.Requests, "request", "requests"),
			part(e.Before.Requests > 0, e.Others.Requests > 0, func(b Budget) string { return fmt.Sprintf("%d of them", b.Requests) }))
	}
	failed := func(most string) string {
		if e.Charged == 0 {
			return ""
		}
		return fmt.Sprintf(" (of it up to %s for %s)", most, table.Counted(e.Charged, "failed attempt", "failed attempts"))
	}
	if limits.Tokens > 0 && spent.Tokens+e.Next.Tokens > limits.Tokens {
		return fmt.Sprintf("stopped by `max-total-tokens=%d`: %d tokens used%s%s, and the next call could use up to %d", limits.Tokens, spent.Tokens, failed(strconv.Itoa(e.Failed.Tokens)),
			part(e.Before.Tokens > 0, e.Others.Tokens > 0, func(b Budget) string { return fmt.Sprintf("%d of them", b.Tokens) }), e.Next.Tokens)
	}
	return fmt.Sprintf("stopped by `max-cost=%g`: $%.4f spent%s%s, and the next call could cost up to $%.4f", limits.USD, spent.USD, failed(fmt.Sprintf("$%.4f", e.Failed.USD)),
		part(e.Before.USD > 0, e.Others.USD > 0, func(b Budget) string { return fmt.Sprintf("$%.4f of it", b.USD) }), e.Next.USD)
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
// settles for what it did cost, or where it failed, for what it may have cost. What is reserved is
// held of the account before: as much as is spent in about a second.
type budget struct {
	limits  Budget
	account *Account

	mu      sync.Mutex
	settled *sync.Cond
	// held is what is held of the account, what is taken included. While it is changing, nothing
	// is reserved.
	held     Budget
	changing bool
	// answers is what replies did cost that are stored, fresh what those did that are not yet,
	// failures what failed attempts may have, and reserved what those under way may.
	answers, fresh, failures, reserved Budget
	// charged counts the attempts behind failures, and unpriced is true once a call had no price.
	charged  int
	unpriced bool
	// slice is what was last added to held, at that time.
	slice Budget
	at    time.Time
	// refused is when too little was left, for least, and underWay how many requests were when
	// what is held was last looked at.
	refused  time.Time
	least    Budget
	underWay int
	// hopeless is since when too little is left whatever others give back, zero while it is not.
	hopeless time.Time
	// timer gives back what is held for nothing; ticked is what was taken when it last did.
	timer  *time.Timer
	ticked Budget
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

// newBudget keeps to limits on an account, nil for one of this process.
func newBudget(limits Budget, account *Account) *budget {
	if account == nil {
		account = NewAccount(nil, "", time.Time{}, false)
	}
	b := &budget{limits: limits, account: account, models: map[model.Ref]*allowance{}}
	b.settled = sync.NewCond(&b.mu)
	return b
}

// reserve takes one request, and what most of a model can cost, from the budget. A bound
// of tokens or money has the first call of each model go alone, so that its usage is known before
// others are sent. While anybody holds what may turn out not to be spent, reserve waits
// for that before it gives up with a *BudgetError. priced is false where the tariff is unknown.
func (b *budget) reserve(ctx context.Context, of model.Ref, tariff price.Price, most model.Usage, priced bool) (reservation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.models[of]
	if known == nil {
		known = &allowance{}
		b.models[of] = known
	}
	b.unpriced = b.unpriced || !priced
	watching := false
	for {
		if ctx.Err() != nil {
			return reservation{}, context.Cause(ctx)
		}
		usage := model.Usage{Input: most.Input + known.excess.Input, Output: most.Output + known.excess.Output}
		next := costOf(tariff, usage)
		next.Requests = 1
		ready := !b.changing && (!b.limits.bounds() || known.settled || known.open == 0)
		if !watching && !ready {
			watching = true
			defer context.AfterFunc(ctx, b.wake)()
		}
		switch {
		case !ready:
			b.settled.Wait()
		case b.taken().plus(next).within(b.held):
			known.open++
			b.reserved = b.reserved.plus(next)
			return reservation{of, tariff, most, usage, next}, nil
		default:
			granted := false
			// What was refused just now is not asked for again while no more is left.
			fits := next.of(b.limits).within(b.limits.Left(b.account.elsewhere().plus(b.taken())))
			if fits || b.underWay != b.reserved.Requests || time.Since(b.refused) >= claimPoll || !b.least.within(next) {
				var err error
				if granted, err = b.hold(ctx, next); err != nil {
					return reservation{}, err
				}
			}
			switch {
			case granted, b.underWay != b.reserved.Requests:
				// Now there may be enough.
			case b.spent(next):
				return reservation{}, b.exhausted(next)
			default:
				b.wait(ctx)
			}
		}
	}
}

// wake has those who wait look again.
func (b *budget) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.settled.Broadcast()
}

// wait waits until something changes here, or may have elsewhere, for a caller that holds b.mu.
func (b *budget) wait(ctx context.Context) {
	defer context.AfterFunc(ctx, b.wake)()
	if b.account.ledger != nil {
		defer time.AfterFunc(claimPoll, b.wake).Stop()
	}
	b.settled.Wait()
}

// SettleTime is how long the calls under way of others are waited for where too little is left in
// any case, so that what is said to be spent is what they cost.
const SettleTime = 10 * time.Second

// spent reports whether nothing comes back that would leave enough for another call.
func (b *budget) spent(next Budget) bool {
	elsewhere := b.account.elsewhere()
	if theirs := b.account.theirs; theirs.Requests > 0 {
		left := b.limits.Left(elsewhere.minus(theirs).plus(b.taken()).minus(b.reserved))
		if next.of(b.limits).within(left) {
			b.hopeless = time.Time{}
			return false
		}
		if b.hopeless.IsZero() {
			b.hopeless = time.Now()
		}
		if time.Since(b.hopeless) < SettleTime {
			return false
		}
	}
	sent := elsewhere.plus(b.taken()).Requests
	return b.reserved.Requests == 0 || b.limits.Requests > 0 && sent+next.Requests > b.limits.Requests
}

// exhausted is the error for another call.
func (b *budget) exhausted(next Budget) error {
	spent := b.answers.plus(b.fresh).plus(b.failures).plus(Budget{Requests: b.reserved.Requests})
	next.Requests = 0
	return &BudgetError{
		Budget: b.limits, Before: b.account.before, Others: b.account.others, Spent: b.account.elsewhere().plus(spent),
		Next: next, Charged: b.charged, Failed: Budget{Tokens: b.failures.Tokens, USD: b.failures.USD},
	}
}

// taken is what is spent, and what is reserved.
func (b *budget) taken() Budget { return b.answers.plus(b.fresh).plus(b.failures).plus(b.reserved) }

const (
	// mostSlice is which part of what is left a slice is at most.
	mostSlice = 32
	// sliceTime is how long a slice should last.
	sliceTime = time.Second
)

// hold has at least next be held beside what is taken, and more where there is much left. Where
// too little is left, it gives back what is held for nothing, so that nobody waits for it.
func (b *budget) hold(ctx context.Context, next Budget) (granted bool, err error) {
	// A slice that is used up too soon is followed by a larger one.
	scale := 1.0
	switch since := time.Since(b.at); {
	case b.slice == Budget{}:
		b.slice = next
	case since < sliceTime:
		scale = 2
	case since > 4*sliceTime:
		scale = 0.5
	}
	var slice Budget
	err = b.change(ctx, true, func(left, taken Budget) Budget {
		if granted = next.of(b.limits).within(left); !granted {
			return taken
		}
		// It is a part of what is left at most, of each bound.
		part := scale
		for _, of := range [][2]float64{
			{float64(b.slice.of(b.limits).Requests), float64(left.Requests)}, {float64(b.slice.of(b.limits).Tokens), float64(left.Tokens)}, {b.slice.of(b.limits).USD, left.USD},
		} {
			if of[0] > 0 {
				part = min(part, of[1]/of[0]/mostSlice)
			}
		}
		slice = Budget{
			Requests: max(next.Requests, int(part*float64(b.slice.Requests))),
			Tokens:   max(next.Tokens, int(part*float64(b.slice.Tokens))),
			USD:      max(next.USD, part*b.slice.USD),
		}
		return taken.plus(slice)
	})
	if err == nil && granted {
		b.slice, b.at = slice, time.Now()
	} else if err == nil {
		b.refused, b.least = time.Now(), next
	}
	return granted, err
}

// change has as much be held as to says, which is told what is left of the limits beside what is
// taken here. live is false where nothing more is taken for now. The caller holds b.mu, which is
// free meanwhile.
func (b *budget) change(ctx context.Context, live bool, to func(left, taken Budget) Budget) error {
	for b.changing {
		b.settled.Wait()
	}
	taken := b.taken()
	share := store.Share{
		Answers: store.Amount(b.answers), Failed: store.Amount(b.failures), Charged: b.charged, Unpriced: b.unpriced, Live: live,
	}
	b.changing, b.underWay = true, b.reserved.Requests
	held, account := b.held, b.account
	b.mu.Unlock()
	// It is brief, and what a stop cut short would be kept or not.
	account, err := account.keep(context.WithoutCancel(ctx), func(elsewhere Budget) store.Share {
		held = to(b.limits.Left(elsewhere.plus(taken)), taken)
		if held.Requests == taken.Requests {
			held = taken // no call can be made of the rest
		}
		share.Held = store.Amount(held.minus(Budget(share.Answers)).minus(Budget(share.Failed)))
		if share.Held.Requests == 0 {
			share.Held = store.Amount{} // without what rounding leaves
		}
		return share
	})
	b.mu.Lock()
	b.changing = false
	if err != nil {
		// Nobody knows whether it was kept.
		held = Budget{min(b.held.Requests, held.Requests), min(b.held.Tokens, held.Tokens), min(b.held.USD, held.USD)}
	}
	b.held, b.account = held, account
	if b.timer == nil && b.account.ledger != nil && live {
		b.timer = time.AfterFunc(sliceTime, b.tick)
	}
	b.settled.Broadcast()
	return err
}

// tick keeps the share of this process up to date while it holds something, and gives back what
// was more than it has used since the last.
func (b *budget) tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := b.taken()
	if b.held.minus(taken) == (Budget{}) && b.reserved.plus(b.fresh) == (Budget{}) && taken == b.ticked {
		b.timer = nil
		return
	}
	used := taken.minus(b.ticked)
	b.ticked = taken
	// What cannot be kept now is kept with the next.
	_ = b.change(context.Background(), true, func(_, taken Budget) Budget {
		free := b.held.minus(taken)
		return taken.plus(Budget{min(free.Requests, used.Requests), min(free.Tokens, used.Tokens), min(free.USD, used.USD)}.atLeastNothing())
	})
	b.timer.Reset(sliceTime)
}

// giveBack gives back what is held for nothing.
func (b *budget) giveBack(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.account.ledger == nil {
		return nil
	}
	b.ticked = b.taken()
	return b.change(ctx, b.reserved.Requests > 0, func(_, taken Budget) Budget { return taken })
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
	did.Requests = 1
	b.fresh = b.fresh.plus(did)
	known.excess.Input = max(known.excess.Input, usage.Input-r.most.Input)
	known.excess.Output = max(known.excess.Output, usage.Output-r.most.Output)
	if b.limits.USD > 0 && did.USD > contradicts*r.cost.USD || b.limits.Tokens > 0 && did.Tokens > contradicts*r.cost.Tokens {
		return &UsageError{Budget: b.limits, Reported: usage, Most: r.usage, USD: did.USD, Reserved: r.cost.USD}
	}
	return nil
}

// stored says that a response of so much usage is stored.
func (b *budget) stored(tariff price.Price, usage model.Usage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	did := costOf(tariff, usage)
	did.Requests = 1
	b.answers, b.fresh = b.answers.plus(did), b.fresh.minus(did)
	if b.fresh.Requests == 0 {
		b.fresh = Budget{} // without what rounding leaves
	}
}

// fail replaces a reservation by what the failed attempt may have cost.
func (b *budget) fail(r reservation, failed *model.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release(r).settled = true
	b.failures.Requests++
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
}

// release ends a reservation for a caller that holds b.mu.
func (b *budget) release(r reservation) *allowance {
	known := b.models[r.of]
	known.open--
	if b.reserved = b.reserved.minus(r.cost); b.reserved.Requests == 0 {
		b.reserved = Budget{} // without what rounding leaves
	}
	b.settled.Broadcast()
	return known
}

// into puts what was spent so far into the counts.
func (b *budget) into(s *Stats) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Requests, s.USD, s.Charged, s.FailedUSD, s.FailedTokens = b.taken().Requests, b.answers.plus(b.fresh).USD, b.charged, b.failures.USD, b.failures.Tokens
}

// left is the bound and what may still be spent of it; see Load.Left.
func (b *budget) left() (bound, left Budget) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limits, b.limits.Left(b.taken().plus(b.account.elsewhere()))
}
