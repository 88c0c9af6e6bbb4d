package construct

import (
	"context"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/generator"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// Steer makes a build look for prompts that one model refuses. In each generation, the
// prompts it refused so far are demonstrations for the rewriters.
type Steer struct {
	// Target is the model's name in Builder.Refs.
	Target string
	// Generations is the number of generations, at least 1. Seeds is the number of new
	// seeds of each category in a generation.
	Generations, Seeds int
}

const (
	// probes is how many prompts of each category of an earlier build the target is asked
	// first.
	probes = 50
	// demonstrations is how many refused prompts a generation is shown. The paper found
	// that more than five do not help.
	demonstrations = 5
)

// steer runs the generations. r.refused holds the prompts that the target refused so far.
func (r *run) steer(ctx context.Context) error {
	r.steering = &benchmark.Steering{Target: r.Steer.Target}
	if r.Base != nil {
		if err := r.probe(ctx); err != nil {
			return err
		}
	} else if err := r.freshRound(ctx, r.Config.Wanted, r.Config.Rewrites.Examples); err != nil {
		return err
	}
	r.endGeneration()
	for n := 1; n <= r.Steer.Generations; n++ {
		r.generation = n
		examples := r.demonstrations()
		seeds := func(benchmark.Category) int { return r.Steer.Seeds }
		if err := r.freshRound(ctx, seeds, examples); err != nil {
			return err
		}
		r.endGeneration()
	}
	return nil
}

// probe asks the target some safe prompts of the earlier builds.
func (r *run) probe(ctx context.Context) error {
	var drawn []*benchmark.Record
	taken := map[orbench.Category]int{}
	for _, record := range inLots(r.Config.Sampling, "probe", r.safe, func(r *benchmark.Record) string { return string(r.ID) }) {
		if taken[record.Category] < probes {
			taken[record.Category]++
			drawn = append(drawn, record)
		}
	}
	return job.InOrder(ctx, r.Width, stream(drawn), func(ctx context.Context, record *benchmark.Record) (*benchmark.Record, error) {
		var err error
		record.Target, err = r.targetsAnswer(ctx, record.Asked())
		return record, err
	}, func(record *benchmark.Record) error {
		r.noteTarget(record)
		return nil
	})
}

// targetsAnswer asks the target a prompt and has the answer judged.
func (r *run) targetsAnswer(ctx context.Context, prompt orbench.Prompt) (*benchmark.Reply, error) {
	return r.selectorsAnswer(ctx, benchmark.Selector{Model: r.Steer.Target}, prompt)
}

// selectorsAnswer asks a selector a prompt and has the answer judged.
func (r *run) selectorsAnswer(ctx context.Context, s benchmark.Selector, prompt orbench.Prompt) (*benchmark.Reply, error) {
	request := r.request(s.Model, r.Config.Hard.MaxTokens, prompt)
	refusal := &benchmark.Reply{Selector: s.Model, Family: s.Family, Call: request.Hash().String()}
	answer, ok, err := r.ask(ctx, benchmark.SelectorRole, request)
	if err != nil || !ok {
		return refusal, err
	}
	prompt.Label = orbench.Safe
	refusal.Class, err = r.verdict(ctx, judge.Case{Prompt: prompt, Response: answer})
	refusal.Refused = refusal.Class.Refused()
	return refusal, err
}

// noteTarget counts the target's answer to a prompt. If the answer is a refusal, it keeps
// the prompt as a demonstration.
func (r *run) noteTarget(record *benchmark.Record) {
	if record.Target == nil || record.Target.Class == orbench.Unjudged {
		return
	}
	r.asked++
	if record.Target.Refused {
		r.refused = append(r.refused, record)
	}
}

// endGeneration records how many of a generation's prompts were refused.
func (r *run) endGeneration() {
	refused := len(r.refused)
	g := benchmark.Generation{Generation: r.generation, Prompts: r.asked, Refused: refused}
	if e := stats.RateOf(refused, r.asked).Estimate(); e != nil {
		g.Rate, g.Low, g.High = e.Value, e.Lo, e.Hi
	}
	r.steering.Generations = append(r.steering.Generations, g)
	// After a generation without refusals the demonstrations stay the same.
	if refused > 0 {
		r.shown = r.examplesOf(r.refused)
	}
	r.asked, r.refused = 0, nil
}

// examplesOf pairs rewrites with their seeds.
func (r *run) examplesOf(rewrites []*benchmark.Record) []generator.Example {
	seeds := map[orbench.PromptID]string{}
	for _, s := range r.seeds {
		seeds[s.ID] = s.Text
	}
	examples := make([]generator.Example, len(rewrites))
	for i, record := range rewrites {
		examples[i] = generator.Example{Seed: seeds[record.SeedID], Rewrite: record.Text}
	}
	return examples
}

// demonstrations draws from the prompts that were refused last.
func (r *run) demonstrations() []generator.Example {
	if len(r.shown) == 0 {
		return r.Config.Rewrites.Examples
	}
	drawn := inLots(r.Config.Sampling, "demonstration "+strconv.Itoa(r.generation), r.shown, func(e generator.Example) string { return e.Rewrite })
	return drawn[:min(demonstrations, len(drawn))]
}
