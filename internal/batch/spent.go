package batch

import (
	"cmp"
	"context"
	"slices"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/model"
)

// mostOutput is the most output tokens of a call.
func mostOutput(r model.Request) int { return cmp.Or(r.Params.MaxTokens, fill.UnboundedOutput) }

// Spent is what was spent on a run so far, with the most that its calls can take that are
// out in batches: their input by estimate, and all of the output that they allow.
func Spent(ctx context.Context, m *memo.Memo, r *run.Run, prices price.Table) (run.Spent, error) {
	s, err := r.Spent(ctx, m, prices)
	if err != nil {
		return s, err
	}
	d := &Desk{Memo: m, Run: r}
	batches, err := d.Batches(ctx)
	if err != nil {
		return s, err
	}
	usd, models := 0.0, r.Models()
	for _, b := range batches {
		if !b.Open() || !slices.Contains(models, b.Ref()) {
			continue
		}
		out, usage, err := d.reserved(ctx, b)
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

// reserved counts the calls of an open batch without an answer, and the most that they can
// use.
func (d *Desk) reserved(ctx context.Context, b *Batch) (calls int, most model.Usage, err error) {
	var group []memo.BatchCall
	count := func() error {
		hashes := make([]model.Hash, len(group))
		for i, c := range group {
			hashes[i] = c.Hash
		}
		present, err := d.Memo.Has(ctx, hashes)
		if err != nil {
			return err
		}
		for _, c := range group {
			if present[c.Hash] {
				continue
			}
			r, err := requestOf(c)
			if err != nil {
				return err
			}
			calls++
			most.Input += price.EstimateTokens(r.Messages)
			most.Output += mostOutput(r)
		}
		group = group[:0]
		return nil
	}
	for c, err := range d.Memo.AllBatchCalls(ctx, b.id) {
		if err != nil {
			return 0, most, err
		}
		if group = append(group, c); len(group) == together {
			if err := count(); err != nil {
				return 0, most, err
			}
		}
	}
	return calls, most, count()
}
