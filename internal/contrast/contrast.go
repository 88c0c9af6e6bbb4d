package contrast

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/generator"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/moderation"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
	"github.com/orbench/orbench/policy"
	"github.com/orbench/orbench/similar"
)

const (
	// tries is how often the wordings of one value are asked for until enough of them
	// keep the rules.
	tries = 2
	// nearDuplicates is the similarity from which a wording repeats an earlier one of
	// the same value; a build's default.
	nearDuplicates = 0.7
	// pieceSize is how many prompts are worked on together.
	pieceSize = 32
)

// Role is that of a model that writes wordings.
const Role defense.Role = "generator"

// Run is a contrast set to be made: every prompt of a dataset in every wording.
type Run struct {
	Dataset *dataset.Dataset
	// Limit is the most prompts, the first ones; 0 means all.
	Limit int
	// Wordings are the values on the axes.
	Wordings []generator.Wording
	// Each is how many wordings of each value are wanted, at least 1.
	Each int
	// Generator writes the wordings. Name is what the user calls it.
	Generator model.Ref
	Name      string
	Params    generator.Params
	// Policy, Moderators and Rule say what a wording is.
	Policy     policy.Policy
	Moderators []moderate.Moderator
	Rule       moderate.Rule
}

// Subject is what the folder of a set is of from which replies are missing.
func (r *Run) Subject() folder.Subject {
	return folder.NewSubject("unfinished contrast set of "+r.Dataset.Name, r.Dataset.SHA256, r.Limit, r.Wordings, r.Each,
		r.Generator, r.Name, r.Params, r.Policy, r.Moderators, r.Rule)
}

// Dropped says why a wording is not in the set; it is empty for one that is.
type Dropped string

// The causes.
const (
	// Surplus: the generator wrote more than it was asked for.
	Surplus Dropped = "surplus"
	// BrokenRule: the wording breaks a rule; see Row.Broken.
	BrokenRule Dropped = "broken_rule"
	// Duplicate: it says what another text said; see Row.Like.
	Duplicate Dropped = "duplicate"
	// Unvoted: a vote is missing, its call not made or failed.
	Unvoted Dropped = "unvoted"
)

// Row is one wording that the generator wrote, kept or dropped. Its JSON form is a line
// of lineage.jsonl.
type Row struct {
	ID orbench.PromptID `json:"id"`
	// Source is the prompt that it is a wording of.
	Source   orbench.PromptID `json:"source_id"`
	Axis     generator.Axis   `json:"axis"`
	Value    string           `json:"value"`
	Text     string           `json:"text"`
	Category orbench.Category `json:"category,omitempty"`
	// Label is what the moderators decided, empty for a row that was not put to the
	// vote or lacks a vote.
	Label orbench.Label `json:"label,omitempty"`
	// Generator wrote it in the reply to Call, which is the hash of the request. Sample
	// is the number of that call for the value, from 0.
	Generator string `json:"generator"`
	Call      string `json:"call"`
	Sample    int    `json:"sample"`
	// Broken are the rules that it breaks.
	Broken []generator.Rule `json:"broken,omitempty"`
	// Like is the earlier text that it repeats.
	Like    orbench.PromptID `json:"like,omitempty"`
	Dropped Dropped          `json:"dropped,omitempty"`
	// Votes are the moderators', in their order.
	Votes []moderate.Vote `json:"votes,omitempty"`

	wording int
}

// Source is a prompt with its wordings.
type Source struct {
	Prompt orbench.Prompt
	// Rows are in the order of Run.Wordings.
	Rows []Row
	// calls says of each of Run.Wordings what became of its calls.
	calls []outcome
}

// outcome is what became of the calls for one value of one prompt.
type outcome struct {
	// read is true where a reply had a list, and failed where a reply is missing.
	read, failed bool
	// replies counts those that are there.
	replies int
}

// Prompts counts the prompts of the dataset, after Limit.
func (r *Run) Prompts() int { return r.Dataset.Size(r.Limit) }

// Calls is about how many replies the set takes when every first reply is good.
func (r *Run) Calls() int { return r.Prompts() * len(r.Wordings) * (1 + r.Each*len(r.Moderators)) }

// Models lists whom the run asks, each once, the generator first.
func (r *Run) Models() []model.Ref {
	refs := []model.Ref{r.Generator}
	for _, m := range r.Moderators {
		if !slices.Contains(refs, m.Ref) {
			refs = append(refs, m.Ref)
		}
	}
	return refs
}

