package fill

import (
	"context"
	"sync"
	"time"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

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
	known := table.At(b.models, of)
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
		return taken.plus(Budget{max(0, min(free.Requests, used.Requests)), max(0, min(free.Tokens, used.Tokens)), max(0, min(free.USD, used.USD))})
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
