package run

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Start keeps the run as a command begins to ask for it, which goes by some prices.
// The history of a stored run of its name goes on, unless it is redefined. A command
// that leaves the run as it is enters it when it pays for a call; see Paid.
func (r *Run) Start(ctx context.Context, m *store.Store, c provenance.Command, prices price.Table) error {
	config, err := json.Marshal(r.Config)
	if err != nil {
		return err
	}
	kept, err := r.resume(ctx, m)
	if err != nil {
		return err
	}
	if len(r.History.Commands) == 0 || !bytes.Equal(kept.Config, config) {
		r.History.Start(c)
	}
	r.History.Prices = nil
	if known := prices.Of(r.Models()); len(known) > 0 {
		if r.History.Prices, err = json.Marshal(known); err != nil {
			return err
		}
	}
	return r.Save(ctx, m)
}

// Resume takes over the history of the stored run of its name, unless the run redefines it.
func (r *Run) Resume(ctx context.Context, m store.Reader) error {
	_, err := r.resume(ctx, m)
	return err
}

// resume is Resume that gives the stored run, empty where there is none.
func (r *Run) resume(ctx context.Context, m store.Reader) (kept store.Run, err error) {
	kept, err = m.Run(ctx, r.Name)
	if errors.Is(err, store.ErrNoRun) {
		return kept, nil
	}
	if err != nil {
		return kept, err
	}
	stored, err := decode(kept)
	if err == nil && len(r.redefines(ctx, stored.Config)) == 0 {
		r.History = stored.History
	}
	return kept, err
}

// Paid keeps that the command paid for calls, the last of them at a time.
func (r *Run) Paid(ctx context.Context, m *store.Store, c provenance.Command, at time.Time) error {
	r.History.Start(c)
	r.History.LastPaid = at
	saved, err := r.stored()
	if err != nil {
		return err
	}
	return m.SaveRun(ctx, saved)
}

// Failed keeps what failed attempts of the command that began at a time may have cost so
// far, so that it is known of a command that is killed too.
func (r *Run) Failed(ctx context.Context, m *store.Store, began time.Time, s fill.Stats) error {
	kept, err := m.Run(ctx, r.Name)
	if err != nil {
		return err
	}
	stored, err := decode(kept)
	if err != nil {
		return err
	}
	// Another process may have kept its own meanwhile.
	for _, f := range stored.History.Failed {
		r.History.Fail(f)
	}
	r.History.Fail(provenance.Failed{
		Began: began, Attempts: s.Charged, USD: Cost(s).FailedUSD, Tokens: s.FailedTokens, Free: max(0, s.Unanswered()-s.Charged), Judging: r.Recorded,
	})
	saved, err := r.stored()
	if err != nil {
		return err
	}
	return m.SaveRun(ctx, saved)
}

// Made derives the run as Derive does, for whoever takes its rows, and says how it was
// made. sinks.Usage is not for the caller.
func (r *Run) Made(ctx context.Context, m store.Reader, sinks evaluate.Sinks) (score.Result, provenance.Made, error) {
	used := price.Usage{}
	sinks.Usage = used
	result, err := r.DeriveTo(ctx, m, sinks)
	if err != nil {
		return result, provenance.Made{}, err
	}
	made, err := r.made(used)
	return result, made, err
}

// batches lists the replies that came by batch, by provider and discount. Where the price
// of a model is unknown, as on servers of one's own, no discount is.
func batches(prices price.Table, used price.Usage) []provenance.Batch {
	var all []provenance.Batch
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
		i := slices.IndexFunc(all, func(o provenance.Batch) bool {
			known := b.Factor != nil && o.Factor != nil
			return b.Provider == o.Provider && (known && *b.Factor == *o.Factor || b.Factor == o.Factor)
		})
		if i < 0 {
			i = len(all)
			all = append(all, b)
		}
		all[i].Replies += n
	}
	return all
}

// made says how the run was made, whose replies are counted in used.
func (r *Run) made(used price.Usage) (provenance.Made, error) {
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
	}
	made.Cost.Batches = batches(prices, used)
	usd, unpriced := prices.Total(used)
	if made.Cost.Unpriced = unpriced; len(unpriced) == 0 {
		made.Cost.USD = &usd
	}
	made.Cost.FailedAttempts, made.Cost.FailedUSD = r.History.FailedCost()
	return made, nil
}
