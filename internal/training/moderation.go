package training

import (
	"context"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/guard"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
)

// Moderator votes on answers. It is a model that package moderate asks or, if Guard is
// set, a guard.
type Moderator struct {
	study.Model
	// Structured is as in moderate.Moderator.
	Structured bool         `json:"structured,omitempty"`
	Guard      *guard.Guard `json:"guard,omitempty"`
}

// vote is the moderator's vote on an answer.
func (m Moderator) vote(policy orbench.Policy, p orbench.Prompt, answer string, look model.Lookup) (moderate.Vote, []model.Request) {
	asked := moderate.Moderator{Name: m.Name, Ref: m.Ref(), Structured: m.Structured, Guard: m.Guard}
	return asked.Vote(policy, moderate.Item{Prompt: p.Transcript(), Turns: p.Messages, Answer: &answer}, look)
}

// Job is the vote on answers as a walk. Moderators are asked about the best answer to
// each safe prompt, and about the next one if that answer does not pass. No plan can
// foresee that, so its Calls assume that every first answer passes.
func (c *Collection) Job() *job.Job {
	j := &job.Job{Further: true, Items: c.walk}
	for _, m := range c.opts.Moderators {
		j.Models = append(j.Models, job.Asked{Ref: m.Ref(), Role: job.Moderator})
	}
	for _, it := range c.moderated() {
		j.Calls += min(c.opts.PerPrompt, len(it.chosen)) * len(c.opts.Moderators)
	}
	j.Sample = func(int) (*job.Job, float64, error) { return j, 1, nil }
	return j
}

// walk walks the items whose answers are put to the vote.
func (c *Collection) walk(ctx context.Context, m store.Reader, s job.Scope) iter.Seq2[job.Item, error] {
	return func(yield func(job.Item, error) bool) {
		calls, err := c.recall(ctx, m, s)
		yield(job.Item{Calls: slices.Concat(calls...)}, err)
	}
}

// Moderate reads the votes in the store and counts the missing ones. An answer without a
// vote does not pass.
func (c *Collection) Moderate(ctx context.Context, m store.Reader) (lacking int, err error) {
	calls, err := c.recall(ctx, m, job.Scope{})
	for _, of := range calls {
		lacking += len(of)
	}
	return lacking, err
}

// moderated lists the items whose answers are put to the vote.
func (c *Collection) moderated() []*item {
	var all []*item
	for _, it := range c.items {
		if len(c.opts.Moderators) > 0 && it.cause == "" && it.prompt.Label == orbench.Safe {
			all = append(all, it)
		}
	}
	return all
}

func (c *Collection) recall(ctx context.Context, m store.Reader, s job.Scope) ([][]job.Call, error) {
	items := c.moderated()
	steps := make([]job.Step, len(items))
	for i, it := range items {
		steps[i] = job.Step{About: job.Call{Role: job.Moderator, Dataset: it.dataset, Prompt: it.prompt.ID, Target: c.manifest.Run, Judge: "moderators"}, Do: c.vote(it)}
	}
	return job.Recall(ctx, m, s, steps)
}

// vote is the step that puts the answers to a prompt to the vote, the best first, until
// enough have passed.
func (c *Collection) vote(it *item) model.Step {
	return func(look model.Lookup) []model.Request {
		passed := 0
		for i, a := range it.chosen {
			if a.outcome = ""; passed == c.opts.PerPrompt {
				continue
			}
			votes := make([]moderate.Vote, len(c.opts.Moderators))
			var missing []model.Request
			for k, moderator := range c.opts.Moderators {
				var lacks []model.Request
				votes[k], lacks = moderator.vote(c.opts.Policy, it.prompt, a.Text, look)
				missing = append(missing, lacks...)
			}
			if len(missing) > 0 {
				for _, open := range it.chosen[i:] {
					open.outcome = Unvoted
				}
				return missing
			}
			switch moderate.Majority.Decide(c.opts.Policy, nil, votes).Label {
			case orbench.Safe:
				passed++
			case orbench.Toxic:
				a.outcome = Harmful
			default:
				a.outcome = Unsettled
			}
		}
		return nil
	}
}
