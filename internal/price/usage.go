package price

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orbench/orbench/model"
)

// Usage counts replies and their tokens by model; the Endpoint of a key is empty, as
// prices do not depend on it.
type Usage map[model.Ref]Used

// Used is what one model was used for.
type Used struct {
	Replies int
	// Tokens are sums over the replies.
	Tokens model.Usage
	// Batched is the part of it that came by batch.
	Batched Part
}

// Part is a part of what one model was used for.
type Part struct {
	Replies int
	Tokens  model.Usage
}

// plus adds a reply.
func (p Part) plus(replies int, tokens model.Usage) Part {
	p.Replies += replies
	p.Tokens.Input += tokens.Input
	p.Tokens.Output += tokens.Output
	p.Tokens.Cached += min(tokens.Cached, tokens.Input)
	return p
}

// Add counts a reply of a model, which came by batch or not.
func (u Usage) Add(provider, name string, tokens model.Usage, batch bool) {
	key := model.Ref{Provider: provider, Model: name}
	used := u[key]
	tokens = tokens.Bounded()
	all := Part{used.Replies, used.Tokens}.plus(1, tokens)
	used.Replies, used.Tokens = all.Replies, all.Tokens
	if batch {
		used.Batched = used.Batched.plus(1, tokens)
	}
	u[key] = used
}

// AddUsage counts what was counted elsewhere.
func (u Usage) AddUsage(o Usage) {
	for key, more := range o {
		used := u[key]
		all := Part{used.Replies, used.Tokens}.plus(more.Replies, more.Tokens)
		used.Replies, used.Tokens = all.Replies, all.Tokens
		used.Batched = used.Batched.plus(more.Batched.Replies, more.Batched.Tokens)
		u[key] = used
	}
}

// Total is what it all costs in US dollars, and which models have no known price.
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
func (t Table) Of(models []model.Ref) []Price {
	var all []Price
	for _, m := range models {
		p, ok := t.Price(m.Provider, m.Model)
		if ok && !slices.ContainsFunc(all, func(o Price) bool { return o.Provider == p.Provider && o.Model == p.Model }) {
			all = append(all, p)
		}
	}
	return all
}
