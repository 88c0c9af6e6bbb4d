package contrast

import (
	"context"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/generator"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
	"github.com/orbench/orbench/policy"
	"github.com/orbench/orbench/similar"
)

const (
	// tries is how often the wordings of one value are requested until enough of them
	// keep the rules.
	tries = 2
	// nearDuplicates is the similarity from which a wording counts as a repeat of an
	// earlier one of the same value. It is the default of a build.
	nearDuplicates = 0.7
	// chunkSize is the number of prompts worked on together.
	chunkSize = 32
)

// Run describes a contrast set to make: every prompt of a dataset in every wording.
type Run struct {
	Dataset *dataset.Dataset
	// Limit is the most prompts, from the start of the dataset; 0 means all.
	Limit int
	// Wordings are the values on the axes.
	Wordings []generator.Wording
	// Each is the number of wordings wanted for each value, at least 1.
	Each int
	// Generator writes the wordings. Name is what the user calls it.
	Generator model.Ref
	Name      string
	Params    generator.Params
	// Policy, Moderators and Rule decide the label of a wording.
	Policy     policy.Policy
	Moderators []moderate.Moderator
	Rule       moderate.Rule
}

// Subject describes a set's folder that lacks replies.
func (r *Run) Subject() folder.Subject {
	return folder.NewSubject("unfinished contrast set of "+r.Dataset.Name, r.Dataset.SHA256, r.Limit, r.Wordings, r.Each,
		r.Generator, r.Name, r.Params, r.Policy, r.Moderators, r.Rule)
}

// Dropped says why a wording is not in the set. It is empty for a wording in the set.
type Dropped string

// The causes.
const (
	// Surplus: the generator wrote more than requested.
	Surplus Dropped = "surplus"
	// BrokenRule: the wording breaks a rule; see Wording.Broken.
	BrokenRule Dropped = "broken_rule"
	// Duplicate: it repeats another text; see Wording.Like.
	Duplicate Dropped = "duplicate"
	// Unvoted: a vote is missing because its call was not made or failed.
	Unvoted Dropped = "unvoted"
)

// Wording is one wording that the generator wrote, kept or dropped. Its JSON form is a line
// of lineage.jsonl.
type Wording struct {
	ID orbench.PromptID `json:"id"`
	// Source is the prompt that was reworded.
	Source   orbench.PromptID `json:"source_id"`
	Axis     generator.Axis   `json:"axis"`
	Value    string           `json:"value"`
	Text     string           `json:"text"`
	Category orbench.Category `json:"category,omitempty"`
	// Label is the moderators' decision. It is empty for a row that was not put to the
	// vote or lacks a vote.
	Label orbench.Label `json:"label,omitempty"`
	// Generator is the model that wrote the wording, in the reply to Call, the hash of
	// the request. Sample numbers the calls for the value from 0.
	Generator string `json:"generator"`
	Call      string `json:"call"`
	Sample    int    `json:"sample"`
	// Broken are the rules that it breaks.
	Broken []generator.Rule `json:"broken,omitempty"`
	// Like is the earlier text that it repeats.
	Like    orbench.PromptID `json:"like,omitempty"`
	Dropped Dropped          `json:"dropped,omitempty"`
	// Votes are the moderators' votes, in the order of the moderators.
	Votes []moderate.Vote `json:"votes,omitempty"`

	wording int
}

// Source is a prompt with its wordings.
type Source struct {
	Prompt orbench.Prompt
	// Rows are in the order of Run.Wordings.
	Rows []Wording
	// calls has the outcome of the calls for each of Run.Wordings.
	calls []outcome
}

// outcome is the outcome of the calls for one value of one prompt.
type outcome struct {
	// read is true if a reply had a list, and failed if a reply is missing.
	read, failed bool
	// replies counts the replies that are there.
	replies int
}

// Prompts counts the prompts of the dataset, after Limit.
func (r *Run) Prompts() int { return r.Dataset.Size(r.Limit) }

