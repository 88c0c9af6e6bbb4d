package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// mostOutput is the most output tokens of a call.
func mostOutput(r model.Request) int { return cmp.Or(r.Params.MaxTokens, fill.UnboundedOutput) }

// Spent is what was spent on a study so far, whose job is j, with the most that its calls
// can take that are out in batches: their input by estimate, and all of the output that
// they allow.
func Spent(ctx context.Context, m store.Reader, of *study.Study, j *job.Job, prices price.Table) (study.Spent, error) {
	s, err := of.Spent(ctx, m, j, prices)
	if err != nil {
		return s, err
	}
	batches, err := batchesOf(ctx, m, j)
	if err != nil {
		return s, err
	}
	usd, models := 0.0, j.Refs()
	for _, b := range batches {
		if !b.Open() || !slices.Contains(models, b.Ref()) {
			continue
		}
		out, usage, err := reserved(ctx, m, b)
		if err != nil {
			return s, err
		}
		s.Out += out
		s.Tokens += usage.Input + usage.Output
		tariff, ok := prices.Batch(b.Provider, b.Model)
		if !ok && out > 0 {
			s.Unpriced, s.USD = append(s.Unpriced, b.Provider+"/"+b.Model+" by batch"), nil
		}
		usd += tariff.Cost(usage)
	}
	if s.USD != nil {
		usd += *s.USD
		s.USD = &usd
	}
	return s, nil
}

// Account opens the account of the study for a command within a budget, which may be none, and
// says how much of that is spent. byBatch is true where the command spends by batch too. The
// account of a store that cannot be written to is of this process alone.
func (d *Manager) Account(ctx context.Context, b fill.Budget, byBatch bool) (a *fill.Account, spent fill.Budget, err error) {
	bounded := b != (fill.Budget{})
	a, err = d.Study.Account(ctx, d.Store, d.Job.Judging(), bounded)
	if errors.Is(err, store.ErrReadOnly) {
		a, err = fill.NewAccount(nil, d.Study.Name, time.Time{}, d.Job.Judging()), nil
	}
	if err != nil || !bounded {
		return a, spent, err
	}
	so, err := Spent(ctx, d.Store, d.Study, d.Job, d.Prices)
	if err != nil {
		return a, spent, err
	}
	if spent, err = so.Of(b); err != nil {
		return a, spent, err
	}
	return a, spent, a.SetBefore(ctx, so.Before(), byBatch)
}

// reserved counts the calls of an open batch without an answer, and the most that they can
// use.
func reserved(ctx context.Context, m store.Reader, b *Batch) (calls int, most model.Usage, err error) {
	for c, err := range callsOf(ctx, m, b) {
		if err != nil {
			return 0, most, err
		}
		if c.answered {
			continue
		}
		r, err := requestOf(c.BatchCall)
		if err != nil {
			return 0, most, err
		}
		calls++
		most.Input += price.EstimateTokens(r.Messages)
		most.Output += mostOutput(r)
	}
	return calls, most, nil
}

// Most is the most that the calls of a plan can take; those without a price by batch count
// nothing in USD.
func (p Plan) Most() (most fill.Budget) {
	for _, part := range p.Parts {
		if part.MaxUSD != nil {
			most.USD += *part.MaxUSD
		}
		most.Requests += part.Calls
		most.Tokens += part.InputTokens + part.MaxOutputTokens
	}
	return most
}

// Check refuses a plan with which a budget could be exceeded of which so much is spent; the
// error is an *orbench.InputError.
func (p Plan) Check(limits, spent fill.Budget) error {
	for _, part := range p.Parts {
		if part.MaxUSD == nil && limits.USD > 0 {
			return &orbench.InputError{
				Setting: "max-cost", Problem: fmt.Sprintf("the price of %s/%s by batch is unknown", part.Provider, part.Model),
				Hint: "give the price in a file with `prices`, and the batch price as a share of it, or leave `max-cost` out",
			}
		}
	}
	most := p.Most()
	for _, bound := range []struct {
		setting, verb      string
		limit, before, sum float64
		shown              func(float64) string
	}{
		{"max-cost", "cost", limits.USD, spent.USD, most.USD, table.Money},
		{"max-total-tokens", "use", float64(limits.Tokens), float64(spent.Tokens), float64(most.Tokens), func(n float64) string { return table.Counted(int(n), "token", "tokens") }},
		{"max-requests", "make", float64(limits.Requests), float64(spent.Requests), float64(most.Requests), func(n float64) string { return table.Counted(int(n), "request", "requests") }},
	} {
		if p.Calls() == 0 || bound.limit == 0 || bound.before+bound.sum <= bound.limit {
			continue
		}
		problem := fmt.Sprintf("the batches could %s up to %s", bound.verb, bound.shown(bound.sum))
		if bound.before > 0 {
			problem += ", but the run has already cost " + bound.shown(bound.before) + " before"
		}
		return &orbench.InputError{Setting: bound.setting, Problem: problem + ", and nothing was sent", Hint: "raise it, or lower `max-tokens` or `limit`"}
	}
	return nil
}
