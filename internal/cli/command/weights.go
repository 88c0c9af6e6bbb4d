package command

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/internal/weights"
	"github.com/orbench/orbench/model"
)

// reused is what a study has already of models on servers of the user's own.
func (r Running) reused(ctx context.Context, m store.Reader) ([]*weights.Reused, error) {
	if !r.Weighs || r.Calls.sameWeights {
		return nil, nil
	}
	return weights.Find(ctx, r.Job, m, func(of model.Ref) bool { return r.Clients.Client(of.Provider, of.Endpoint).Endpoint.Own() })
}

// compareWeights asks servers what they say of themselves, and refuses one that says otherwise
// than when answers were made that the study reuses. Where nothing tells weights apart, it
// gives a check to be made; nil for none.
func (e *Env) compareWeights(ctx context.Context, r Running, m store.Reader) (*weights.Check, error) {
	all, err := r.reused(ctx, m)
	if err != nil {
		return nil, err
	}
	var asked []*weights.Reused
	for _, of := range all {
		said, reached := r.Clients.Described(of.Ref)
		change, n := of.Differs(said)
		switch {
		case !reached && of.Target:
			e.Infof("%s does not answer, so orbench cannot tell whether it still has the weights that made its %s", of.Ref, table.Counted(of.N, "stored answer", "stored answers"))
		case n > 0 && of.Target:
			return nil, otherWeights(weights.Found{Reused: of, Change: change, Changed: n})
		case n > 0:
			e.Infof("warning: %s", untrusted.Terminal(weights.Found{Reused: of, Change: change, Changed: n}.String()))
		case of.Target && !of.Known(said):
			asked = append(asked, of)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	if r.Calls.ByWorkers {
		e.Infof("orbench cannot tell whether %s still has the weights that made its stored answers: with workers it does not check", asked[0].Ref)
		return nil, nil
	}
	return weights.NewCheck(asked, time.Now()), nil
}

// otherWeights is what ends a command whose target has other weights.
func otherWeights(f weights.Found) error {
	return &orbench.InputError{
		Problem: untrusted.Terminal(f.String()),
		Hint:    "the weights have probably changed: ask everything again with `fresh`, under another `name`, or with `revision=TEXT`; if they are the same, say `same-weights=true`",
		Err:     ErrOtherWeights,
	}
}

// observe has the check take the new responses that a filling observes, and end it where a
// target has other weights. An observer is not told of calls of the check.
func observe(c *weights.Check, observer func(model.Request, model.Response), stop context.CancelCauseFunc) func(model.Request, model.Response) {
	if c == nil {
		return observer
	}
	asked := map[model.Hash]bool{}
	for _, r := range c.Requests() {
		asked[r.Hash()] = true
	}
	return func(r model.Request, response model.Response) {
		if other := c.Note(r, response); other != nil {
			stop(otherWeights(*other))
		}
		if observer != nil && !asked[r.Hash()] {
			observer(r, response)
		}
	}
}

// fillBy makes the calls of the study, after those of its check: answers of other weights would
// be kept among its own.
func (r Running) fillBy(ctx context.Context, by fill.Filler, memory store.Reader) error {
	if checks := r.check.Requests(); len(checks) > 0 {
		err := by.Fill(ctx, fill.Work{Fixed: func(context.Context) iter.Seq2[model.Request, error] {
			return func(yield func(model.Request, error) bool) {
				for _, q := range checks {
					if !yield(q, nil) {
						return
					}
				}
			}
		}})
		if err != nil {
			return err
		}
	}
	return r.Job.Fill(ctx, by, memory)
}

// planCheck says what a check would send at most, by model, as far as that is known without
// asking the servers.
func (r Running) planCheck(ctx context.Context, m store.Reader) (plans []job.Plan, err error) {
	all, err := r.reused(ctx, m)
	if err != nil || r.Calls.ByWorkers {
		return nil, err
	}
	for _, of := range slices.DeleteFunc(all, func(of *weights.Reused) bool { return !of.Target || of.Known("") }) {
		p := job.Plan{Provider: of.Provider, Endpoint: of.Endpoint, Model: of.Model, Role: "check"}
		for _, q := range weights.NewCheck([]*weights.Reused{of}, time.Now()).Requests() {
			p.Calls++
			p.InputTokens += price.EstimateTokens(q.Messages)
			p.MaxOutputTokens += weights.Tokens
		}
		if p.Calls > 0 {
			plans = append(plans, p)
		}
	}
	return plans, nil
}

// sayWeights says what came of a check, and notes it in the history of the study.
func (e *Env) sayWeights(r Running, stopped error, prices price.Table) {
	if r.check == nil {
		return
	}
	for _, f := range r.check.Found() {
		note := provenance.Check{Date: time.Now().UTC().Truncate(time.Second), Of: f.Ref.String(), Decision: string(f.Decision), Prompts: f.Prompts, Odd: f.Odd, SharedTokens: f.Shared}
		note.Calls, note.Tokens = f.Replies, f.Usage.Input+f.Usage.Output
		if p, ok := prices.Price(f.Provider, f.Model); ok {
			usd := p.Cost(f.Usage)
			note.USD = &usd
		}
		r.Study.History.Checks = append(r.Study.History.Checks, note)
		cost := fmt.Sprintf("the check took %s and %s tokens; `same-weights=true` leaves it out", table.Counted(note.Calls, "call", "calls"), table.Count(note.Tokens))
		line := ""
		switch {
		case f.Decision == weights.Other, f.Decision == weights.Unknown && stopped != nil:
			continue // what ended the command is said by its error
		case f.Decision == weights.Doubtful:
			line = fmt.Sprintf("warning: the weights may have changed: %s. Another program or machine has the same effect; `fresh` asks everything again; %s", f, cost)
		case f.Decision == weights.Unknown:
			line = fmt.Sprintf("orbench cannot tell whether %s still has the weights that made its %s: too few are long enough to compare", f.Ref, table.Counted(f.N, "stored answer", "stored answers"))
		default:
			line = fmt.Sprintf("no sign of other weights: %s. A light fine-tune can go unnoticed; %s", f, cost)
		}
		e.Infof("%s", untrusted.Terminal(settings.Rename(line, e.FlagOf)))
	}
}
