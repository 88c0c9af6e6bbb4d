package job

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Role says for what a model is asked.
type Role string

// The roles that several kinds of studies know.
const (
	// Target is the role of models under measurement. Guard is that of models in
	// front of a target.
	Target Role = "target"
	Guard  Role = "guard"
	// Judge is the role of models that judge answers.
	Judge Role = "judge"
	// Moderator is the role of models that label prompts.
	Moderator Role = "moderator"
)

// Judges reports whether models in the role are asked about answers.
func (r Role) Judges() bool { return r == Judge }

// Asked is a model that a job may ask.
type Asked struct {
	model.Ref
	// Role is empty if plans do not show it.
	Role Role
	// Fixed is true if nothing that the model is asked depends on replies.
	Fixed bool
}

// Job is the walk over what a study asks.
type Job struct {
	// Name is that of the study. FormerName is the name under which older programs kept its
	// batches, empty if it was the same.
	Name, FormerName string
	// Models are those that may be asked, in the order in which plans list them.
	Models []Asked
	// Interdependent is true when a reply of one model can give work to another that had none left.
	Interdependent bool
	// Further is true if replies make more calls known.
	Further bool
	// Calls is about how many it takes when nothing is remembered.
	Calls int
	// Fixed streams the requests that do not depend on any reply; nil for none.
	Fixed fill.Requests
	// Items walks the rest, as far as the stored replies allow. A nil store is an empty
	// one.
	Items func(ctx context.Context, m store.Reader, s Scope) iter.Seq2[Item, error]
	// Rounds gives the job of each round, the next once the round before is filled. It is nil
	// for work of one round.
	Rounds func(ctx context.Context, m store.Reader) iter.Seq2[*Job, error]
	// Sample gives the job over about a number of prompts drawn at random, and the factor
	// by which all prompts outnumber them.
	Sample func(most int) (part *Job, times float64, err error)

	// watch is that over the judges of a job that is filled, nil for none.
	watch *Watch
}

// Extent says which prompts a walk covers in a job that ends by itself. Any other job has
// one extent.
type Extent int

// The extents.
const (
	// AtMost has all prompts.
	AtMost Extent = iota
	// SoFar has the prompts that are asked by the replies in the store so far.
	SoFar
	// AtLeast has the prompts that are asked whatever the replies are.
	AtLeast
)

// Scope says how far a walk goes, and what it reports.
type Scope struct {
	Extent Extent
	// Ahead makes items report the calls that they expect, and count those that are
	// remembered.
	Ahead bool
	// Remembered makes items also list the calls whose replies are stored.
	Remembered bool
	// Met is called with each reply that the walk finds, perhaps more than once, and with the
	// target of the call, empty for none; it may be nil.
	Met func(target string, h model.Hash, of model.Ref, response model.Response)
	// Watch is told of the replies of judges; nil for nobody.
	Watch *Watch
}

// Item is one unit of a walk.
type Item struct {
	// Calls are those without a reply, as far as they are known.
	Calls []Call
	// Expected are those that follow once the replies to Calls are stored. Without Calls
	// they are calls that cannot be listed singly.
	Expected []Expected
	// Remembered counts the replies that are there.
	Remembered []Remembered
}

// Call is a request with what it is made for.
type Call struct {
	Request model.Request
	Role    Role
	// Hash is that of the request. A walk that looks ahead may leave it out.
	Hash model.Hash
	// Dataset and Prompt say about what it is.
	Dataset string
	Prompt  orbench.PromptID
	// Target is the target whose answer the call is for, and Judge the judge of that
	// answer; either may be empty.
	Target, Judge string
	// Remembered is true where the store holds its response.
	Remembered bool
}

// Expected is calls that look like one that is known.
type Expected struct {
	Request model.Request
	Role    Role
	// N is how many there are.
	N int
}

// Remembered is how many replies of a model in a role are there.
type Remembered struct {
	Asked
	N int
}

// RefOf is the model that a request asks.
func RefOf(r model.Request) model.Ref {
	return model.Ref{Provider: r.Provider, Endpoint: r.Endpoint, Model: r.Model}
}

// Refs lists the models that may be asked, each once.
func (j *Job) Refs() (refs []model.Ref) {
	for _, m := range j.Models {
		if !slices.Contains(refs, m.Ref) {
			refs = append(refs, m.Ref)
		}
	}
	return refs
}

// Judging reports whether the job asks judges only, because the answers exist already.
func (j *Job) Judging() bool {
	return !slices.ContainsFunc(j.Models, func(m Asked) bool { return !m.Role.Judges() })
}

// Work is what the job wants asked.
func (j *Job) Work(m store.Reader) fill.Work {
	w := fill.Work{Fixed: j.Fixed, Interdependent: j.Interdependent}
	for _, asked := range j.Models {
		if !asked.Fixed && !slices.Contains(w.Models, asked.Ref) {
			w.Models = append(w.Models, asked.Ref)
		}
	}
	if len(w.Models) == 0 {
		return w
	}
	w.Missing = func(ctx context.Context, serves func(model.Ref) bool) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			lets := j.watch.walk(serves)
			for item, err := range j.Items(ctx, m, Scope{Watch: j.watch}) {
				if err != nil {
					yield(model.Request{}, err)
					return
				}
				for i := range item.Calls {
					if r := item.Calls[i].Request; serves(RefOf(r)) && lets(&item.Calls[i]) && !yield(r, nil) {
						return
					}
				}
			}
		}
	}
	w.Held = j.watch.held
	return w
}

// Fill has by make the calls that the job wants, round after round: what is asked next may
// depend on replies. A judge whose replies cannot be read is given up; see Watch.
func (j *Job) Fill(ctx context.Context, by fill.Filler, m store.Reader) error {
	j.watch = &Watch{open: map[model.Hash]*watched{}}
	if j.Rounds == nil {
		return errors.Join(by.Fill(ctx, j.Work(m)), j.watch.givenUp())
	}
	for round, err := range j.Rounds(ctx, m) {
		if err == nil {
			round.watch = j.watch
			err = errors.Join(by.Fill(ctx, round.Work(m)), j.watch.givenUp())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// All streams the calls of the job, each once, in the order of the walk. The next call can
// depend on a reply, so calls that follow a missing reply are not known yet and are left
// out.
func (j *Job) All(ctx context.Context, m store.Reader) iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		seen := map[model.Hash]bool{}
		for item, err := range j.Items(ctx, m, Scope{Extent: SoFar, Remembered: true}) {
			if err != nil {
				yield(Call{}, err)
				return
			}
			for _, call := range item.Calls {
				if !seen[call.Hash] && !yield(call, nil) {
					return
				}
				seen[call.Hash] = true
			}
		}
	}
}
