package moderation

import (
	"context"
	"iter"
	"runtime"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Run describes a vote: the prompts, the moderators and the policies.
type Run struct {
	Dataset *dataset.Dataset
	// Limit is the most prompts, from the start of the dataset; 0 means all.
	Limit      int
	Policies   []policy.Policy
	Moderators []moderate.Moderator
	Rule       moderate.Rule
}

// PromptVotes is the ensemble's result for a prompt.
type PromptVotes struct {
	Prompt orbench.Prompt
	// Decisions and Votes are indexed by policy, in the order of Run.Policies. Votes are
	// further indexed by moderator.
	Decisions []moderate.Decision
	Votes     [][]moderate.Vote
	// Missing counts the votes whose calls were not made or failed. Their outcome is
	// unknown, so a row with missing votes is left out of all figures.
	Missing int
}

// Subject describes a file of the run that lacks votes. what names the file's content.
func (r *Run) Subject(what string) folder.Subject {
	return folder.NewSubject("unfinished "+what+" of "+r.Dataset.Name, r.Dataset.SHA256, r.Limit, r.Policies, r.Moderators, r.Rule)
}

// Prompts is the number of prompts put to the vote.
func (r *Run) Prompts() int { return r.Dataset.Size(r.Limit) }

// Job is the run as a walk. An unreadable vote is requested once more; no plan can
// foresee that.
func (r *Run) Job() *job.Job {
	j := &job.Job{
		FormerName: "votes on " + r.Dataset.Name + "@" + table.ShortHash(r.Dataset.SHA256), // as older programs called batches of them, under any policy
		Calls:      r.Prompts() * len(r.Policies) * len(r.Moderators), Further: true, Items: r.items,
	}
	for _, m := range r.Moderators {
		if asked := (job.Asked{Ref: m.Ref, Role: job.Moderator}); !slices.Contains(j.Models, asked) {
			j.Models = append(j.Models, asked)
		}
	}
	j.SampleOf([]*dataset.Dataset{r.Dataset}, r.Limit, func(parts []*dataset.Dataset) *job.Job {
		of := *r
		of.Dataset, of.Limit = parts[0], 0
		return of.Job()
	})
	return j
}

// items walks the votes, one chunk of prompts at a time.
func (r *Run) items(ctx context.Context, m store.Reader, s job.Scope) iter.Seq2[job.Item, error] {
	return func(yield func(job.Item, error) bool) {
		for chunk, err := range job.Pieces(r.Dataset.First(r.Limit), chunkSize) {
			var item job.Item
			if err == nil {
				item, err = r.item(ctx, m, s, chunk)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// item is the votes on a chunk.
func (r *Run) item(ctx context.Context, m store.Reader, s job.Scope, chunk []orbench.Prompt) (item job.Item, err error) {
	_, calls, err := r.vote(ctx, m, s, chunk)
	item.Calls = slices.Concat(calls...)
	if s.Ahead {
		for i, of := range calls {
			if !job.Lacks(of) {
				moderator := job.Asked{Ref: r.Moderators[i%len(r.Moderators)].Ref, Role: job.Moderator}
				item.Remembered = append(item.Remembered, job.Remembered{Asked: moderator, N: 1})
			}
		}
	}
	return item, err
}

// chunkSize is the number of prompts looked up together.
const chunkSize = 128

// vote has all moderators vote on a chunk under all policies, using the replies in the
// store. It gives the calls of each vote in the walk's scope: by prompt, then by policy,
// then by moderator. m may be nil for an empty store.
func (r *Run) vote(ctx context.Context, m store.Reader, s job.Scope, chunk []orbench.Prompt) ([]PromptVotes, [][]job.Call, error) {
	rows := make([]PromptVotes, len(chunk))
	var steps []job.Step
	for i, p := range chunk {
		if r.Dataset.LabelAssumed {
			p.Label = "" // what nobody said is compared with nothing
		}
		rows[i] = PromptVotes{Prompt: p, Votes: make([][]moderate.Vote, len(r.Policies))}
		item := moderate.Item{Prompt: p.Transcript(), Turns: p.Messages}
		for k, named := range r.Policies {
			definitions := named.Definitions()
			votes := make([]moderate.Vote, len(r.Moderators))
			rows[i].Votes[k] = votes
			for j, moderator := range r.Moderators {
				about := job.Call{Role: job.Moderator, Dataset: r.Dataset.Name, Prompt: p.ID, Target: named.Name, Judge: moderator.Name}
				steps = append(steps, job.Step{About: about, Do: func(look model.Lookup) (missing []model.Request) {
					votes[j], missing = moderator.Vote(definitions, item)(look)
					return missing
				}})
			}
		}
	}
	calls, err := job.Recall(ctx, m, s, steps)
	if err != nil {
		return nil, nil, err
	}
	of := len(r.Policies) * len(r.Moderators)
	for i := range rows {
		for k, named := range r.Policies {
			rows[i].Decisions = append(rows[i].Decisions, r.Rule.Decide(named.Definitions(), r.Moderators, rows[i].Votes[k]))
		}
		for _, vote := range calls[i*of : (i+1)*of] {
			if job.Lacks(vote) {
				rows[i].Missing++
			}
		}
	}
	return rows, calls, nil
}

// Derive computes the ensemble's results for the prompts from the store. It hands every
// row to sink, which may be nil, in the dataset's order and from one goroutine.
func (r *Run) Derive(ctx context.Context, m store.Reader, sink func(PromptVotes) error) (*Result, error) {
	voted := func(ctx context.Context, chunk []orbench.Prompt) ([]PromptVotes, error) {
		rows, _, err := r.vote(ctx, m, job.Scope{}, chunk)
		return rows, err
	}
	t := newTally(r)
	err := job.InOrder(ctx, runtime.GOMAXPROCS(0), job.Pieces(r.Dataset.First(r.Limit), chunkSize), voted, func(rows []PromptVotes) error {
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
	return t.result(), err
}
