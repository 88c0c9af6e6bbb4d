package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/internal/weights"
	"github.com/orbench/orbench/model"
)

// checks are those of models that may answer otherwise by now than when the replies were made that
// a study reuses: targets whose servers run weights, and models that judge. There is none of a
// target for which reused is false.
func (r Running) checks(ctx context.Context, m store.Reader, reused func(model.Ref) bool) ([]*weights.Check, error) {
	if r.Refused == nil || m == nil {
		return nil, nil
	}
	var models []job.Asked
	judges := false
	for _, of := range r.Job.Models {
		runs, _ := r.Clients.RunsWeights(of.Ref)
		asked := job.Asked{Ref: of.Ref, Role: of.Role}
		if (of.Role.Judges() && of.Provider != score.SimProvider || of.Role == job.Target && runs && reused(of.Ref)) && !slices.Contains(models, asked) {
			judges = judges || of.Role.Judges()
			models = append(models, asked)
		}
	}
	if len(models) == 0 {
		return nil, nil
	}
	jobs := []*job.Job{r.Job}
	if judges {
		others, err := r.Judged(ctx, m, r.Clients.RunsWeights)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, others...)
	}
	// What is out in a batch lacks nothing, but for the command that takes it back.
	var out map[model.Hash]bool
	if !r.Calls.byFiles() {
		var err error
		if out, err = batch.OpenCalls(ctx, m); err != nil {
			return nil, err
		}
	}
	return weights.Find(ctx, models, jobs, m, r.Refused, out)
}

// check asks models some stored calls again where the study reuses replies of theirs and lacks
// others. The error is an ErrOtherWeights where one answers otherwise than before.
func (e *Env) check(ctx context.Context, r Running, d *batch.Manager) error {
	all, err := r.checks(ctx, d.Store, func(model.Ref) bool { return true })
	if err != nil {
		return err
	}
	var checks []*weights.Check
	var requests []model.Request
	asking := &job.Job{Name: r.Job.Name}
	for _, c := range all {
		// vLLM answers for no model but those that it lists, such as one of several on a GPU.
		if said := r.Clients.Described(c.Ref); said.Listed == nil || said.Value("owned_by") != "vllm" {
			if err := describedOtherwise(c, said.Description); err != nil {
				return err
			}
			if c.Known(said.Description) {
				continue
			}
		}
		checks, requests = append(checks, c), append(requests, c.Requests...)
		asking.Models = append(asking.Models, job.Asked{Ref: c.Ref, Role: c.Role, Fixed: true})
	}
	if asking.Calls = len(requests); asking.Calls > 0 {
		if err := e.fillCheck(ctx, r, d, asking, requests); err != nil {
			return err
		}
	}
	replies, err := d.Store.Get(ctx, table.RowsOf(requests, model.Request.Hash))
	if err != nil {
		return err
	}
	look := func(q model.Request) (model.Response, bool) {
		response, ok := replies[q.Hash()]
		return response, ok
	}
	for _, c := range checks {
		o := c.Outcome(look, r.Refused)
		note := provenance.Check{Of: c.Ref.String(), Prompts: o.Compared, Odd: o.Odd, Parted: o.Parted}
		var usage model.Usage
		for _, q := range c.Requests {
			if response, ok := look(q); ok {
				if err := describedOtherwise(c, c.Said(response)); err != nil {
					return err
				}
				note.Calls++
				usage.Add(price.UsageOf(q.Messages, response))
			}
		}
		if note.Calls == 0 && len(c.Requests) > 0 {
			continue // the study's own calls fail as well, and say why
		}
		if p, ok := d.Prices.Price(c.Provider, c.Model); ok {
			note.USD = new(p.Cost(usage))
		}
		note.Tokens = usage.Input + usage.Output
		line := r.noteCheck(c, o, note)
		if o.Other {
			// What was paid is kept, though nothing else is asked.
			return errors.Join(OtherWeights(c.Asked, line), e.Paid(ctx, d.Store, r.Study, fill.Stats{Requests: note.Calls}))
		}
		e.Infof("%s", untrusted.Terminal(line))
	}
	return nil
}

