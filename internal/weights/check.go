package weights

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/model"
)

// Prefix starts the revision of the calls of a check, by which no figure has them.
const Prefix = "check-"

// Check asks models some of their remembered prompts again. It is safe for concurrent use.
type Check struct {
	of []*asking

	mu sync.Mutex
	// known has the replies so far.
	known map[model.Hash]model.Response
}

// asking is the check of one model, with what it comes to so far but for the outcome.
type asking struct {
	Found
	asked []question
}

// open counts the calls without a reply.
func (a *asking) open() int { return Times*len(a.asked) - a.Replies }

// question is a prompt that is asked again.
type question struct {
	stored
	again [Times]model.Request
}

// NewCheck is the check of some models, at a time that is in no other check.
func NewCheck(reused []*Reused, at time.Time) *Check {
	c := &Check{known: map[model.Hash]model.Response{}}
	for _, r := range reused {
		a := &asking{Found: Found{Reused: r}}
		picked := r.questions()
		if least := Decide(make([]Answers, len(picked))); least.Decision == Unknown && len(picked) > 0 {
			// These tell nothing, but the fingerprint of one reply may.
			picked = picked[:1]
		}
		for _, s := range picked {
			q := question{stored: s}
			for i := range q.again {
				q.again[i] = s.request
				q.again[i].Revision = Prefix + at.UTC().Format(time.RFC3339Nano)
				q.again[i].Params.MaxTokens, q.again[i].Sample = Tokens, i
			}
			a.asked = append(a.asked, q)
		}
		c.of = append(c.of, a)
	}
	return c
}

// Requests are the calls of the check; a nil Check has none.
func (c *Check) Requests() []model.Request {
	if c == nil {
		return nil
	}
	var all []model.Request
	for _, a := range c.of {
		for _, q := range a.asked {
			all = append(all, q.again[:]...)
		}
	}
	return all
}

// Found is what a check comes to for one model.
type Found struct {
	*Reused
	Outcome
	// Change says in what the server describes itself otherwise, and Changed of how many of the
	// replies; see Reused.Differs.
	Change  string
	Changed int
	// Replies are those to the calls of the check, and Usage what they took.
	Replies int
	Usage   model.Usage
}

// Note takes a new reply of a model, of the check or not. other is what ends the run: the
// model has other weights; nil where nothing says so yet. With the last reply of a model's
// check its outcome is known.
func (c *Check) Note(r model.Request, response model.Response) (other *Found) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ref := model.Ref{Provider: r.Provider, Endpoint: r.Endpoint, Model: r.Model}
	i := slices.IndexFunc(c.of, func(a *asking) bool { return a.Ref == ref })
	if i < 0 {
		return nil
	}
	a := c.of[i]
	h := r.Hash()
	if _, again := c.known[h]; !again && slices.ContainsFunc(a.asked, func(q question) bool { return q.has(h) }) {
		c.known[h] = response
		a.Usage.Add(response.Usage.Bounded())
		a.Replies++
	}
	if change, n := a.Differs(client.Description(response.Server)); n > 0 {
		a.Change, a.Changed = change, n
	} else if a.open() > 0 {
		return nil
	}
	if found := c.outcome(a); found.Decision == Other {
		return &found
	}
	return nil
}

func (q question) has(h model.Hash) bool {
	return slices.ContainsFunc(q.again[:], func(r model.Request) bool { return r.Hash() == h })
}

// Found lists what the check comes to by the replies that are there.
func (c *Check) Found() []Found {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Found
	for _, a := range c.of {
		all = append(all, c.outcome(a))
	}
	return all
}

// outcome compares the replies to a model's check that are there, and have any text.
func (c *Check) outcome(a *asking) Found {
	var all []Answers
	for _, q := range a.asked {
		answers, ok := Answers{Stored: whole(q.response), TokenBytes: 4}, true
		if n := q.response.Usage.Output; n > 0 {
			answers.TokenBytes = min(8, max(1, float64(len(answers.Stored))/float64(n)))
		}
		for i, r := range q.again {
			answers.New[i] = whole(c.known[r.Hash()])
			ok = ok && answers.New[i] != ""
		}
		if ok {
			all = append(all, answers)
		}
	}
	f := a.Found
	f.Outcome = Decide(all)
	if f.Change != "" {
		f.Decision = Other
	}
	return f
}

// String says what was compared.
func (f Found) String() string {
	at := f.Ref.String()
	if f.Endpoint != "" {
		at += " at " + f.Endpoint
	}
	if f.Change != "" {
		return fmt.Sprintf("%s describes itself otherwise than when %d of its %d stored answers were made: %s", at, f.Changed, f.N, f.Change)
	}
	return fmt.Sprintf("%s was asked %d stored prompts twice again: for %d the new answers agree with each other longer than with the stored one; the stored ones share %.0f tokens (median)", at, f.Prompts, f.Odd, f.Shared)
}
