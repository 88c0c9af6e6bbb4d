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
}

// Add counts a reply of a model.
func (u Usage) Add(provider, name string, tokens model.Usage) {
	key := model.Ref{Provider: provider, Model: name}
	used := u[key]
	used.Replies++
	tokens = tokens.Bounded()
	used.Tokens.Input += tokens.Input
	used.Tokens.Output += tokens.Output
	used.Tokens.Cached += min(tokens.Cached, tokens.Input)
	u[key] = used
}

// AddUsage counts what was counted elsewhere.
func (u Usage) AddUsage(o Usage) {
	for key, more := range o {
		used := u[key]
		used.Replies += more.Replies
		used.Tokens.Input += more.Tokens.Input
		used.Tokens.Output += more.Tokens.Output
		used.Tokens.Cached += more.Tokens.Cached
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
		usd += p.Cost(used.Tokens)
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
