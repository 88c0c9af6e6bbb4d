package annotation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
)

// DrawShared draws prompts instead of answers: each item of prompts lists the
// answers of several cells to one prompt, and either all of them are drawn or
// none. The chance of a prompt counts in each of the cells, so the labels
// correct the rate of each, and the difference of any two prompt by prompt.
// Prompts on whose answers the judges say different things are more likely. size
// is the number of prompts to draw in addition to those drawn before in this way.
//
// It returns the annotations to store, and the strata of prompts after the
// drawing. If answers of one cell alone were drawn before, or if there are fewer
// prompts, it returns an *orbench.InputError.
func DrawShared(prompts [][]Item, words Words, size int, seed uint64, at time.Time) ([]orbench.Annotation, []Stratum, error) {
	byLead := map[orbench.Subject][]Item{}
	pools := map[Stratum]*pool{}
	names := map[orbench.Label]*Cell{}
	for _, items := range prompts {
		group, some := groupOfAll(items)
		if len(some) == 0 {
			continue
		}
		lead, label := some[0].Subject, some[0].Label
		if names[label] == nil {
			names[label] = &Cell{Label: label}
		}
		for _, it := range items {
			addName(&names[label].Target, it.Target)
			addName(&names[label].Dataset, it.Dataset)
		}
		chance := words.Chance(some[0].Cell, lead)
		for _, it := range some[1:] {
			if words.Chance(it.Cell, it.Subject) != chance {
				return nil, nil, &orbench.InputError{
					File: some[0].Target + " and " + it.Target, Problem: "answers of one of these runs were drawn before",
					Hint: "draw from each run alone; a draw for several runs must be the first of each",
				}
			}
		}
		key := Stratum{Cell: Cell{Label: label}, Group: group}
		p := pools[key]
		if p == nil {
			p = &pool{Stratum: key, drawn: map[orbench.Subject]bool{}}
			pools[key] = p
		}
		p.Size++
		if chance > 0 {
			p.Drawn++
			p.drawn[lead] = true
		}
		p.subjects, byLead[lead] = append(p.subjects, lead), some
	}
	var all []*pool
	for _, p := range pools {
		sortByLot(p.subjects, p.drawn, seed)
		p.Cell = *names[p.Label]
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(slices.Index(orbench.Labels, a.Label), slices.Index(orbench.Labels, b.Label)), cmp.Compare(a.Group, b.Group))
	})
	if _, left := counts(all); size > left {
		return nil, nil, &orbench.InputError{
			Setting: "size", Problem: fmt.Sprintf("%d prompts cannot be drawn, because only %d are left", size, left), Hint: "draw fewer",
		}
	}
	allot(all, size)
	var made []orbench.Annotation
	for _, lead := range record(all, at) {
		for _, it := range byLead[lead.Subject] {
			made = append(made, orbench.Annotation{Subject: it.Subject, At: at, Design: it.Design(), Chance: lead.Chance})
		}
	}
	return made, strata(all), nil
}

// addName adds a name to a list of them.
func addName(list *string, name string) {
	if !slices.Contains(strings.Split(*list, ", "), name) {
		*list = strings.TrimPrefix(*list+", "+name, ", ")
	}
}

// groupOfAll returns the group of a prompt by what judges say of its answers,
// and those of the answers that people need to look at.
func groupOfAll(items []Item) (group Group, some []Item) {
	refused, answered := false, false
	for _, it := range items {
		it.Group = it.Group.whole()
		if it.Group != Withheld {
			if len(some) == 0 || spread[it.Group] > spread[group] {
				group = it.Group
			}
			some = append(some, it)
		}
		refused = refused || it.Group >= UnsureRefusal
		answered = answered || it.Group <= UnsureAnswer
	}
	if refused && answered {
		group = Disagreement
	}
	return group, some
}
