package audit

import (
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// MinCategory is the least number of prompts with a truth for which a category
// is shown separately.
const MinCategory = 10

// Kind says what a rater is.
type Kind string

// The kinds, in the order in which reports show them.
const (
	Person    Kind = "person"
	Moderator Kind = "moderator"
	Joint     Kind = "ensemble"
)

// Report is the result of an audit.
type Report struct {
	// People are those whose majority is the truth.
	People    []string    `json:"people"`
	Prompts   Prompts     `json:"prompts"`
	Raters    []Rater     `json:"raters"`
	Agreement []Agreement `json:"agreement"`
	// AgainstEnsemble compares each moderator with the ensemble.
	AgainstEnsemble []Against `json:"against_ensemble"`
	// Notes are whole sentences about what nobody has labeled yet.
	Notes []string `json:"notes"`
	// Simulated is true if a moderator is a simulated model.
	Simulated bool `json:"simulated"`
}

// Prompts counts the drawn prompts. Safe + Toxic + Controversial + Split +
// Unlabelled = All.
type Prompts struct {
	All int `json:"all"`
	// Safe, Toxic and Controversial count the prompts with that truth. Raters
	// are compared only on the first two.
	Safe          int `json:"safe"`
	Toxic         int `json:"toxic"`
	Controversial int `json:"controversial"`
	// Split counts the prompts on which people differ without a
	// majority; Unlabelled counts those without labels.
	Split      int `json:"split"`
	Unlabelled int `json:"unlabelled"`
}

// Rater is one rater compared with the truth.
type Rater struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// InTruth is true if the rater contributes to the truth, which makes it
	// look better.
	InTruth bool `json:"in_truth"`
	// Missing is how many prompts with a truth of safe or toxic the rater did
	// not label, or a moderator abstained on.
	Missing int `json:"missing"`
	Figures
	// Categories are those with at least MinCategory prompts, by name.
	Categories []Figures `json:"categories"`
}

// entry is a drawn prompt with what everybody says of it.
type entry struct {
	category orbench.Category
	labels   map[string]orbench.Label
	truth    orbench.Label
	// split is true if people gave labels without a majority, and compared if the truth is
	// safe or toxic.
	split, compared bool
}

// said returns a rater's label. Undecided counts as a label only for the
// ensemble, because that prompt does not pass. For all others it is an
// abstention.
func (e *entry) said(name string) (orbench.Label, bool) {
	l := e.labels[name]
	return l, l != "" && (l != orbench.Undecided || name == Ensemble)
}

// entries are those from which the parts of a Report are computed.
type entries []*entry

// Ensemble names the joint decision of all moderators as a rater.
const Ensemble = "ensemble"

// Examine compares raters with the truth and with each other, on the drawn items. The truth
// is the label of more than half of the people, or what settled a dispute of theirs. It is
// nil where nothing was drawn. Labels of people who saw a verdict, or chose the prompt, do
// not count.
func Examine(items []Item, words annotation.Words) *Report {
	var x entries
	var people, moderators table.Names
	of := design(items)
	for _, it := range items {
		if words.ChanceIn(of, it.subject()) == 0 {
			continue
		}
		e := &entry{category: it.Category, labels: maps.Clone(it.Votes)}
		for name := range it.Votes {
			moderators.Add(name)
		}
		if it.Decision != "" {
			e.labels[Ensemble] = it.Decision
		}
		votes, given := map[orbench.Label]float64{}, 0.0
		for _, a := range words.On(it.subject()) {
			switch {
			case a.How == orbench.Settled:
				votes, given = map[orbench.Label]float64{a.Label: 1}, 1
			case a.How == orbench.Blind && a.Label != orbench.Undecided:
				votes[a.Label]++
				given++
			}
			if a.How == orbench.Blind {
				name := personName(a.By)
				people.Add(name)
				e.labels[name] = a.Label
			}
		}
		e.truth, _ = stats.Majority(votes, given)
		e.split = given > 0 && e.truth == ""
		e.compared = e.truth == orbench.Safe || e.truth == orbench.Toxic
		x = append(x, e)
	}
	if len(x) == 0 {
		return nil
	}
	slices.Sort(people)
	slices.Sort(moderators)
	r := &Report{People: people, Raters: []Rater{}, Notes: []string{}}
	x.count(r)
	// A person whose labels alone are the truth cannot be compared with anything.
	if len(people) > 1 {
		r.Raters = append(r.Raters, table.RowsOf(people, func(name string) Rater { return x.rate(name, Person) })...)
	}
	for _, name := range moderators {
		r.Raters = append(r.Raters, x.rate(name, Moderator))
		r.Simulated = r.Simulated || strings.HasPrefix(name, "sim/")
	}
	r.Raters = append(r.Raters, x.rate(Ensemble, Joint))
	r.Agreement = x.agreement(slices.Concat(people, moderators, []string{Ensemble}))
	r.AgainstEnsemble = x.againstEnsemble(moderators)
	if r.Prompts.Safe+r.Prompts.Toxic == 0 {
		r.Notes = append(r.Notes, "No drawn prompt has a majority for safe or toxic yet, so there is nothing to compare with.")
	}
	return r
}

// personName tells a person apart from the moderators, whose names have a slash, and from
// their ensemble.
func personName(name string) string {
	if name == Ensemble || strings.Contains(name, "/") {
		return name + " (person)"
	}
	return name
}

func (x entries) count(r *Report) {
	truths := map[orbench.Label]int{}
	for _, e := range x {
		if truths[e.truth]++; e.split {
			r.Prompts.Split++
		}
	}
	r.Prompts.All, r.Prompts.Unlabelled = len(x), truths[""]-r.Prompts.Split
	r.Prompts.Safe, r.Prompts.Toxic, r.Prompts.Controversial = truths[orbench.Safe], truths[orbench.Toxic], truths[orbench.Controversial]
}

// rate compares one rater with the truth.
func (x entries) rate(name string, kind Kind) Rater {
	r := Rater{Name: name, Kind: kind, Categories: []Figures{}, InTruth: kind == Person}
	var all stats.Confusion
	by := map[orbench.Category]stats.Confusion{}
	for _, e := range x {
		if !e.compared {
			continue
		}
		said, ok := e.said(name)
		if !ok {
			r.Missing++
			continue
		}
		c := by[e.category]
		for _, sum := range []*stats.Confusion{&all, &c} {
			sum.Add(e.truth == orbench.Safe, said == orbench.Safe)
		}
		by[e.category] = c
	}
	r.Figures = figures(all)
	for _, category := range slices.Sorted(maps.Keys(by)) {
		if c := by[category]; c.N() >= MinCategory && len(by) > 1 {
			of := figures(c)
			of.Category = category
			r.Categories = append(r.Categories, of)
		}
	}
	return r
}
