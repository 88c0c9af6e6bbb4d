package fill

import (
	"fmt"
	"strconv"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Budget bounds what may be spent on a study, by all that spend on its Account: attempts, those
// that fail included; tokens, with the most that failed attempts may have used; and US dollars,
// with the most that these may have cost. Zero fields bound nothing.
type Budget store.Amount

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
	bound, money := "`max-cost`", fmt.Sprintf(" ($%.4f instead of $%.4f)", e.USD, e.Reserved)
	if e.Budget.USD == 0 {
		bound, money = "`max-total-tokens`", ""
	}
	return fmt.Sprintf("a reply used %d input and %d output tokens, but at most %d and %d were expected%s, so %s cannot be kept; raise `max-tokens`, or leave %[6]s out",
		e.Reported.Input, e.Reported.Output, e.Most.Input, e.Most.Output, money, bound)
}

// contradicts is how many times its reservation a reply may cost. What costs more, and is
// not within it, is no token that was counted differently: the model does not keep to its
// limit, or the server does not tell the truth.
const contradicts = 2
