package training

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/guard"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
)

// Moderator votes on answers: a model that is asked by package moderate or, where Guard
// is set, a guard.
type Moderator struct {
	Name string
	Ref  model.Ref
	// Structured is as in moderate.Moderator.
	Structured bool
	Guard      *guard.Guard
}

// vote is what the moderator says of an answer. A guard goes by its own policy.
func (m Moderator) vote(policy orbench.Policy, p orbench.Prompt, answer string, look model.Lookup) (moderate.Vote, []model.Request) {
	if m.Guard == nil {
		asked := moderate.Moderator{Name: m.Name, Ref: m.Ref, Structured: m.Structured}
		return asked.Vote(policy, moderate.Item{Prompt: p.Transcript(), Answer: &answer}, look)
	}
	v := moderate.Vote{Moderator: m.Name, Label: orbench.Safe}
	said, missing, err := m.Guard.Ask(m.Guard.Request(m.Ref), guard.AnswerHarm, p, answer, look)
	switch harmful := said.AnswerHarm; {
	case err != nil:
		v.Label, v.Explanation = orbench.Undecided, err.Error()
	case harmful == nil:
		v.Label, v.Explanation = orbench.Undecided, "the guard does not say"
	case *harmful:
		v.Label = orbench.Toxic
	}
	return v, missing
}

// Work is what the moderators are to be asked about answers. They are asked about the
// best answer to each safe prompt, and about the next where that one does not pass.
func (c *Collection) Work(m store.Reader) fill.Work {
	w := fill.Work{}
	for _, moderator := range c.opts.Moderators {
		w.Asks = append(w.Asks, moderator.Ref)
	}
	w.Lacking = func(ctx context.Context) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			lacking, err := c.recall(ctx, m)
			if err != nil {
				yield(model.Request{}, err)
				return
			}
			for _, requests := range lacking {
				for _, r := range requests {
					if !yield(r, nil) {
						return
					}
				}
			}
		}
	}
	return w
}

// Expected is the number of calls to moderators where every first answer passes.
func (c *Collection) Expected() int {
	n := 0
	for _, it := range c.moderated() {
		n += min(c.opts.PerPrompt, len(it.chosen))
	}
	return n * len(c.opts.Moderators)
}

// Plan is what the moderators would be asked next. Where an answer does not pass, the
// next one is asked about, which no plan can know.
func (c *Collection) Plan(ctx context.Context, m store.Reader) ([]job.Plan, error) {
	lacking, err := c.recall(ctx, m)
	if err != nil {
		return nil, err
	}
	plans := make([]job.Plan, len(c.opts.Moderators))
	for i, moderator := range c.opts.Moderators {
		plans[i] = job.Plan{Provider: moderator.Ref.Provider, Endpoint: moderator.Ref.Endpoint, Model: moderator.Ref.Model, Role: "moderator"}
	}
	for _, r := range slices.Concat(lacking...) {
		i := slices.IndexFunc(plans, func(p job.Plan) bool {
			return p.Provider == r.Provider && p.Endpoint == r.Endpoint && p.Model == r.Model
		})
		plans[i].Calls++
		plans[i].InputTokens += price.EstimateTokens(r.Messages)
		plans[i].MaxOutputTokens += r.Params.MaxTokens
	}
	return plans, nil
}

// Moderate reads the votes that the store holds. It is an error where any is lacking: an
// answer without a vote must not pass.
func (c *Collection) Moderate(ctx context.Context, m store.Reader) error {
	all, err := c.recall(ctx, m)
	lacking := 0
	for _, requests := range all {
		lacking += len(requests)
	}
	if err == nil && lacking > 0 {
		err = fmt.Errorf("%d calls to moderators have no reply, so nothing is written", lacking)
	}
	return err
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

func (c *Collection) recall(ctx context.Context, m store.Reader) ([][]model.Request, error) {
	items := c.moderated()
	steps := make([]model.Step, len(items))
	for i, it := range items {
		steps[i] = c.vote(it)
	}
	return fill.Recall(ctx, m, steps)
}

// vote is the step that puts the answers to a prompt to the vote, the best first, until
// enough have passed.
func (c *Collection) vote(it *item) model.Step {
	return func(look model.Lookup) []model.Request {
		passed := 0
		for _, a := range it.chosen {
			if a.outcome = ""; passed == c.opts.PerPrompt {
				continue
			}
			votes := make([]moderate.Vote, len(c.opts.Moderators))
			var missing []model.Request
			for i, moderator := range c.opts.Moderators {
				var lacks []model.Request
				votes[i], lacks = moderator.vote(c.opts.Policy, it.prompt, a.Text, look)
				missing = append(missing, lacks...)
			}
			if len(missing) > 0 {
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
