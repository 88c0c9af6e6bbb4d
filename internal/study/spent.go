package study

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
)

// Spent is what was spent on a study so far. A budget counts it before a command asks
// anything.
type Spent struct {
	// Replies are those that the study rests on, without those of History.Reused.
	Replies int `json:"replies"`
	// FailedAttempts are those of its commands that gave no reply.
	FailedAttempts int `json:"failed_attempts"`
	// Out counts calls that are out in batches, each at its highest possible use.
	Out int `json:"out_in_batches"`
	// Tokens are those of replies, input and output, and the most that the rest can take.
	Tokens int `json:"tokens"`
	// USD is the cost in US dollars, nil if a price is unknown. Unpriced lists the models,
	// or attempts, without a price.
	USD      *float64 `json:"usd"`
	Unpriced []string `json:"unpriced,omitempty"`
	// since is what those have taken of it who have a share.
	since fill.Budget
}

// Spent derives what was spent on the study, whose job is j, by what the store has: on
// replies, by batch at their own price, and on failed attempts. Of a job
// that asks judges alone it is what was spent on judges.
func (s *Study) Spent(ctx context.Context, m store.Reader, j *job.Job, prices price.Table) (spent Spent, err error) {
	// What comes while replies are counted is taken for spent before, and not for nothing.
	shares, err1 := m.Shares(ctx, s.account(j.Judging()))
	used, err2 := j.Used(ctx, m)
	if err := cmp.Or(err1, err2); err != nil {
		return Spent{}, err
	}
	failed := s.History.Failed
	for _, share := range shares {
		f := failedOf(share)
		if f.Attempts+f.Free > 0 {
			failed = append(slices.DeleteFunc(slices.Clone(failed), func(old provenance.Failed) bool { return old.Began.Equal(f.Began) }), f)
		}
		if share.ID == "" {
			continue
		}
		spent.since.Add(fill.Budget(share.Answers))
		spent.since.Add(fill.Budget{Requests: f.Attempts + f.Free, Tokens: f.Tokens})
		if f.USD != nil {
			spent.since.Add(fill.Budget{USD: *f.USD})
		}
	}
	for _, of := range used {
		spent.Replies += of.Replies
		spent.Tokens += of.Tokens.Input + of.Tokens.Output
	}
	usd, unpriced := prices.Total(used)
	if r := s.History.Reused; r != nil && !j.Judging() {
		spent.Replies -= r.Replies
		spent.Tokens -= r.Tokens
		usd -= r.USD
	}
	for _, c := range s.History.Checks {
		if j.Judging() {
			break
		}
		spent.Replies += c.Calls
		spent.Tokens += c.Tokens
		if c.USD != nil {
			usd += *c.USD
		} else if c.Calls > 0 {
			unpriced = append(unpriced, c.Of)
		}
	}
	for _, f := range failed {
		if j.Judging() && !f.Judging {
			continue
		}
		spent.FailedAttempts += f.Attempts + f.Free
		spent.Tokens += f.Tokens
		switch {
		case f.USD != nil:
			usd += *f.USD
		case f.Attempts == 0:
		case f.Tokens > 0:
			// Their model is not kept.
			usd += float64(f.Tokens) * dearest(j, prices) / 1e6
		default:
			unpriced = append(unpriced, table.Counted(f.Attempts, "attempt", "attempts")+" without a reply")
		}
	}
	if spent.Unpriced = unpriced; len(unpriced) == 0 {
		spent.USD = &usd
	}
	return spent, nil
}

// dearest is the highest price that a token of the job's models has, in US dollars per
// million.
func dearest(j *job.Job, prices price.Table) float64 {
	most := 0.0
	for _, m := range j.Models {
		if p, ok := prices.Price(m.Provider, m.Model); ok {
			most = max(most, p.Input, p.Output)
		}
	}
	return most
}

// Requests counts the attempts that were sent, and the calls that are out.
func (s Spent) Requests() int { return s.Replies + s.FailedAttempts + s.Out }

// Of is what was spent of a budget. The error is an *orbench.InputError where that is
// unknown.
func (s Spent) Of(b fill.Budget) (fill.Budget, error) {
	spent := fill.Budget{Requests: s.Requests(), Tokens: s.Tokens}
	if s.USD != nil {
		spent.USD = *s.USD
	} else if b.USD > 0 {
		return spent, &orbench.InputError{
			Setting: "max-cost", Problem: "the cost of the run so far is unknown, because there is no price for " + strings.Join(s.Unpriced, ", "),
			Hint: "give it in a file with `prices`, or leave `max-cost` out",
		}
	}
	return spent, nil
}

// Before is what was spent before those began who have a share of it.
func (s Spent) Before() fill.Budget {
	spent := fill.Budget{Requests: s.Requests() - s.since.Requests, Tokens: s.Tokens - s.since.Tokens, USD: -s.since.USD}
	if s.USD != nil {
		spent.USD += *s.USD
	}
	return spent
}

// Line says in one line what was spent of a budget; it is empty if nothing was.
func (s Spent) Line(b fill.Budget) string {
	var parts []string
	if b.USD > 0 && s.USD != nil {
		parts = append(parts, fmt.Sprintf("%s of `max-cost=%g`", table.Money(*s.USD), b.USD))
	}
	if b.Tokens > 0 {
		parts = append(parts, fmt.Sprintf("%s of `max-total-tokens=%s`", table.Count(s.Tokens), table.Count(b.Tokens)))
	}
	if b.Requests > 0 {
		parts = append(parts, fmt.Sprintf("%s of `max-requests=%s`", table.Count(s.Requests()), table.Count(b.Requests)))
	}
	if len(parts) == 0 || s.Requests() == 0 {
		return ""
	}
	line := "spent by earlier commands: " + strings.Join(parts, ", ") + ", for " + table.Counted(s.Replies, "reply", "replies")
	if s.FailedAttempts > 0 {
		line += " and " + table.Counted(s.FailedAttempts, "attempt", "attempts") + " without a reply"
	}
	if s.Out > 0 {
		line += ", and at most for " + table.Counted(s.Out, "call", "calls") + " out in batches"
	}
	return line
}
