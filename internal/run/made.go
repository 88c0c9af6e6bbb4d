package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Made gives the figures and the rows of the run as of gives them, and says how it was
// made. sinks.Usage is not for the caller.
func (r *Run) Made(ctx context.Context, m store.Reader, sinks evaluate.Sinks, of Figures) (score.Result, provenance.Made, error) {
	used := price.Usage{}
	sinks.Usage = used
	result, err := of(ctx, m, r, sinks)
	if err != nil {
		return result, provenance.Made{}, err
	}
	made, err := r.made(used, result)
	return result, made, err
}

// batches lists the replies that came by batch, by provider and discount. There is no discount
// for a model without a known price, such as one on a server of one's own.
func batches(prices price.Table, used price.Usage) (all []provenance.Batch) {
	for _, of := range slices.SortedFunc(maps.Keys(used), func(a, b model.Ref) int { return cmp.Compare(a.String(), b.String()) }) {
		n := used[of].Batched.Replies
		if n == 0 {
			continue
		}
		b := provenance.Batch{Provider: of.Provider}
		_, priced := prices.Price(of.Provider, of.Model)
		if d, ok := prices.Discount(of.Provider, of.Model); ok && priced {
			b.Factor, b.AsOf, b.Source = &d.Factor, d.AsOf, d.Source
		}
		table.Entry(&all, b, func(o provenance.Batch) bool {
			known := b.Factor != nil && o.Factor != nil
			return b.Provider == o.Provider && (known && *b.Factor == *o.Factor || b.Factor == o.Factor)
		}).Replies += n
	}
	return all
}

// served lists the names under which replies came, by target and by judge.
func served(result score.Result) (all []provenance.Served) {
	add := func(of string, names []score.ServedBy) {
		for _, by := range names {
			name := provenance.Served{Of: of, Model: by.Model, As: string(by.As)}
			table.Entry(&all, name, func(s provenance.Served) bool { s.N = 0; return s == name }).N += by.N
		}
	}
	for _, of := range result.Runs {
		add(of.Target, of.ServedBy)
		for _, j := range of.Judges {
			add(j.Judge, j.ServedBy)
		}
	}
	return all
}

// made says how the run was made, whose replies are counted in used, with the names in its
// figures.
func (r *Run) made(used price.Usage, result score.Result) (provenance.Made, error) {
	made := provenance.Made{
		Run: r.Name, Date: r.History.Date(), Commands: r.History.Commands, Settings: r.Settings(),
		Datasets: []provenance.Dataset{}, Judges: []provenance.Judge{},
	}
	if made.Date.IsZero() {
		made.Date = r.Saved
	}
	if made.Commands == nil {
		made.Commands = []provenance.Command{}
	}
	for i, set := range r.Datasets {
		d := provenance.Dataset{Dataset: set.Name, SHA256: set.SHA256}
		if i < len(r.lost) {
			d.LostPrompts = r.lost[i]
		}
		made.Datasets = append(made.Datasets, d)
	}
	for i, j := range r.Judges {
		of := provenance.Judge{Judge: j.Name(), Version: judge.Version(j)}
		if i < len(r.Config.Judges) {
			if was := cmp.Or(r.Config.Judges[i].Version, of.Version); was != of.Version {
				of.Was = was
			}
		}
		made.Judges = append(made.Judges, of)
	}
	made.Served, made.Checks = served(result), r.History.Checks
	prices := price.Default()
	if len(r.History.Prices) > 0 {
		var err error
		if prices, err = prices.With(strings.NewReader(string(r.History.Prices)), "the prices of run "+r.Name); err != nil {
			return made, fmt.Errorf("what the store keeps of run %s is damaged: %w", r.Name, err)
		}
	}
	for _, of := range used {
		made.Cost.Replies += of.Replies
		made.Cost.InputTokens += of.Tokens.Input
		made.Cost.OutputTokens += of.Tokens.Output
		made.Cost.EstimatedReplies += of.Estimated
	}
	made.Cost.Batches = batches(prices, used)
	var answers price.Span
	for _, ref := range r.Run.Targeted() {
		answers = answers.And(used[ref].Made)
	}
	if !answers.First.IsZero() {
		answers.First, answers.Last = answers.First.UTC(), answers.Last.UTC()
		made.Answers = &answers
	}
	usd, unpriced := prices.Total(used)
	if made.Cost.Unpriced = unpriced; len(unpriced) == 0 {
		made.Cost.USD = &usd
	}
	made.Cost.FailedAttempts, made.Cost.CutOff, made.Cost.FailedUSD = r.History.FailedCost()
	return made, nil
}
