package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
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

// Examination says how to examine labels.
type Examination struct {
	// Sheets are the tables of labels, at least one.
	Sheets []*Sheet
	// Build is the benchmark whose prompts were labeled. It is nil if the
	// moderators' votes are in the sheets, or not available.
	Build *Build
	Truth Truth
	// Positive is safe or toxic.
	Positive orbench.Label
	// Prevalence is the assumed share of toxic prompts for residual toxicity,
	// above 0 and below 1.
	Prevalence float64
}

// Report is the result of an audit.
type Report struct {
	Files []File `json:"files"`
	// Build is absent if the Examination has none.
	Build      *File         `json:"build,omitempty"`
	Truth      TruthReport   `json:"truth"`
	Positive   orbench.Label `json:"positive"`
	Prevalence float64       `json:"prevalence"`
	Prompts    Prompts       `json:"prompts"`
	Raters     []Rater       `json:"raters"`
	Agreement  []Agreement   `json:"agreement"`
	Fleiss     []Fleiss      `json:"fleiss"`
	// AgainstEnsemble compares each moderator with the ensemble.
	AgainstEnsemble []Against `json:"against_ensemble"`
	// LeaveOneOut has the ensemble of all moderators by votes alone, and the
	// same ensemble without each of them.
	LeaveOneOut []LeftOut `json:"leave_one_out"`
	// Notes are whole sentences about what was left out and why, and about what
	// a reader must know about the figures.
	Notes []string `json:"notes"`
	// Simulated is true if a moderator is a simulated model.
	Simulated bool `json:"simulated"`
}

// File is a source of the figures.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// TruthReport says how the truth is made.
type TruthReport struct {
	Truth
	// Moderators is true if moderators or their ensemble contribute to it.
	Moderators bool `json:"moderators"`
}

// Prompts counts the prompts of the sheets. Safe + Toxic + Controversial + Split +
// Unlabelled = All.
type Prompts struct {
	All int `json:"all"`
	// Safe, Toxic and Controversial count the prompts with that truth. Raters
	// are compared only on the first two.
	Safe          int `json:"safe"`
	Toxic         int `json:"toxic"`
	Controversial int `json:"controversial"`
	// Split counts the prompts with labels in the truth's columns but no
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
	Categories []CategoryFigures `json:"categories"`
}

// CategoryFigures are a rater's figures on one category.
type CategoryFigures struct {
	Category orbench.Category `json:"category"`
	Figures
}

// rater is a person, a moderator or the ensemble, with labels.
type rater struct {
	name string
	kind Kind
}

// entry is one labeled prompt, merged from all sources.
type entry struct {
	id       orbench.PromptID
	category orbench.Category
	labels   map[string]orbench.Label
	truth    orbench.Label
	// compared is true if the truth is safe or toxic.
	compared bool
}

// said returns a rater's label. Undecided counts as a label only for the
// ensemble, because that prompt does not pass. For all others it is an
// abstention.
func (e *entry) said(r rater) (orbench.Label, bool) {
	l := e.labels[r.name]
	return l, l != "" && (l != orbench.Undecided || r.kind == Joint)
}

// examination holds the data from which the parts of a Report are computed.
type examination struct {
	Examination
	raters  []rater
	entries []*entry
}

