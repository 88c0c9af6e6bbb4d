package construct

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/similar"
	"github.com/orbench/orbench/stats"
)

const (
	// strays is how many calls of a full generation begin with a prompt drawn from all.
	strays = 1
	// nearFrom is the similarity from which a prompt is near another.
	nearFrom = 0.1
)

// population is the prompts of a search that can be parents, and what became of them.
type population struct {
	*benchmark.Search
	// members are all prompts with a judged answer of a target, in the order in which they
	// were made; byID has the same by ID.
	members []*member
	byID    map[orbench.PromptID]*member
	// near has all texts, to find how far a new one is from them.
	near *similar.Index
	// used counts how often an operator was used on the same parents.
	used map[string]int
	// current is the generation under way. mutations and unreadable are counts of it that
	// another stage makes.
	current               benchmark.Generation
	mutations, unreadable int
}

// member is a prompt that can be a parent.
type member struct {
	*benchmark.Record
	// children counts the prompts made of it, and passedOn is the sum of their fitness.
	children int
	passedOn float64
	// inherited is the mean promise of its parents when it was made.
	inherited float64
}

// promise is what a prompt made of the member may be worth: the mean fitness of it and its
// children, drawn to the promise of its parents while the children are few.
func (m *member) promise() float64 {
	return (m.Fitness + m.inherited + m.passedOn) / float64(2+m.children)
}

// mutation is a call for new prompts: what to do, with which parents, and the number of
// the call among those that do the same.
type mutation struct {
	operator      generator.Operator
	parent, other *member
	sample        int
}

func newPopulation(s *Search) *population {
	return &population{
		Search: &benchmark.Search{Targets: s.Targets, Samples: s.Samples, MostCalls: s.Calls, Operators: map[generator.Operator]benchmark.Generation{}},
		byID:   map[orbench.PromptID]*member{}, near: similar.NewIndex(nearFrom), used: map[string]int{},
	}
}

// measure finds how far a prompt is from those that are there, and adds it to them.
func (p *population) measure(record *benchmark.Record) {
	_, jaccard, _ := p.near.Nearest(record.Text)
	record.Distance = 1 - jaccard
	p.near.Keep(record.Text)
}

// note works out the fitness of a prompt that has its votes, and counts it for its
// generation, its operator and its parents. If a target's answer to it was judged, it can
// be a parent itself.
func (p *population) note(record *benchmark.Record) {
	refused, judged := record.RefusedByTargets()
	safe := 0
	for _, v := range record.Votes {
		if v.Label == orbench.Safe {
			safe++
		}
	}
	if judged > 0 && len(record.Votes) > 0 {
		record.Fitness = float64(refused) / float64(judged) * float64(safe) / float64(len(record.Votes)) * record.Distance
	}
	count := func(g *benchmark.Generation) {
		g.Made++
		if judged > 0 {
			g.Prompts++
		}
		if refused > 0 {
			g.Refused++
			if record.Label == orbench.Safe {
				g.Found++
			}
		}
	}
	count(&p.current)
	if record.Operator != "" {
		of := p.Operators[record.Operator]
		count(&of)
		p.Operators[record.Operator] = of
	}
	inherited := 0.0
	for _, id := range record.Parents {
		m := p.byID[id]
		inherited += m.promise() / float64(len(record.Parents))
		m.children++
		m.passedOn += record.Fitness
	}
	if judged > 0 {
		m := &member{Record: record, inherited: inherited}
		p.members = append(p.members, m)
		p.byID[record.ID] = m
	}
}

// endGeneration records what a generation came to and took.
func (p *population) endGeneration(calls int) {
	g := p.current
	g.Generation, g.Calls, g.Mutations, g.Unreadable = len(p.Generations), calls, p.mutations, p.unreadable
	if e := stats.RateOf(g.Refused, g.Prompts).Estimate(); e != nil {
		g.Rate, g.Low, g.High = e.Value, e.Lo, e.Hi
	}
	p.Generations = append(p.Generations, g)
	p.current, p.mutations, p.unreadable = benchmark.Generation{}, 0, 0
}

// draw chooses the operators and the parents of n calls: the prompts of the highest
// promise, ties by lot. A stray begins with a prompt drawn from all, and so do all calls
// while no prompt is fit. Every other call takes the operator that has found most for what
// it made; those between take turns.
func (p *population) draw(sampling int64, n int) []mutation {
	lots := inLots(sampling, "parent "+strconv.Itoa(len(p.Generations)), p.members, func(m *member) string { return string(m.ID) })
	fittest := slices.DeleteFunc(slices.Clone(lots), func(m *member) bool { return m.Fitness == 0 })
	slices.SortStableFunc(fittest, func(a, b *member) int { return cmp.Compare(b.promise(), a.promise()) })
	operators := generator.Operators()
	best := slices.MaxFunc(operators, func(a, b generator.Operator) int { return cmp.Compare(p.yield(a), p.yield(b)) })
	drawn := make([]mutation, n)
	for i := range drawn {
		d := &drawn[i]
		if d.operator = operators[(len(p.Generations)+i/2)%len(operators)]; i%2 == 0 {
			d.operator = best
		}
		if len(fittest) == 0 || n == batches && i >= n-strays {
			d.parent = lots[i%len(lots)]
		} else {
			d.parent = fittest[i%len(fittest)]
		}
		if d.operator == generator.Recombine {
			if d.other = d.parent.partner(fittest); d.other == nil {
				d.operator = operators[0]
			}
		}
		key := string(d.operator) + string(d.parent.ID)
		if d.other != nil {
			key += string(d.other.ID)
		}
		d.sample = p.used[key]
		p.used[key]++
	}
	return drawn
}

// yield is the share of safe prompts that a target refused of all that an operator made,
// drawn to 1 in 10 while these are few.
func (p *population) yield(o generator.Operator) float64 {
	g := p.Operators[o]
	return float64(g.Found+2) / float64(g.Made+20)
}

// partner is the first of the fittest that is another prompt of the same category, or else
// of any. It is nil if there is none.
func (m *member) partner(fittest []*member) (other *member) {
	for _, f := range fittest {
		switch {
		case f == m:
		case f.Category == m.Category:
			return f
		case other == nil:
			other = f
		}
	}
	return other
}