// Work is what the run wants asked.
func (r *Run) Work(m store.Reader) fill.Work {
	return fill.Work{Asks: r.Models(), Lacking: func(ctx context.Context) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			err := r.walk(ctx, m, func(_ []Source, wordings, votes []model.Request) error {
				for _, request := range slices.Concat(wordings, votes) {
					if !yield(request, nil) {
						return errStopped
					}
				}
				return nil
			})
			if err != nil && !errors.Is(err, errStopped) {
				yield(model.Request{}, err)
			}
		}
	}}
}

// errStopped ends a walk whose listener has gone.
var errStopped = errors.New("nobody listens any more")

// Derive makes the set of what the store has, and hands every prompt with its wordings to
// sink (nil for nobody), in the order of the dataset.
func (r *Run) Derive(ctx context.Context, m store.Reader, sink func(Source) error) (*Result, error) {
	t := newTally(r)
	err := r.walk(ctx, m, func(sources []Source, _, _ []model.Request) error {
		for _, s := range sources {
			t.add(s)
			if sink == nil {
				continue
			}
			if err := sink(s); err != nil {
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

// Plan counts what filling would send, by model: the generator, then moderators. Votes
// on wordings that are not written yet are counted as if every first reply was good. m
// may be nil for an empty store.
func (r *Run) Plan(ctx context.Context, m store.Reader) ([]evaluate.Plan, error) {
	plans := []evaluate.Plan{{Provider: r.Generator.Provider, Endpoint: r.Generator.Endpoint, Model: r.Generator.Model, Role: Role}}
	for _, mod := range r.Moderators {
		plans = append(plans, evaluate.Plan{Provider: mod.Ref.Provider, Endpoint: mod.Ref.Endpoint, Model: mod.Ref.Model, Role: moderation.Role})
	}
	count := func(at int, request model.Request) {
		plans[at].Calls++
		plans[at].InputTokens += price.EstimateTokens(request.Messages)
		plans[at].MaxOutputTokens += request.Params.MaxTokens
	}
	nothing := func(model.Request) (model.Response, bool) { return model.Response{}, false }
	err := r.walk(ctx, m, func(sources []Source, wordings, votes []model.Request) error {
		for _, request := range wordings {
			count(0, request)
		}
		for _, request := range votes {
			ref := model.Ref{Provider: request.Provider, Endpoint: request.Endpoint, Model: request.Model}
			at := 1 + slices.IndexFunc(r.Moderators, func(m moderate.Moderator) bool { return m.Ref == ref })
			count(at, request)
			plans[at].FromMemo-- // counted below with all votes
		}
		for _, s := range sources {
			for i, w := range r.Wordings {
				if s.calls[i].failed {
					_, requests := r.Moderators[0].Vote(r.Policy.Definitions(), moderate.Item{Prompt: s.Prompt.Text() + " " + w.Value}, nothing)
					for at := range r.Moderators {
						for range r.Each {
							count(1+at, requests[0])
						}
					}
				}
				plans[0].FromMemo += s.calls[i].replies
			}
			for _, row := range s.Rows {
				if row.Votes != nil {
					for at := range r.Moderators {
						plans[1+at].FromMemo++
					}
				}
			}
		}
		return nil
	})
	return plans, err
}

// walk takes pieces of the dataset through all stages, as far as the store has replies,
// and hands them to each with the requests for wordings and for votes that are lacking.
func (r *Run) walk(ctx context.Context, m store.Reader, each func(sources []Source, wordings, votes []model.Request) error) error {
	known := newKnown(len(r.Wordings))
	for piece, err := range r.Dataset.Pieces(r.Limit, pieceSize) {
		if err != nil {
			return err
		}
		sources, wordings, err := r.write(ctx, m, piece)
		if err != nil {
			return err
		}
		for i := range sources {
			known.drop(&sources[i])
		}
		votes, err := r.vote(ctx, m, sources)
		if err != nil {
			return err
		}
		if err := each(sources, wordings, votes); err != nil {
			return err
		}
	}
	return nil
}

// write has the generator word some prompts, and checks what it wrote.
func (r *Run) write(ctx context.Context, m store.Reader, piece []orbench.Prompt) ([]Source, []model.Request, error) {
	written := make([][]Row, len(piece)*len(r.Wordings))
	sources := make([]Source, len(piece))
	var steps []model.Step
	for i, p := range piece {
		sources[i] = Source{Prompt: p, calls: make([]outcome, len(r.Wordings))}
		for k := range r.Wordings {
			rows, call := &written[i*len(r.Wordings)+k], &sources[i].calls[k]
			steps = append(steps, func(look model.Lookup) (missing []model.Request) {
				*rows, *call, missing = r.word(p, k, look)
				return missing
			})
		}
	}
	lacking, err := fill.Recall(ctx, m, steps)
	if err != nil {
		return nil, nil, err
	}
	for i := range sources {
		sources[i].Rows = slices.Concat(written[i*len(r.Wordings) : (i+1)*len(r.Wordings)]...)
	}
	return sources, slices.Concat(lacking...), nil
}

// word has a prompt worded with one value, once more where too few wordings keep the
// rules. What was written before a reply that is missing stands.
func (r *Run) word(p orbench.Prompt, wording int, look model.Lookup) (rows []Row, call outcome, missing []model.Request) {
	w, kept := r.Wordings[wording], 0
	for sample := 0; sample < tries && kept < r.Each; sample++ {
		request := generator.ContrastRequest(r.Generator, r.Params, p.Text(), w, r.Each, sample)
		response, ok := look(request)
		if !ok {
			call.failed = true
			return rows, call, []model.Request{request}
		}
		call.replies++
		items := generator.Items(response)
		call.read = call.read || len(items) > 0
		for _, text := range items {
			row := Row{
				ID: orbench.NewPrompt(text, "", "").ID, Source: p.ID, Axis: w.Axis, Value: w.Value, Text: text, Category: p.Category,
				Generator: r.Name, Call: request.Hash().String(), Sample: sample, wording: wording,
			}
			for _, f := range w.Lint(p.Text(), text) {
				row.Broken = append(row.Broken, f.Rule)
			}
			switch {
			case len(row.Broken) > 0:
				row.Dropped = BrokenRule
			case kept == r.Each:
				row.Dropped = Surplus
			default:
				kept++
			}
			rows = append(rows, row)
		}
	}
	return rows, call, nil
}

// vote has the moderators label the wordings that are left.
func (r *Run) vote(ctx context.Context, m store.Reader, sources []Source) ([]model.Request, error) {
	var (
		steps []model.Step
		voted []*Row
	)
	definitions := r.Policy.Definitions()
	for i := range sources {
		for k := range sources[i].Rows {
			row := &sources[i].Rows[k]
			if row.Dropped != "" {
				continue
			}
			row.Votes = make([]moderate.Vote, len(r.Moderators))
			voted = append(voted, row)
			for n, moderator := range r.Moderators {
				steps = append(steps, func(look model.Lookup) (missing []model.Request) {
					row.Votes[n], missing = moderator.Vote(definitions, moderate.Item{Prompt: row.Text}, look)
					return missing
				})
			}
		}
	}
	lacking, err := fill.Recall(ctx, m, steps)
	if err != nil {
		return nil, err
	}
	for i, row := range voted {
		row.Label = r.Rule.Decide(definitions, r.Moderators, row.Votes).Label
		if slices.ContainsFunc(lacking[i*len(r.Moderators):(i+1)*len(r.Moderators)], func(requests []model.Request) bool { return len(requests) > 0 }) {
			row.Dropped, row.Label = Unvoted, ""
		}
	}
	return slices.Concat(lacking...), nil
}

// known finds wordings that repeat what stands before them.
type known struct {
	// texts has the prompt that first said a text, in whatever case and punctuation, and
	// near what each value's wordings are like, whose prompts are ids.
	texts map[string]orbench.PromptID
	near  []*similar.Index
	ids   [][]orbench.PromptID
}

func newKnown(wordings int) *known {
	k := &known{texts: map[string]orbench.PromptID{}, ids: make([][]orbench.PromptID, wordings)}
	for range wordings {
		k.near = append(k.near, similar.NewIndex(nearDuplicates))
	}
	return k
}

// drop marks the wordings that repeat their source or an earlier wording. Wordings with
// another value may be like each other: that makes the contrast.
func (k *known) drop(s *Source) {
	k.texts[plain(s.Prompt.Text())] = s.Prompt.ID
	for i := range s.Rows {
		row := &s.Rows[i]
		if row.Dropped != "" {
			continue
		}
		if first, there := k.texts[plain(row.Text)]; there {
			row.Dropped, row.Like = Duplicate, first
			continue
		}
		n, _, duplicate := k.near[row.wording].Add(row.Text)
		if duplicate {
			row.Dropped, row.Like = Duplicate, k.ids[row.wording][n]
			continue
		}
		k.ids[row.wording] = append(k.ids[row.wording], row.ID)
		k.texts[plain(row.Text)] = row.ID
	}
}

// plain is a text without case and punctuation, or as it is where nothing would be left.
func plain(text string) string {
	if words := similar.Normalize(text); words != "" {
		return words
	}
	return text
}