// Job is the run as a walk. Its Calls assume that every first reply is good.
func (r *Run) Job() *job.Job {
	j := &job.Job{
		Calls: r.Prompts() * len(r.Wordings) * (1 + r.Each*len(r.Moderators)), Further: true,
		Models: []job.Asked{{Ref: r.Generator, Role: job.Generator}}, Items: r.items, RoleOf: r.role,
	}
	for _, m := range r.Moderators {
		j.Models = append(j.Models, job.Asked{Ref: m.Ref, Role: job.Moderator})
	}
	j.SampleOf([]*dataset.Dataset{r.Dataset}, r.Limit, func(parts []*dataset.Dataset) *job.Job {
		of := *r
		of.Dataset, of.Limit = parts[0], 0
		return of.Job()
	})
	return j
}

// role separates the generator's requests from those of a moderator that is the same
// model. That moderator is asked at temperature 0.
func (r *Run) role(q model.Request) job.Role {
	of := job.RefOf(q)
	moderates := slices.ContainsFunc(r.Moderators, func(m moderate.Moderator) bool { return m.Ref == of })
	switch {
	case of == r.Generator && (!moderates || q.Params.Temperature != nil && *q.Params.Temperature > 0):
		return job.Generator
	case moderates:
		return job.Moderator
	}
	return ""
}

