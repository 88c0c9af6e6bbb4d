package moderation

import (
	"context"
	"iter"
	"runtime"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/inorder"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
	"github.com/orbench/orbench/policy"
)

// Run is what is put to whose vote, under which policies.
type Run struct {
	Dataset *dataset.Dataset
	// Limit is the most prompts, the first ones; 0 means all.
	Limit      int
	Policies   []policy.Policy
	Moderators []moderate.Moderator
	Rule       moderate.Rule
}

// Row is what the ensemble says of a prompt.
type Row struct {
	Prompt orbench.Prompt
	// Decisions and Votes are by policy, in the order of Run.Policies; votes further
	// by moderator.
	Decisions []moderate.Decision
	Votes     [][]moderate.Vote
	// Missing counts the votes whose calls were not made, or failed. What they would
	// have been is not known, so a row with any is in no figure.
	Missing int
}

// Subject is what a file of the run is of from which votes are missing; what says what
// the file has.
func (r *Run) Subject(what string) folder.Subject {
	return folder.NewSubject("unfinished "+what+" of "+r.Dataset.Name, r.Dataset.SHA256, r.Limit, r.Policies, r.Moderators, r.Rule)
}

// Prompts is how many prompts are put to the vote.
func (r *Run) Prompts() int { return r.Dataset.Size(r.Limit) }

// Calls is how many votes are wanted.
func (r *Run) Calls() int { return r.Prompts() * len(r.Policies) * len(r.Moderators) }

// Models lists whom the run asks, each once.
func (r *Run) Models() []model.Ref {
	var refs []model.Ref
	for _, m := range r.Moderators {
		if !slices.Contains(refs, m.Ref) {
			refs = append(refs, m.Ref)
		}
	}
	return refs
}

// pieceSize is how many prompts are looked up together.
const pieceSize = 128

// vote has all moderators vote on a piece under all policies, by what the store has,
// and gives what each vote lacks: by prompt, then by policy, then by moderator. m may
// be nil for an empty store.
func (r *Run) vote(ctx context.Context, m store.Reader, piece []orbench.Prompt) ([]Row, [][]model.Request, error) {
	rows := make([]Row, len(piece))
	var steps []model.Step
	for i, p := range piece {
		rows[i] = Row{Prompt: p, Votes: make([][]moderate.Vote, len(r.Policies))}
		item := moderate.Item{Prompt: p.Transcript()}
		for k, named := range r.Policies {
			definitions := named.Definitions()
			votes := make([]moderate.Vote, len(r.Moderators))
			rows[i].Votes[k] = votes
			for j, moderator := range r.Moderators {
				steps = append(steps, func(look model.Lookup) (missing []model.Request) {
					votes[j], missing = moderator.Vote(definitions, item, look)
					return missing
				})
			}
		}
	}
	lacking, err := fill.Recall(ctx, m, steps)
	if err != nil {
		return nil, nil, err
	}
	of := len(r.Policies) * len(r.Moderators)
	for i := range rows {
		for k, named := range r.Policies {
			rows[i].Decisions = append(rows[i].Decisions, r.Rule.Decide(named.Definitions(), r.Moderators, rows[i].Votes[k]))
		}
		for _, requests := range lacking[i*of : (i+1)*of] {
			if len(requests) > 0 {
				rows[i].Missing++
			}
		}
	}
	return rows, lacking, nil
}

// Work is what the moderators want asked.
func (r *Run) Work(m store.Reader) fill.Work {
	return fill.Work{Asks: r.Models(), Lacking: func(ctx context.Context) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			for piece, err := range r.Dataset.Pieces(r.Limit, pieceSize) {
				var lacking [][]model.Request
				if err == nil {
					_, lacking, err = r.vote(ctx, m, piece)
				}
				if err != nil {
					yield(model.Request{}, err)
					return
				}
				for _, request := range slices.Concat(lacking...) {
					if !yield(request, nil) {
						return
					}
				}
			}
		}
	}}
}

// Lacking streams the calls for votes that are lacking, each once, as evaluate.Run.Calls
// does.
func (r *Run) Lacking(ctx context.Context, m store.Reader) iter.Seq2[evaluate.Call, error] {
	return func(yield func(evaluate.Call, error) bool) {
		seen := map[model.Hash]bool{}
		for request, err := range r.Work(m).Lacking(ctx) {
			call := evaluate.Call{Request: request, Dataset: r.Dataset.Name}
			if err == nil {
				call.Hash = request.Hash()
			}
			if seen[call.Hash] && err == nil {
				continue
			}
			seen[call.Hash] = true
			if !yield(call, err) || err != nil {
				return
			}
		}
	}
}

// WorkName names the votes on the prompts of the dataset, under whichever policy, as work
// that goes by batch.
func (r *Run) WorkName() string {
	return "votes on " + r.Dataset.Name + "@" + table.ShortHash(r.Dataset.SHA256)
}

// Role is that of moderators in a plan.
const Role defense.Role = "moderator"

// Plan counts what Work would have sent, by model. A vote that cannot be read is
// asked for once more, which no plan knows. m may be nil for an empty store.
func (r *Run) Plan(ctx context.Context, m store.Reader) ([]evaluate.Plan, error) {
	refs := r.Models()
	plans := make([]evaluate.Plan, len(refs))
	for i, ref := range refs {
		plans[i] = evaluate.Plan{Provider: ref.Provider, Endpoint: ref.Endpoint, Model: ref.Model, Role: Role}
	}
	for piece, err := range r.Dataset.Pieces(r.Limit, pieceSize) {
		if err != nil {
			return nil, err
		}
		_, lacking, err := r.vote(ctx, m, piece)
		if err != nil {
			return nil, err
		}
		for i, requests := range lacking {
			p := &plans[slices.Index(refs, r.Moderators[i%len(r.Moderators)].Ref)]
			if len(requests) == 0 {
				p.FromMemo++
			}
			for _, request := range requests {
				p.Calls++
				p.InputTokens += price.EstimateTokens(request.Messages)
				p.MaxOutputTokens += request.Params.MaxTokens
			}
		}
	}
	return plans, nil
}

// SampledPlan is Plan as about so many prompts let expect it, which are drawn at random.
func (r *Run) SampledPlan(ctx context.Context, m store.Reader, most int) ([]evaluate.Plan, error) {
	if r.Prompts() <= most {
		return r.Plan(ctx, m)
	}
	parts, times, err := evaluate.Sampled([]*dataset.Dataset{r.Dataset}, r.Limit, most)
	if err != nil {
		return nil, err
	}
	part := *r
	part.Dataset, part.Limit = parts[0], 0
	plans, err := part.Plan(ctx, m)
	evaluate.Multiply(plans, times)
	return plans, err
}

// Derive computes what the ensemble says of the prompts by what the store has, and
// hands every row to sink (nil for nobody) in the dataset's order, from one
// goroutine.
func (r *Run) Derive(ctx context.Context, m store.Reader, sink func(Row) error) (*Result, error) {
	voted := func(ctx context.Context, piece []orbench.Prompt) ([]Row, error) {
		rows, _, err := r.vote(ctx, m, piece)
		return rows, err
	}
	t := newTally(r)
	err := inorder.Do(ctx, runtime.GOMAXPROCS(0), r.Dataset.Pieces(r.Limit, pieceSize), voted, func(rows []Row) error {
		for _, row := range rows {
			t.add(row)
			if sink == nil {
				continue
			}
			if err := sink(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.result(), nil
}
