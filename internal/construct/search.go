package construct

import (
	"context"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Search makes a build look for prompts that targets refuse. Each generation mutates and
// recombines the fittest prompts so far. A prompt that all targets answer is dropped
// before the moderators see it.
type Search struct {
	// Targets are the models' names in Builder.Refs.
	Targets []string
	// Samples is the number of answers of each target to a prompt, at least 1. One is
	// asked for at temperature 0, several at temperature 1.
	Samples int
	// Calls bounds the calls of the generations, without those for the prompts that they
	// start from.
	Calls int
}

const (
	// probes is how many prompts of each category of an earlier build the targets are asked
	// first.
	probes = 50
	// batches is how many calls for new prompts a generation makes.
	batches = 8
)

// search runs generations until the calls do not suffice for another.
func (r *run) search(ctx context.Context) error {
	r.found = newPopulation(r.Search)
	if r.Base != nil {
		if err := r.probe(ctx); err != nil {
			return err
		}
	} else if err := r.round(ctx, r.gatherAll(ctx)); err != nil {
		return err
	}
	for _, s := range r.seeds {
		r.seedTexts[s.ID] = s.Text
	}
	started := r.asked()
	r.found.endGeneration(started)
	for before := started; ; {
		n := min(batches, (r.Search.Calls-(before-started))/r.mostCalls())
		if n <= 0 || len(r.found.members) == 0 {
			return nil
		}
		r.generation++
		// All calls of a generation are shown the same openings.
		made := map[orbench.Category]generator.Made{}
		for c, m := range r.made {
			made[c] = m.shown()
		}
		if err := settleAll(ctx, r, job.Each(r.found.draw(r.Config.Sampling, n)), func(ctx context.Context, m mutation) ([]*benchmark.Record, error) {
			return r.mutate(ctx, m, made[m.parent.Category])
		}, r.noteMutation); err != nil {
			return err
		}
		asked := r.asked()
		r.found.endGeneration(asked - before)
		before = asked
	}
}

// asked counts the calls so far.
func (r *run) asked() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// mostCalls is the most that one call for new prompts can lead to.
func (r *run) mostCalls() int {
	verdict := judge.Case{Prompt: orbench.NewPrompt("one", "", orbench.Safe), Response: model.Response{Text: "two", Finish: model.Stop}}
	_, judged := r.Judge.Verdict(verdict, model.NoReplies)
	// Moderators and judges are asked again for what cannot be read.
	answers := (len(r.Search.Targets)*r.Search.Samples + len(r.Config.Hard.Selectors)) * (1 + 2*len(judged))
	others := 2 * len(r.moderators)
	if r.Config.SecondChance.Model != "" {
		others = 2*others + 1
	}
	if r.Config.Rewrites.Turns > 1 {
		others += listTries
	}
	return 1 + r.Config.Rewrites.PerSeed*(answers+others)
}

// probe asks the targets some safe prompts of the earlier builds.
func (r *run) probe(ctx context.Context) error {
	var drawn []*benchmark.Record
	taken := map[orbench.Category]int{}
	for _, record := range inLots(r.Config.Sampling, "probe", r.safe, func(r *benchmark.Record) string { return string(r.ID) }) {
		r.found.measure(record)
		if taken[record.Category] < probes {
			taken[record.Category]++
			drawn = append(drawn, record)
		}
	}
	return job.InOrder(ctx, r.Width, job.Each(drawn), func(ctx context.Context, record *benchmark.Record) (*benchmark.Record, error) {
		return record, r.askTargets(ctx, record)
	}, func(record *benchmark.Record) error {
		r.found.note(record)
		return nil
	})
}

// askTargets asks the targets a prompt, one after the other, and has the answers judged.
func (r *run) askTargets(ctx context.Context, record *benchmark.Record) error {
	record.Targets = nil
	for _, name := range r.Search.Targets {
		for sample := range r.Search.Samples {
			request := r.request(name, r.Config.Hard.MaxTokens, record.Asked())
			if r.Search.Samples > 1 {
				request.Params.Temperature, request.Sample = new(1.0), sample
			}
			reply, err := r.judged(ctx, benchmark.Selector{Model: name}, request, record.Asked())
			if err != nil {
				return err
			}
			record.Targets = append(record.Targets, *reply)
		}
	}
	return nil
}

// mutate asks for new prompts made of a parent, or of two, and gives a row for every item
// of the reply. What breaks a rule is not repaired, since another costs less.
func (r *run) mutate(ctx context.Context, m mutation, made generator.Made) ([]*benchmark.Record, error) {
	name, ref := r.rewriter(benchmark.Seed{ID: m.parent.ID})
	params := r.rewriteParams(ref)
	params.Varied = r.varied(made, string(m.parent.ID), 0)
	other, parents := "", []orbench.PromptID{m.parent.ID}
	if m.other != nil {
		other, parents = m.other.Text, append(parents, m.other.ID)
	}
	wanted := r.Config.Rewrites.PerSeed
	request := generator.MutateRequest(ref, params, m.operator, m.parent.Text, other, wanted, m.sample)
	response, ok, err := r.ask(ctx, benchmark.RewriterRole, request)
	if err != nil || !ok {
		return nil, err
	}
	items := generator.Read(response, generator.Question{Request: request, About: m.parent.Text, Category: string(m.parent.Category)})
	r.noteItems(benchmark.RewriterRole, name, wanted, items)
	as := benchmark.Record{
		Category: m.parent.Category, Round: m.parent.Round, SeedID: m.parent.SeedID,
		Rewriter: name, Call: request.Hash().String(), Operator: m.operator, Parents: parents,
	}
	return r.recordsOf(ctx, items, as, ref, func(record *benchmark.Record) error {
		if record.Broken = rules(r.lint(r.seedTexts[record.SeedID], record.Text)); len(record.Broken) > 0 {
			record.Dropped = benchmark.BrokenRule
		}
		return nil
	})
}

// noteMutation counts a call for new prompts, and those that went no further.
func (r *run) noteMutation(_ mutation, records []*benchmark.Record) {
	r.found.mutations++
	if len(records) == 0 {
		r.found.unreadable++
	}
}
