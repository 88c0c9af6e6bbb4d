package job

import (
	"context"
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
	// Target is the role of models under measurement. Translator and Guard are those of what
	// stands before one, and Wordings its own where prompts are put in other words.
	Target     Role = "target"
	Translator Role = "translator"
	Guard      Role = "guard"
	Wordings   Role = "wordings"
	// Judge is the role of models that judge answers, and Probe theirs where an answer has
	// a forged verdict in it.
	Judge Role = "judge"
	Probe Role = "probe"
	// Moderator is the role of models that say what a prompt is, and Generator of those
	// that write some.
	Moderator Role = "moderator"
	Generator Role = "generator"
)

// Judges reports whether models are asked about answers in the role.
func (r Role) Judges() bool { return r == Judge || r == Probe }

// Asked is a model that a job may ask.
type Asked struct {
	model.Ref
	// Role is empty where plans do not tell of it.
	Role Role
	// Fixed is true where nothing that it is asked depends on replies.
	Fixed bool
}

// Job is the walk over what a study asks.
type Job struct {
	// Name is that of the study. FormerName is the one by which older programs had its
	// batches, empty where that was the same.
	Name, FormerName string
	// Models are those that may be asked, in the order in which plans list them.
	Models []Asked
	// Interdependent is true when a reply of one model can give work to another that had none left.
	Interdependent bool
	// Further is true where more calls become known when replies are there.
	Further bool
	// Calls is about how many it takes when nothing is remembered.
	Calls int
	// Fixed streams what is asked whatever is answered; nil for nothing.
	Fixed fill.Requests
	// Items walks the rest, as far as the store goes, which may be nil for an empty one.
	Items func(ctx context.Context, m store.Reader, s Scope) iter.Seq2[Item, error]
	// Rounds gives a job for each round, whenever it is called once the one before is
	// filled; more is false at the end. It is nil for work of one round.
	Rounds func(m store.Reader) func(context.Context) (round *Job, more bool, err error)
	// Sample gives the job over about so many prompts that are drawn at random, and how many
	// times as many there are.
	Sample func(most int) (part *Job, times float64, err error)
	// Lacks reports a request that nobody can answer; nil for none.
	Lacks func(model.Request) bool
	// RoleOf says for what a request is asked; nil where its model says that.
	RoleOf func(model.Request) Role
}

// Extent is over which prompts of a job that ends by itself a walk goes. Any other job has
// one extent.
type Extent int

// The extents.
const (
	// AtMost has all prompts.
	AtMost Extent = iota
	// SoFar has those that are asked as far as the store goes.
	SoFar
	// AtLeast has those that are asked whatever is answered.
	AtLeast
)

// Scope says how far a walk goes, and what it tells.
type Scope struct {
	Extent Extent
	// Ahead has items tell what they expect, and count what is remembered.
	Ahead bool
	// Remembered has items list the calls too whose replies are there.
	Remembered bool
	// Met is told of the replies that the walk finds, perhaps more than once; nil for nobody.
	Met func(model.Hash, model.Ref, model.Response)
}

// Item is one unit of a walk.
type Item struct {
	// Calls are those that lack their reply, as far as they are known.
	Calls []Call
	// Expected are those that follow once the replies to Calls are there, or that cannot be
	// told apart where there are no Calls.
	Expected []Expected
	// Remembered counts the replies that are there.
	Remembered []Remembered
}

// Call is a request with what it is made for.
type Call struct {
	Request model.Request
	Role    Role
	// Hash is that of the request; a walk may leave it out.
	Hash model.Hash
	// Dataset and Prompt say about what it is.
	Dataset string
	Prompt  orbench.PromptID
	// Target is whose answer it makes, Judge who says something of that; either may be empty.
	Target, Judge string
	// Probe is true where it asks about an answer with a forged verdict.
	Probe bool
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

// RefOf is whom a request asks.
func RefOf(r model.Request) model.Ref {
	return model.Ref{Provider: r.Provider, Endpoint: r.Endpoint, Model: r.Model}
}

// Refs lists the models that may be asked, each once.
func (j *Job) Refs() []model.Ref {
	var refs []model.Ref
	for _, m := range j.Models {
		if !slices.Contains(refs, m.Ref) {
			refs = append(refs, m.Ref)
		}
	}
	return refs
}

// Judging reports whether the job asks judges alone, as of answers that are there.
func (j *Job) Judging() bool {
	return !slices.ContainsFunc(j.Models, func(m Asked) bool { return !m.Role.Judges() })
}

// Role says for what a request is asked, empty where that is not known.
func (j *Job) Role(r model.Request) Role {
	if j.RoleOf != nil {
		return j.RoleOf(r)
	}
	of := RefOf(r)
	if i := slices.IndexFunc(j.Models, func(m Asked) bool { return m.Ref == of }); i >= 0 {
		return j.Models[i].Role
	}
	return ""
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
	w.Missing = func(ctx context.Context) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			for item, err := range j.Items(ctx, m, Scope{}) {
				if err != nil {
					yield(model.Request{}, err)
					return
				}
				for i := range item.Calls {
					if r := item.Calls[i].Request; !j.Unanswerable(r) && !yield(r, nil) {
						return
					}
				}
			}
		}
	}
	return w
}

// Unanswerable reports a request that nobody can answer; it is not made.
func (j *Job) Unanswerable(r model.Request) bool { return j.Lacks != nil && j.Lacks(r) }

// Next gives the work of each round in turn; see Filler. more is false at the end.
func (j *Job) Next(m store.Reader) func(context.Context) (w fill.Work, more bool, err error) {
	if j.Rounds != nil {
		next := j.Rounds(m)
		return func(ctx context.Context) (fill.Work, bool, error) {
			round, more, err := next(ctx)
			if err != nil || !more {
				return fill.Work{}, false, err
			}
			return round.Work(m), true, nil
		}
	}
	ended := false
	return func(context.Context) (fill.Work, bool, error) {
		if ended {
			return fill.Work{}, false, nil
		}
		ended = true
		return j.Work(m), true, nil
	}
}

// All streams the calls of the job, each once, in the order of the walk. What is asked next
// can depend on a reply: calls behind one that is lacking are not known yet and left out.
func (j *Job) All(ctx context.Context, m store.Reader) iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		seen := map[model.Hash]bool{}
		for item, err := range j.Items(ctx, m, Scope{Extent: SoFar, Remembered: true}) {
			if err != nil {
				yield(Call{}, err)
				return
			}
			for _, call := range item.Calls {
				if call.Hash == (model.Hash{}) {
					call.Hash = call.Request.Hash()
				}
				if seen[call.Hash] {
					continue
				}
				seen[call.Hash] = true
				if !yield(call, nil) {
					return
				}
			}
		}
	}
}
