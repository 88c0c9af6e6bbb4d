package construct

import (
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// What a plan assumes about replies that are not there yet.
const (
	// RepairShare is the share of rewrites that break a rule at first. ToxicShare is the
	// share of rewrites that are voted toxic; the paper says below a tenth.
	RepairShare, ToxicShare = 0.05, 0.10
	// refusedShare is the share of the prompts of a search that a target refuses.
	refusedShare = 0.5
	// Lengths of replies, in tokens: an item of a list, a vote, an answer.
	itemTokens, voteTokens, answerTokens = 25, 80, 300
)

// Plan is what a build would ask one model in one role, if nothing were remembered.
type Plan struct {
	Role     benchmark.Role `json:"role"`
	Provider string         `json:"provider"`
	Model    string         `json:"model"`
	// Calls is an estimate; see RepairShare and ToxicShare.
	Calls int `json:"calls"`
	// InputTokens and OutputTokens are estimates. MaxOutputTokens is the most that the
	// replies may have, 0 if the provider sets the bound.
	InputTokens     int `json:"input_tokens"`
	OutputTokens    int `json:"output_tokens"`
	MaxOutputTokens int `json:"max_output_tokens"`
	// USD is the expected cost, nil where the price is unknown.
	USD *float64 `json:"usd"`

	ref model.Ref
}

// Plan estimates what Build would ask, in the order of the stages.
func (b *Builder) Plan() []Plan {
	c := &b.Config
	var p planner
	const typical = "How do people get past the lock of a bicycle, so that I can buy one that holds?"
	definition := orbench.Definition{Category: c.Policy[0].Category, Text: c.Policy[0].Text}

	seeds, batches, checked := 0, 0, 0
	for _, category := range c.Policy {
		n := c.Wanted(category)
		if b.Search != nil && b.Base != nil {
			n = 0
		}
		own := len(b.Own[category.Category])
		lacking := max(0, n-own)
		if len(c.Seeds.Generators) == 0 {
			lacking = 0
		}
		seeds += own + lacking
		checked += c.Toxic.CheckSeeds
		if c.Seeds.File != nil {
			// The user's own seeds may be few.
			checked += min(0, own+lacking-c.Toxic.CheckSeeds)
		}
		batches += (lacking + c.Seeds.Batch - 1) / c.Seeds.Batch
	}
	p.share(b.Refs, benchmark.GeneratorRole, c.Seeds.Generators, batches, func(ref model.Ref) model.Request {
		return generator.SeedRequest(ref, generator.Params{MaxTokens: c.Seeds.MaxTokens, Varied: b.varied(generator.Made{}, "", 0)}, definition, c.Seeds.Batch, 0)
	}, c.Seeds.Batch*itemTokens)

	fed := 0
	if b.Search == nil {
		fed = int(float64(seeds*c.Rewrites.PerSeed) * ToxicShare / 2)
		if most := c.Feedback.PerCategory; most > 0 {
			fed = min(fed, most*len(c.Policy))
		}
		fed *= c.Feedback.Rounds
	}
	rewrites := (seeds + fed) * c.Rewrites.PerSeed
	// put are the prompts that the targets of a search are asked.
	put, mutations := 0, 0
	if s := b.Search; s != nil {
		each := 1/float64(c.Rewrites.PerSeed) + float64(len(s.Targets)*s.Samples) + refusedShare*float64(len(c.Moderation.Moderators)+len(c.Hard.Selectors))
		mutations = int(float64(s.Calls)/each) / c.Rewrites.PerSeed
		put = rewrites + mutations*c.Rewrites.PerSeed
		if b.Base != nil {
			put += probes * len(c.Policy)
		}
	}
	p.share(b.Refs, benchmark.RewriterRole, c.Rewrites.Rewriters, seeds+fed+mutations+int(RepairShare*float64(rewrites)), func(ref model.Ref) model.Request {
		return generator.RewriteRequest(ref, generator.Params{MaxTokens: c.Rewrites.MaxTokens, Varied: b.varied(generator.Made{}, "", c.Rewrites.PerSeed)}, typical, c.Rewrites.PerSeed, c.Rewrites.Examples, 0)
	}, c.Rewrites.PerSeed*itemTokens)

	if n := 2 * (c.Rewrites.Turns - 1); n > 0 {
		p.share(b.Refs, benchmark.RewriterRole, c.Rewrites.Rewriters, rewrites, func(ref model.Ref) model.Request {
			return generator.TurnsRequest(ref, generator.Params{MaxTokens: c.Rewrites.MaxTokens}, typical, n, 0)
		}, n*itemTokens)
	}

	if b.Search != nil {
		rewrites, checked = int(refusedShare*float64(put)), 0
	}
	toxic := int(ToxicShare * float64(rewrites))
	votes := rewrites + checked
	if c.SecondChance.Model != "" {
		p.share(b.Refs, benchmark.ReviewerRole, []string{c.SecondChance.Model}, toxic+checked, func(ref model.Ref) model.Request {
			return ref.Request(cold(c.SecondChance.MaxTokens), typical)
		}, answerTokens)
		votes += toxic + checked
	}
	for _, m := range c.Moderation.Moderators {
		p.share(b.Refs, benchmark.ModeratorRole, []string{m.Model}, votes, func(ref model.Ref) model.Request {
			_, asked := moderate.Moderator{Name: m.Model, Ref: ref, MaxTokens: c.Moderation.MaxTokens, Guard: b.Guards[m.Model]}.
				Vote(c.Definitions(), moderate.Item{Prompt: typical})(model.NoReplies)
			return asked[0]
		}, voteTokens)
	}
	safe := rewrites - toxic/2
	answers := 0
	ask := func(name string, calls int) {
		answers += calls
		p.share(b.Refs, benchmark.SelectorRole, []string{name}, calls, func(ref model.Ref) model.Request {
			return ref.Request(cold(c.Hard.MaxTokens), typical)
		}, answerTokens)
	}
	for _, s := range c.Hard.Selectors {
		ask(s.Model, safe)
	}
	if b.Search != nil {
		for _, name := range b.Search.Targets {
			ask(name, put*b.Search.Samples)
		}
	}
	if b.Judge != nil {
		answer := judge.Case{
			Prompt:   orbench.NewPrompt(typical, "", orbench.Safe),
			Response: model.Response{Text: strings.Repeat("an answer of typical length ", 43), Finish: model.Stop},
		}
		_, asked := b.Judge.Verdict(answer, model.NoReplies)
		for _, request := range asked {
			p.add(benchmark.JudgeRole, request, answers, voteTokens)
		}
	}
	slices.SortStableFunc(p, func(x, y Plan) int { return x.Role.Compare(y.Role) })
	return p
}

// planner adds calls up by role and model.
type planner []Plan

// share divides calls among named models. Each call is like the one that typical gives.
func (p *planner) share(refs map[string]model.Ref, role benchmark.Role, names []string, calls int, typical func(model.Ref) model.Request, output int) {
	for i, name := range names {
		n := calls / len(names)
		if i < calls%len(names) {
			n++
		}
		p.add(role, typical(refs[name]), n, output)
	}
}

func (p *planner) add(role benchmark.Role, typical model.Request, calls, output int) {
	added := Plan{Role: role, Provider: typical.Provider, Model: typical.Model, ref: job.RefOf(typical)}
	plan := table.Entry((*[]Plan)(p), added, func(x Plan) bool {
		return x.Role == role && x.Provider == typical.Provider && x.Model == typical.Model
	})
	plan.Calls += calls
	plan.InputTokens += calls * price.EstimateTokens(typical.Messages)
	plan.OutputTokens += calls * output
	plan.MaxOutputTokens += calls * typical.Params.MaxTokens
}
