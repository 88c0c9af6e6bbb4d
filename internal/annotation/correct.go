package annotation

import (
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

const confidence = 0.95

// Words are what people say, by subject. NewWords makes them.
type Words struct {
	// said has the latest word of each person.
	said map[orbench.Subject]map[string]orbench.Annotation
	// chance is how likely a subject was to be drawn, by design and subject.
	chance map[drawing]float64
	// onPrompts is true when anybody has labeled a prompt.
	onPrompts bool
}

type drawing struct {
	design  string
	subject orbench.Subject
}

// NewWords sorts annotations, which are in the order of their times.
func NewWords(annotations []orbench.Annotation) Words {
	w := Words{said: map[orbench.Subject]map[string]orbench.Annotation{}, chance: map[drawing]float64{}}
	for _, a := range annotations {
		if a.Design != "" && a.Chance > 0 {
			w.chance[drawing{a.Design, a.Subject}] = a.Chance
		}
		if a.By == "" {
			continue
		}
		w.onPrompts = w.onPrompts || a.Label != ""
		if w.said[a.Subject] == nil {
			w.said[a.Subject] = map[string]orbench.Annotation{}
		}
		w.said[a.Subject][a.By] = a
	}
	return w
}

// Empty reports whether there are no annotations at all.
func (w Words) Empty() bool { return len(w.said) == 0 && len(w.chance) == 0 }

// Drawn reports whether a subject was drawn from a cell.
func (w Words) Drawn(c Cell, s orbench.Subject) bool {
	return w.chance[drawing{c.Design(), s}] > 0
}

// Of gives what a person says of a subject; false where nothing, or where it was
// taken back.
func (w Words) Of(s orbench.Subject, person string) (orbench.Annotation, bool) {
	a, ok := w.said[s][person]
	return a, ok && (a.Class != orbench.Unjudged || a.Label != "")
}

// All gives the latest words of all people on an answer, by their names.
func (w Words) All(s orbench.Subject) (all []orbench.Annotation) {
	for _, person := range slices.Sorted(maps.Keys(w.said[s])) {
		if a := w.said[s][person]; a.Class != orbench.Unjudged {
			all = append(all, a)
		}
	}
	return all
}

// Refused gives the share of people who call an answer a refusal, from 0 to 1; false
// where nobody has said anything.
func (w Words) Refused(s orbench.Subject) (share float64, ok bool) {
	all := w.All(s)
	for _, a := range all {
		if a.Class.Refused() {
			share++
		}
	}
	return share / float64(max(1, len(all))), len(all) > 0
}

// OnPrompts reports whether anybody has labeled a prompt.
func (w Words) OnPrompts() bool { return w.onPrompts }

// Disputed reports whether people who labeled a prompt take it for something else
// than its dataset does, a half of them or more.
func (w Words) Disputed(p orbench.Prompt) bool {
	if !w.onPrompts {
		return false
	}
	n, other := 0, 0
	for _, a := range w.said[orbench.PromptSubject(p.Messages)] {
		if a.Label != "" {
			n++
			if a.Label != p.Label {
				other++
			}
		}
	}
	return n > 0 && 2*other >= n
}

// Tally counts the answers of one cell, for its corrected rate.
type Tally struct {
	cell    Cell
	words   Words
	sizes   [groups]int
	weights [groups]float64
	squares [groups]float64
	refused [groups]float64
	labels  [groups]int
	people  map[string]bool
	// disagree counts labeled answers of which people say different things in two
	// classes, double those that several people labeled.
	disagree, several int
}

// NewTally starts a tally of a cell.
func NewTally(c Cell, w Words) *Tally {
	return &Tally{cell: c, words: w, people: map[string]bool{}}
}

// Add counts an answer. Labels on answers that were not drawn from the cell by
// chance do not count, since nobody can say what they stand for.
func (t *Tally) Add(s orbench.Subject, g Group) {
	t.sizes[g]++
	chance := t.words.chance[drawing{t.cell.Design(), s}]
	if g == Withheld || chance == 0 {
		return
	}
	share, ok := t.words.Refused(s)
	if !ok {
		return
	}
	w := 1 / chance
	t.labels[g]++
	t.weights[g] += w
	t.squares[g] += w * w
	t.refused[g] += w * share
	all := t.words.All(s)
	for _, a := range all {
		t.people[a.By] = true
	}
	if len(all) > 1 {
		t.several++
		if share > 0 && share < 1 {
			t.disagree++
		}
	}
}

// Corrected is a rate as people's labels correct it.
type Corrected struct {
	// Rate is the share of refusals among all answers of the cell, with its 95%
	// interval, which counts the drawing of labels and that of prompts.
	Rate stats.Estimate `json:"rate"`
	// Labels is the number of answers that were drawn and labeled, People how many
	// people labeled them, Several how many of the answers more than one of them did,
	// and Disagreed on how many of those they disagree whether it is a refusal.
	Labels    int `json:"labels"`
	People    int `json:"people"`
	Several   int `json:"labeled_by_several,omitempty"`
	Disagreed int `json:"disagreed,omitempty"`
	// Groups has what people say by what the judges say, without empty groups.
	Groups []CorrectedGroup `json:"groups"`
}

// CorrectedGroup is a group of answers with its labels.
type CorrectedGroup struct {
	Group string `json:"group"`
	Size  int    `json:"size"`
	// Labels and Refused are how many were labeled, and the weighted share of those
	// that are refusals; Refused is nil without labels.
	Labels  int      `json:"labels"`
	Refused *float64 `json:"refused"`
}

// Corrected gives the corrected rate; designEffect is that of prompts that share
// clusters. It reports false while there are no labels, or none on either side of
// what judges say, so that nothing can be told of a part of the answers.
//
// A group without labels counts with the nearest group that has some, of those in
// which judges say the same.
func (t *Tally) Corrected(designEffect float64) (Corrected, bool) {
	c := Corrected{People: len(t.people), Several: t.several, Disagreed: t.disagree}
	var strata []stats.LabeledStratum
	for g := range groups {
		if t.sizes[g] == 0 {
			continue
		}
		shown := CorrectedGroup{Group: g.String(), Size: t.sizes[g], Labels: t.labels[g]}
		if t.labels[g] > 0 {
			share := t.refused[g] / t.weights[g]
			shown.Refused = &share
		}
		c.Labels += t.labels[g]
		c.Groups = append(c.Groups, shown)
	}
	if c.Labels == 0 {
		return c, false
	}
	for _, merged := range t.merged() {
		var s stats.LabeledStratum
		var weights, squares, refused float64
		for _, g := range merged {
			s.Size += t.sizes[g]
			weights, squares, refused = weights+t.weights[g], squares+t.squares[g], refused+t.refused[g]
		}
		switch {
		case s.Size == 0:
			continue
		case merged[0] == Withheld:
			s.Mean, s.Labels = 1, float64(s.Size)
		case weights == 0:
			return c, false
		default:
			s.Mean, s.Labels = min(1, refused/weights), weights*weights/squares
		}
		strata = append(strata, s)
	}
	rate, ok := stats.StratifiedRate(strata, designEffect, confidence)
	c.Rate = rate
	return c, ok
}

// merged parts the groups so that each part has labels, where it can: a group
// without goes to a neighbor.
func (t *Tally) merged() [][]Group {
	var parts [][]Group
	for _, side := range [][]Group{{SureAnswer, UnsureAnswer}, {Disagreement, Unjudged}, {UnsureRefusal, SureRefusal}} {
		labeled := slices.DeleteFunc(slices.Clone(side), func(g Group) bool { return t.sizes[g] == 0 })
		if slices.ContainsFunc(labeled, func(g Group) bool { return t.labels[g] == 0 }) {
			parts = append(parts, labeled)
			continue
		}
		for _, g := range labeled {
			parts = append(parts, []Group{g})
		}
	}
	parts = slices.DeleteFunc(parts, func(p []Group) bool { return len(p) == 0 })
	return append(parts, []Group{Withheld})
}

// Rows gives each entry with every word said of it, a row a word, and once without
// one where nobody said any.
func (w Words) Rows(entries []Entry) []Entry {
	var rows []Entry
	for _, e := range entries {
		said := w.All(e.Subject)
		if len(said) == 0 {
			rows = append(rows, e)
		}
		for _, s := range said {
			e.Word, e.By, e.Note = string(s.Class), s.By, s.Note
			rows = append(rows, e)
		}
	}
	return rows
}
