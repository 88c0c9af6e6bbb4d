package fill

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/orbench/orbench/internal/store"
)

// Account is what is spent on a study, as all see it who spend on it: commands and workers, at
// once and one after another. Each has a share of it in the store: what its calls have cost, and
// what it holds to spend in about the next second. So what one that is killed may have spent is
// known. One Live uses an account at a time.
type Account struct {
	ledger Ledger
	study  string
	// mine is the share of this process as it was last kept. answers and failed are the part of
	// what was counted here that was spent before it, where the process has had another.
	mine            store.Share
	kept            bool
	answers, failed Budget
	charged         int
	// before is what was spent before all shares, and others what others have taken since, by
	// the last look. Of that they hold so much which may be given back.
	before, others, theirs Budget
}

// Ledger is the part of a store that accounts need.
type Ledger interface {
	ChangeShares(ctx context.Context, study string, term time.Duration, change func(all []store.Share) (put []store.Share, drop []string)) error
}

// NewAccount is the account of a study, of which began and judging are as in a store.Share. One
// without a ledger is of this process alone.
func NewAccount(l Ledger, study string, began time.Time, judging bool) *Account {
	return &Account{ledger: l, study: study, mine: store.Share{ID: rand.Text(), Began: began, Judging: judging}}
}

// Name is that of the account in the store.
func (a *Account) Name() string { return a.study }

// Open adds this process's share to the account. If no other process is at work, the noted
// shares of earlier ones are merged into what was spent before. If saysBefore is true, they are
// dropped, since the caller will say what was spent before. A share that is not in noted stops
// the merge.
func (a *Account) Open(ctx context.Context, noted []store.Share, saysBefore bool) error {
	a.kept = true
	return a.ledger.ChangeShares(ctx, a.study, claimTerm, func(all []store.Share) (put []store.Share, drop []string) {
		mine := a.mine
		mine.Live = true
		put = append(put, mine)
		for _, s := range all {
			if s.Live || s.ID != "" && !slices.Contains(noted, s) {
				return put, nil
			}
			if s.ID != "" || saysBefore {
				drop = append(drop, s.ID)
			} else {
				put = append(put, store.Share{Answers: store.Amount(Taken(all))})
			}
		}
		return put, drop
	})
}

// SetBefore says what was spent before all shares of the account. What another has said stays,
// unless anew is true.
func (a *Account) SetBefore(ctx context.Context, before Budget, anew bool) error {
	if a.ledger == nil {
		a.before = before
		return nil
	}
	return a.ledger.ChangeShares(ctx, a.study, claimTerm, func(all []store.Share) (put []store.Share, _ []string) {
		if len(all) > 0 && all[0].ID == "" && !anew {
			return nil, nil
		}
		return []store.Share{{Answers: store.Amount(before)}}, nil
	})
}

// Taken is what some shares have spent, may have spent, or hold.
func Taken(all []store.Share) (taken Budget) {
	for _, s := range all {
		taken = taken.plus(Budget(s.Answers)).plus(Budget(s.Failed)).plus(Budget(s.Held))
	}
	return taken
}

// Pending is what those at work hold, and may give back.
func Pending(all []store.Share) (held Budget) {
	for _, s := range all {
		if s.Live {
			held = held.plus(Budget(s.Held))
		}
	}
	return held
}

// keep keeps the share of this process that decide gives, which is told what is taken elsewhere and
// may be asked again. It gives the account as it is then.
func (a *Account) keep(ctx context.Context, decide func(elsewhere Budget) store.Share) (*Account, error) {
	if a.ledger == nil {
		decide(a.before)
		return a, nil
	}
	var next Account
	err := a.ledger.ChangeShares(ctx, a.study, claimTerm, func(all []store.Share) ([]store.Share, []string) {
		next = *a
		next.before = Budget{}
		if len(all) > 0 && all[0].ID == "" {
			next.before, all = Budget(all[0].Answers), all[1:]
		}
		at := slices.IndexFunc(all, func(s store.Share) bool { return s.ID == a.mine.ID })
		if at >= 0 {
			all = slices.Delete(all, at, at+1)
		} else if a.kept {
			// Others took this process for one that has ended, and know what it had spent.
			next.answers, next.failed = a.answers.plus(Budget(a.mine.Answers)), a.failed.plus(Budget(a.mine.Failed))
			next.charged += a.mine.Charged
			next.mine = store.Share{ID: rand.Text(), Began: time.Now().UTC()}
		}
		next.others, next.theirs = Taken(all), Pending(all)
		mine := decide(next.elsewhere())
		mine.ID, mine.Began, mine.Judging = next.mine.ID, next.mine.Began, a.mine.Judging
		mine.Answers = store.Amount(Budget(mine.Answers).minus(next.answers))
		mine.Failed = store.Amount(Budget(mine.Failed).minus(next.failed))
		mine.Charged -= next.charged
		next.mine, next.kept = mine, true
		return []store.Share{mine}, nil
	})
	if err != nil {
		return a, err
	}
	return &next, nil
}

// elsewhere is what is taken of the account beside what is counted here.
func (a *Account) elsewhere() Budget { return a.before.plus(a.others).minus(a.answers).minus(a.failed) }
