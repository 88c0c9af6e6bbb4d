package price

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Usage counts replies and their tokens by model; the Endpoint of a key is empty, as
// prices do not depend on it.
type Usage map[model.Ref]Used

// Used is what one model was used for.
type Used struct {
	Part
	// Batched is the part of it that came by batch.
	Batched Part
	// Made is when the replies were.
	Made Span
}

// Span is a time in which replies were made.
type Span struct {
	// First and Last are the zero time where no reply has one.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Undated counts those of unknown age, as an older program kept them.
	Undated int `json:"unknown_age,omitempty"`
}

// And is the span of both.
func (s Span) And(o Span) Span {
	if s.First.IsZero() || !o.First.IsZero() && o.First.Before(s.First) {
		s.First = o.First
	}
	if o.Last.After(s.Last) {
		s.Last = o.Last
	}
	s.Undated += o.Undated
	return s
}

// In is the span in the time of a place: its day with the minute, or its days.
func (s Span) In(place *time.Location) string {
	if s.Last.IsZero() {
		return "of unknown age"
	}
	first, last := s.First.In(place), s.Last.In(place)
	when := "of " + last.Format("2 Jan 2006 15:04 MST")
	if first.Format(time.DateOnly) != last.Format(time.DateOnly) {
		when = "of " + first.Format("2 Jan 2006") + " to " + last.Format("2 Jan 2006 MST")
	}
	if s.Undated > 0 {
		when += " (" + table.Count(s.Undated) + " of unknown age)"
	}
	return when
}

// SpanOf is the span of one reply.
func SpanOf(made time.Time) Span {
	if made.IsZero() {
		return Span{Undated: 1}
	}
	return Span{First: made, Last: made}
}

// Part is a part of what one model was used for. Tokens are sums over the replies.
type Part struct {
	Replies int
	Tokens  model.Usage
	// Estimated counts the replies of which no provider told the tokens.
	Estimated int
}

// add adds another part.
func (p *Part) add(o Part) {
	p.Replies += o.Replies
	p.Estimated += o.Estimated
	p.Tokens.Input += o.Tokens.Input
	p.Tokens.Output += o.Tokens.Output
	p.Tokens.Cached += min(o.Tokens.Cached, o.Tokens.Input)
}

// Add counts a reply of a model.
func (u Usage) Add(provider, name string, r model.Response) {
	reply := Used{Part: Part{Replies: 1, Tokens: UsageOf(nil, r)}, Made: SpanOf(r.Made)}
	if reply.Tokens.Estimated {
		reply.Estimated = 1
	}
	if r.Batch {
		reply.Batched = reply.Part
	}
	u.add(model.Ref{Provider: provider, Model: name}, reply)
}

func (u Usage) add(key model.Ref, more Used) {
	used := u[key]
	used.Part.add(more.Part)
	used.Batched.add(more.Batched)
	used.Made = used.Made.And(more.Made)
	u[key] = used
}

// AddUsage counts what was counted elsewhere.
func (u Usage) AddUsage(o Usage) {
	for key, more := range o {
		u.add(key, more)
	}
}

// Total is the cost of everything in US dollars, and the models without a known price.
func (t Table) Total(u Usage) (usd float64, unpriced []string) {
	// Sums of numbers with fractions depend on their order.
	for _, key := range slices.SortedFunc(maps.Keys(u), func(a, b model.Ref) int { return cmp.Compare(a.String(), b.String()) }) {
		used := u[key]
		p, ok := t.Price(key.Provider, key.Model)
		if !ok {
			unpriced = append(unpriced, key.String())
			continue
		}
		live := used.Tokens
		if b := used.Batched; b.Replies > 0 {
			discounted, ok := t.Batch(key.Provider, key.Model)
			if !ok {
				unpriced = append(unpriced, key.String()+" by batch")
				continue
			}
			usd += discounted.Cost(b.Tokens)
			live.Input, live.Output, live.Cached = live.Input-b.Tokens.Input, live.Output-b.Tokens.Output, live.Cached-b.Tokens.Cached
		}
		usd += p.Cost(live)
	}
	return usd, unpriced
}

// Of lists the prices of some models, by which a table made of them alone knows them.
func (t Table) Of(models []model.Ref) (all []Price) {
	for _, m := range models {
		p, ok := t.Price(m.Provider, m.Model)
		if ok && !slices.ContainsFunc(all, func(o Price) bool { return o.Provider == p.Provider && o.Model == p.Model }) {
			all = append(all, p)
		}
	}
	return all
}