// fillCheck makes the calls of a check before those of the study: replies of other weights would
// be kept among its own.
func (e *Env) fillCheck(ctx context.Context, r Running, d *batch.Manager, asking *job.Job, requests []model.Request) error {
	asking.Fixed = func(context.Context) iter.Seq2[model.Request, error] { return job.Each(requests) }
	account, spent, err := d.Account(ctx, r.Calls.Budget(), false)
	if err != nil {
		return err
	}
	r.Job = asking
	_, err = e.fill(ctx, r, d, account, spent)
	if errors.As(err, new(*fill.GivenUpError)) {
		return nil
	}
	return err
}

// noteCheck notes what came of a check in the history of the study, and says it in a line.
func (r Running) noteCheck(c *weights.Check, o weights.Outcome, note provenance.Check) string {
	note.Date, note.Decision = time.Now().UTC().Truncate(time.Second), "same"
	of := "stored answers"
	if c.Role.Judges() {
		of = "stored verdicts"
	}
	line := fmt.Sprintf("%s: %d of its %d %s were asked twice again; %d came out otherwise both times", shownRef(c.Ref), o.Compared, c.N, of, o.Odd)
	switch {
	case o.Other:
		note.Decision = "other"
	case o.Finds == 0:
		note.Decision, line = "unknown", fmt.Sprintf("%s: its %d %s are too few to tell whether it still answers as it did", shownRef(c.Ref), c.N, of)
	default:
		line += fmt.Sprintf(": no sign of a change; one of 10%% is seen in %.0f of 100 such checks", 100*o.Finds)
	}
	r.Study.History.Checks = append(r.Study.History.Checks, note)
	return line
}

// describedOtherwise is an ErrOtherWeights where a server says otherwise of itself now than when
// some of the stored replies were made.
func describedOtherwise(r *weights.Check, now client.Description) error {
	change, n, of := r.Differs(now)
	if n == 0 {
		return nil
	}
	return OtherWeights(r.Asked, fmt.Sprintf("%s describes itself otherwise than when %d of %d stored replies were made: %s", shownRef(r.Ref), n, of, change))
}

// shownRef is a model with the address of its server.
func shownRef(of model.Ref) string {
	if of.Endpoint == "" {
		return of.String()
	}
	return of.String() + " at " + of.Endpoint
}

// OtherWeights is what ends a command that would count the replies of two models as one's.
func OtherWeights(of job.Asked, problem string) error {
	hint := "the weights have probably changed: ask all again with `fresh`, or measure them under another `name`"
	if of.Role.Judges() {
		hint = "the judge has probably changed: have the answers of each run judged again with orbench judge RUN --judge JUDGE --fresh"
		if of.Endpoint != "" {
			hint += " --base-url " + untrusted.Shell(of.Provider+"="+of.Endpoint)
		}
	}
	return &orbench.InputError{Problem: untrusted.Terminal(problem), Hint: hint, Err: ErrOtherWeights}
}

// planCheck says what checks would send at most, by model, as far as that is known without
// asking the servers. of are the plans of what is checked.
func (r Running) planCheck(ctx context.Context, m store.Reader, of []job.Plan) (plans []job.Plan, err error) {
	checks, err := r.checks(ctx, m, func(ref model.Ref) bool {
		return slices.ContainsFunc(of, func(p job.Plan) bool { return p.Provider == ref.Provider && p.Model == ref.Model && p.Met() })
	})
	for _, c := range checks {
		p := job.Plan{Provider: c.Provider, Endpoint: c.Endpoint, Model: c.Model, Role: "check"}
		for _, q := range c.Requests {
			p.Calls++
			p.InputTokens += price.EstimateTokens(q.Messages)
			p.MaxOutputTokens += q.Params.MaxTokens
		}
		if p.Calls > 0 {
			plans = append(plans, p)
		}
	}
	return plans, err
}