// items walks the set, one chunk of prompts at a time.
func (r *Run) items(ctx context.Context, m store.Reader, s job.Scope) iter.Seq2[job.Item, error] {
	return func(yield func(job.Item, error) bool) {
		for p, err := range r.walk(ctx, m, s) {
			item := job.Item{Calls: slices.Concat(slices.Concat(p.wordings...), slices.Concat(p.votes...))}
			if s.Ahead {
				r.expect(&item, p.sources, p.votes)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// expect adds to an item the calls already remembered, and the votes on wordings not yet
// written, assuming that every first reply is good.
func (r *Run) expect(item *job.Item, sources []Source, votes [][]job.Call) {
	for _, s := range sources {
		for i, w := range r.Wordings {
			item.Remembered = append(item.Remembered, job.Remembered{Asked: job.Asked{Ref: r.Generator, Role: job.Generator}, N: s.calls[i].replies})
			if !s.calls[i].failed {
				continue
			}
			for _, m := range r.Moderators {
				_, requests := m.Vote(r.Policy.Definitions(), moderate.Item{Prompt: s.Prompt.Text() + " " + w.Value}, model.NoReplies)
				item.Expected = append(item.Expected, job.Expected{Request: requests[0], Role: job.Moderator, N: r.Each})
			}
		}
	}
	for i, of := range votes {
		if !job.Lacks(of) {
			asked := job.Asked{Ref: r.Moderators[i%len(r.Moderators)].Ref, Role: job.Moderator}
			item.Remembered = append(item.Remembered, job.Remembered{Asked: asked, N: 1})
		}
	}
}

// Derive makes the set from the replies in the store. It hands every prompt with its
// wordings to sink, which may be nil, in the order of the dataset.
func (r *Run) Derive(ctx context.Context, m store.Reader, sink func(Source) error) (*Result, error) {
	t := newTally(r)
	for p, err := range r.walk(ctx, m, job.Scope{}) {
		if err != nil {
			return nil, err
		}
		for _, s := range p.sources {
			t.add(s)
			if sink == nil {
				continue
			}
			if err := sink(s); err != nil {
				return nil, err
			}
		}
	}
	return t.result(), nil
}

// chunk is a group of prompts worked on together, with the calls for wordings and votes
// that a walk lists.
type chunk struct {
	sources         []Source
	wordings, votes [][]job.Call
}

// walk takes chunks of the dataset through all stages, as far as the store has replies.
// It stops at an error.
func (r *Run) walk(ctx context.Context, m store.Reader, s job.Scope) iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		known := newKnown(len(r.Wordings))
		for prompts, err := range r.Dataset.Chunks(r.Limit, chunkSize) {
			var p chunk
			if err == nil {
				p.sources, p.wordings, err = r.write(ctx, m, s, prompts)
			}
			for i := range p.sources {
				known.drop(&p.sources[i])
			}
			if err == nil {
				p.votes, err = r.vote(ctx, m, s, p.sources)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// write asks the generator to reword some prompts, and checks the results.
func (r *Run) write(ctx context.Context, m store.Reader, s job.Scope, prompts []orbench.Prompt) ([]Source, [][]job.Call, error) {
	written := make([][]Wording, len(prompts)*len(r.Wordings))
	sources := make([]Source, len(prompts))
	var steps []job.Step
	for i, p := range prompts {
		sources[i] = Source{Prompt: p, calls: make([]outcome, len(r.Wordings))}
		for k := range r.Wordings {
			rows, call := &written[i*len(r.Wordings)+k], &sources[i].calls[k]
			about := job.Call{Role: job.Generator, Dataset: r.Dataset.Name, Prompt: p.ID, Target: r.Name}
			steps = append(steps, job.Step{About: about, Do: func(look model.Lookup) (missing []model.Request) {
				*rows, *call, missing = r.word(p, k, look)
				return missing
			}})
		}
	}
	calls, err := job.Recall(ctx, m, s, steps)
	if err != nil {
		return nil, nil, err
	}
	for i := range sources {
		sources[i].Rows = slices.Concat(written[i*len(r.Wordings) : (i+1)*len(r.Wordings)]...)
	}
	return sources, calls, nil
}

// word asks for wordings of a prompt with one value, once more if too few keep the rules.
// If a reply is missing, the wordings before it stay.
func (r *Run) word(p orbench.Prompt, wording int, look model.Lookup) (rows []Wording, call outcome, missing []model.Request) {
	w, kept := r.Wordings[wording], 0
	for sample := 0; sample < tries && kept < r.Each; sample++ {
		request := generator.ContrastRequest(r.Generator, r.Params, p.Text(), w, r.Each, sample)
		response, ok := look(request)
		if !ok {
			call.failed = true
			return rows, call, []model.Request{request}
		}
		call.replies++
		var items []string
		// A text written by another model is not the generator's.
		if !response.ByOther(job.RefOf(request)) {
			items = generator.Items(response)
		}
		call.read = call.read || len(items) > 0
		for _, text := range items {
			row := Wording{
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

// vote asks the moderators to label the remaining wordings.
func (r *Run) vote(ctx context.Context, m store.Reader, s job.Scope, sources []Source) ([][]job.Call, error) {
	var (
		steps []job.Step
		voted []*Wording
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
				about := job.Call{Role: job.Moderator, Dataset: r.Dataset.Name, Prompt: row.ID, Target: r.Name, Judge: moderator.Name}
				steps = append(steps, job.Step{About: about, Do: func(look model.Lookup) (missing []model.Request) {
					row.Votes[n], missing = moderator.Vote(definitions, moderate.Item{Prompt: row.Text}, look)
					return missing
				}})
			}
		}
	}
	calls, err := job.Recall(ctx, m, s, steps)
	if err != nil {
		return nil, err
	}
	for i, row := range voted {
		row.Label = r.Rule.Decide(definitions, r.Moderators, row.Votes).Label
		if job.CountMissing(calls[i*len(r.Moderators):(i+1)*len(r.Moderators)]) > 0 {
			row.Dropped, row.Label = Unvoted, ""
		}
	}
	return calls, nil
}

// known finds wordings that repeat an earlier text.
type known struct {
	// texts maps each text, without case and punctuation, to the prompt that first said
	// it. near finds similar wordings of each value; ids are their prompts.
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

// drop marks the wordings that repeat their source or an earlier wording. Wordings of
// different values may be alike: that is the contrast.
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

// plain is a text without case and punctuation. If nothing would be left, it is the text
// itself.
func plain(text string) string {
	if words := similar.Normalize(text); words != "" {
		return words
	}
	return text
}