// Examine compares raters with the truth and with each other. It returns an
// *orbench.InputError if sheets and build do not fit together, or if the truth
// names a column that does not exist.
func Examine(c Examination) (Report, error) {
	switch {
	case c.Positive != orbench.Safe && c.Positive != orbench.Toxic:
		return Report{}, &orbench.InputError{Setting: "positive", Problem: fmt.Sprintf("the positive label is %q", c.Positive), Hint: "use safe or toxic"}
	case !(c.Prevalence > 0 && c.Prevalence < 1):
		return Report{}, &orbench.InputError{Setting: "prevalence", Problem: "the prevalence must be above 0 and below 1", Hint: "give the share of toxic prompts, such as 0.10"}
	}
	x := &examination{Examination: c}
	if err := x.merge(); err != nil {
		return Report{}, err
	}
	if err := x.settleTruth(); err != nil {
		return Report{}, err
	}
	r := Report{
		Truth:    TruthReport{Truth: x.Truth},
		Positive: c.Positive, Prevalence: c.Prevalence,
		Raters: []Rater{}, Notes: []string{},
	}
	for _, s := range c.Sheets {
		r.Files = append(r.Files, File{s.File, s.SHA256})
	}
	if c.Build != nil {
		r.Build = &File{c.Build.Name, c.Build.SHA256}
	}
	for _, who := range x.raters {
		if who.kind != Person && slices.Contains(x.Truth.Columns, who.name) {
			r.Truth.Moderators = true
		}
		r.Simulated = r.Simulated || who.kind == Moderator && strings.HasPrefix(who.name, "sim/")
	}
	x.count(&r)
	if p := r.Prompts; p.All > 0 && p.Unlabelled == p.All {
		return Report{}, x.Sheets[0].fault(0, fmt.Sprintf("none of the %d prompts has a label yet, in %s", p.All, strings.Join(x.Truth.Columns, ", ")),
			"fill in the columns of labels with safe, toxic or controversial, and repeat the report")
	}
	for _, who := range x.raters {
		// A rater whose labels are the truth cannot be compared with anything.
		if len(x.Truth.Columns) == 1 && x.Truth.Columns[0] == who.name {
			continue
		}
		r.Raters = append(r.Raters, x.rate(who))
	}
	r.Agreement, r.Fleiss = x.agreement(), x.fleiss()
	r.AgainstEnsemble = x.againstEnsemble()
	r.LeaveOneOut = x.leaveOneOut()
	x.note(&r)
	return r, nil
}

// merge combines the sheets and the build by prompt.
func (x *examination) merge() error {
	if len(x.Sheets) == 0 {
		return &orbench.InputError{Problem: "no labels are given", Hint: "name a CSV file of labels"}
	}
	built := map[orbench.PromptID]*Item{}
	var moderators []string
	ensemble := false
	if x.Build != nil {
		voted := map[string]orbench.Label{}
		for i := range x.Build.Items {
			it := &x.Build.Items[i]
			built[it.ID] = it
			ensemble = ensemble || it.Decision != ""
			maps.Copy(voted, it.Votes)
		}
		moderators = slices.Sorted(maps.Keys(voted))
	}
	var people table.Names
	byID := map[orbench.PromptID]*entry{}
	for _, s := range x.Sheets {
		for _, name := range s.Moderators {
			if x.Build != nil && slices.Contains(moderators, name) {
				return s.fault(1, "the votes of "+name+" are in this file and in "+x.Build.Name, "remove the column")
			}
		}
		if s.Ensemble && x.Build != nil && ensemble {
			return s.fault(1, "the ensemble's decisions are in this file and in "+x.Build.Name, "remove the column")
		}
		for _, row := range s.Rows {
			e := byID[row.ID]
			if e == nil {
				e = &entry{id: row.ID, category: row.Category, labels: map[string]orbench.Label{}}
				if x.Build != nil {
					it := built[row.ID]
					if it == nil {
						return s.fault(row.Line, fmt.Sprintf("the prompt %s is not in %s", row.ID, x.Build.Name), "name the benchmark that the sample was drawn from")
					}
					e.take(it)
				}
				byID[row.ID] = e
				x.entries = append(x.entries, e)
			}
			for name, label := range row.Labels {
				if before, ok := e.labels[name]; ok && before != label {
					return s.fault(row.Line, fmt.Sprintf("%s's label of %s is %s here and %s in another file", name, row.ID, label, before),
						"keep the right one, or give the files of two people two names")
				}
				e.labels[name] = label
			}
		}
	}
	// The names from the sheets come first, in the order of the columns, then
	// those from the build.
	var voters table.Names
	for _, s := range x.Sheets {
		people.Add(s.People...)
		voters.Add(s.Moderators...)
		ensemble = ensemble || s.Ensemble
	}
	voters.Add(moderators...)
	for _, name := range voters {
		if slices.Contains(people, name) {
			return x.Sheets[0].fault(1, name+" is the name of a person and of a moderator", "rename the column")
		}
	}
	if slices.Contains(people, Ensemble) {
		return x.Sheets[0].fault(0, "a rater cannot be called ensemble", "rename the file or the column")
	}
	for _, name := range people {
		x.raters = append(x.raters, rater{name, Person})
	}
	for _, name := range voters {
		x.raters = append(x.raters, rater{name, Moderator})
	}
	if ensemble {
		x.raters = append(x.raters, rater{Ensemble, Joint})
	}
	return nil
}

// take copies what a build knows about the prompt.
func (e *entry) take(it *Item) {
	e.category = it.Category
	maps.Copy(e.labels, it.Votes)
	if it.Decision != "" {
		e.labels[Ensemble] = it.Decision
	}
}

