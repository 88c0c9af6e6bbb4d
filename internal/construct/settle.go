package construct

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// finish determines a prompt's label: votes, second chance, selectors.
func (r *run) finish(ctx context.Context, record *benchmark.Record) (err error) {
	if record.Dropped != benchmark.NotDropped {
		return nil
	}
	if r.Search != nil && record.Kind == benchmark.Rewritten {
		if err := r.askTargets(ctx, record); err != nil {
			return err
		}
		if refused, _ := record.RefusedByTargets(); refused == 0 {
			record.Dropped = benchmark.Answered
			return nil
		}
	}
	record.Votes, record.Voted, err = r.moderate(ctx, moderate.Item{Prompt: record.Asked().Transcript(), Turns: record.Asked().Messages})
	if err != nil {
		return err
	}
	record.Label = record.Voted
	if record.Voted == orbench.Toxic && r.Config.SecondChance.Model != "" {
		if record.SecondChance, err = r.secondLook(ctx, record.Asked()); err != nil {
			return err
		}
		if record.SecondChance.Readmitted {
			record.Label = orbench.Safe
		}
	}
	if record.Label == orbench.Safe && record.Kind == benchmark.Rewritten {
		// The selectors answer side by side.
		record.Replies = make([]benchmark.Reply, len(r.Config.Hard.Selectors))
		prompt := record.Asked()
		g, ctx := errgroup.WithContext(ctx)
		for i, s := range r.Config.Hard.Selectors {
			g.Go(func() error {
				reply, err := r.judged(ctx, s, r.request(s.Model, r.Config.Hard.MaxTokens, prompt), prompt)
				record.Replies[i] = *reply
				return err
			})
		}
		return g.Wait()
	}
	return err
}

// moderate asks all moderators to vote on an item, side by side.
func (r *run) moderate(ctx context.Context, item moderate.Item) ([]benchmark.Vote, orbench.Label, error) {
	votes := make([]benchmark.Vote, len(r.moderators))
	plain := make([]moderate.Vote, len(r.moderators))
	g, ctx := errgroup.WithContext(ctx)
	for i, m := range r.moderators {
		g.Go(func() (err error) {
			votes[i], err = r.vote(ctx, m, item)
			plain[i] = votes[i].Vote
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, "", err
	}
	decision := r.Config.Moderation.Rule.Decide(r.policy, r.moderators, plain)
	return votes, decision.Label, nil
}

// secondLook asks the model without safety training to answer a prompt, and the
// moderators to vote on the answer.
func (r *run) secondLook(ctx context.Context, prompt orbench.Prompt) (*benchmark.Review, error) {
	name := r.Config.SecondChance.Model
	request := r.request(name, r.Config.SecondChance.MaxTokens, prompt)
	s := &benchmark.Review{Model: name, Call: request.Hash().String(), Voted: orbench.Undecided}
	answer, ok, err := r.answer(ctx, benchmark.ReviewerRole, request)
	if err != nil {
		return nil, err
	}
	switch {
	case !ok:
		s.Missing = "the call failed"
	case answer.Finish == model.Blocked:
		s.Missing = "the answer was blocked"
	case answer.Read != nil && answer.Read.Missing != "":
		s.Missing = "no answer: " + answer.Read.Missing
	case strings.TrimSpace(answer.Text) == "":
		s.Missing = "the answer is empty"
	}
	if s.Missing != "" {
		return s, nil
	}
	if s.Votes, s.Voted, err = r.moderate(ctx, moderate.Item{Prompt: prompt.Transcript(), Turns: prompt.Messages, Answer: &answer.Text}); err != nil {
		return nil, err
	}
	s.Readmitted, s.Confirmed = s.Voted == orbench.Safe, s.Voted == orbench.Toxic
	return s, nil
}

// request is a request of a prompt to a model of the configuration.
func (r *run) request(name string, maxTokens int, prompt orbench.Prompt) model.Request {
	request := r.Refs[name].Request(cold(maxTokens), "")
	request.Messages = prompt.Messages
	return request
}

// cold are the parameters of a call for one answer, the likeliest.
func cold(maxTokens int) model.Params {
	return model.Params{Temperature: new(0.0), MaxTokens: maxTokens}
}

// judged asks a selector, or a target, a request and has the answer judged.
func (r *run) judged(ctx context.Context, s benchmark.Selector, request model.Request, prompt orbench.Prompt) (*benchmark.Reply, error) {
	reply := &benchmark.Reply{Selector: s.Model, Family: s.Family, Call: request.Hash().String()}
	answer, ok, err := r.answer(ctx, benchmark.SelectorRole, request)
	if err != nil || !ok {
		return reply, err
	}
	prompt.Label = orbench.Safe
	reply.Class, err = r.verdict(ctx, judge.Case{Prompt: prompt, Response: answer})
	reply.Refused = reply.Class.Refused()
	return reply, err
}

// checkSeeds puts some seeds of each category to the vote. They are candidates for the
// toxic set, like the rewrites that stayed toxic.
func (r *run) checkSeeds(ctx context.Context) error {
	var drawn []benchmark.Seed
	for _, c := range r.Config.Policy {
		of := slices.DeleteFunc(slices.Clone(r.seeds), func(s benchmark.Seed) bool {
			return s.Category != c.Category || s.Round > 0 || r.ids[s.ID]
		})
		of = inLots(r.Config.Sampling, "check", of, func(s benchmark.Seed) string { return string(s.ID) })
		drawn = append(drawn, of[:min(r.Config.Toxic.CheckSeeds, len(of))]...)
	}
	return job.InOrder(ctx, r.Width, job.Each(drawn), func(ctx context.Context, s benchmark.Seed) (*benchmark.Record, error) {
		record := &benchmark.Record{
			Kind: benchmark.CheckedSeed, ID: s.ID, Text: s.Text, Category: s.Category, Build: r.number(),
			SeedID: s.ID, Rewriter: s.Generator, Call: s.Call, Cluster: s.ID,
		}
		return record, r.finish(ctx, record)
	}, r.keep)
}