// settleTruth finds the columns of the truth and the truth of every prompt.
func (x *examination) settleTruth() error {
	var there table.Names
	for _, r := range x.raters {
		there.Add(r.name)
	}
	for _, s := range x.Sheets {
		there.Add(s.Others...)
	}
	if len(x.Truth.Columns) == 0 {
		x.Truth.Majority = true
		for _, r := range x.raters {
			if r.kind == Person {
				x.Truth.Columns = append(x.Truth.Columns, r.name)
			}
		}
		if len(x.Truth.Columns) == 0 {
			return x.Sheets[0].fault(0, "there are no labels of people", "add a column label or rater:NAME, or name the truth with `truth`")
		}
	}
	for _, c := range x.Truth.Columns {
		if !slices.Contains(there, c) {
			return &orbench.InputError{Setting: "truth", Problem: "there is no column " + c, Hint: "there are " + strings.Join(there, ", ")}
		}
	}
	for _, e := range x.entries {
		e.truth, _ = x.Truth.of(e.labels)
		e.compared = e.truth == orbench.Safe || e.truth == orbench.Toxic
	}
	return nil
}

func (x *examination) count(r *Report) {
	for _, e := range x.entries {
		r.Prompts.All++
		switch e.truth {
		case orbench.Safe:
			r.Prompts.Safe++
		case orbench.Toxic:
			r.Prompts.Toxic++
		case orbench.Controversial:
			r.Prompts.Controversial++
		default:
			given := slices.ContainsFunc(x.Truth.Columns, func(c string) bool {
				return e.labels[c] != "" && e.labels[c] != orbench.Undecided
			})
			if given {
				r.Prompts.Split++
			} else {
				r.Prompts.Unlabelled++
			}
		}
	}
}

// rate compares one rater with the truth.
func (x *examination) rate(who rater) Rater {
	r := Rater{
		Name: who.name, Kind: who.kind, Categories: []CategoryFigures{},
		InTruth: slices.Contains(x.Truth.Columns, who.name),
	}
	var all []labeled
	by := map[orbench.Category][]labeled{}
	for _, e := range x.entries {
		if !e.compared {
			continue
		}
		said, ok := e.said(who)
		if !ok {
			r.Missing++
			continue
		}
		l := labeled{e.truth, said}
		all = append(all, l)
		by[e.category] = append(by[e.category], l)
	}
	r.Figures = figures(all, x.Positive, x.Prevalence)
	if len(by) > 1 {
		for _, category := range slices.Sorted(maps.Keys(by)) {
			if cases := by[category]; len(cases) >= MinCategory {
				r.Categories = append(r.Categories, CategoryFigures{category, figures(cases, x.Positive, x.Prevalence)})
			}
		}
	}
	return r
}

// note adds what was left out and why.
func (x *examination) note(r *Report) {
	add := func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	if r.Truth.Moderators {
		add("The truth includes votes of moderators, which makes them look better; leave `truth` out to use the people's majority alone.")
	}
	if r.Prompts.Safe+r.Prompts.Toxic == 0 {
		add("No prompt has a truth of safe or toxic, so there is nothing to compare with.")
	}
	moderators, ensemble := len(x.ofKind(Moderator)), len(x.ofKind(Joint)) > 0
	for _, rated := range r.Raters {
		if rated.Kind == Joint && rated.N > 0 && rated.SafePassed.K+rated.ToxicPassed.K == rated.N {
			add("Every prompt of the sample passed the ensemble, so its error rates say nothing; read the share of toxic prompts among those that passed.")
		}
	}
	switch {
	case moderators == 0 && !ensemble:
		add("Moderators are left out, because there are no votes. Name their build with `build`, or add columns moderator:NAME and ensemble.")
	case moderators == 0:
		add("Single moderators and leave-one-out are left out: only the ensemble's decisions are there.")
	case moderators < 3:
		add("Leave-one-out is left out: it needs three moderators, and there are %d.", moderators)
	}
	if moderators > 0 && !ensemble {
		add("The ensemble's decisions are not there, so single moderators are not compared with it.")
	}
	if !slices.ContainsFunc(r.Raters, func(rated Rater) bool { return len(rated.Categories) > 0 }) {
		add("Categories are left out: they need two, and at least %d prompts with a truth in one.", MinCategory)
	}
}
