package annotation

import (
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Imported says what became of labels that were made elsewhere.
type Imported struct {
	// Found counts the labels of answers of the run; Prompts counts those of
	// prompts.
	Found, Prompts int
	// Unknown counts labels of answers that the run does not have. Alone counts
	// those that correct no rate, because it is unknown how their answers were
	// chosen.
	Unknown, Alone int
	// Sighted counts the labels that were made with a judge's verdict in sight.
	Sighted int
	// Swapped is true if the labels surely say of most answers the contrary of what judges say.
	Swapped bool
}

// Unsaid returns the annotations without the labels that the same person once gave to the
// same subject. So a table that was exported before does not undo what people said since;
// replaced counts its labels that differ from the person's latest.
func Unsaid(placed, before []orbench.Annotation) (unsaid []orbench.Annotation, replaced int) {
	said := func(a orbench.Annotation) orbench.Annotation {
		return orbench.Annotation{Subject: a.Subject, By: a.By, How: a.How, Class: a.Class, Label: a.Label, Undecided: a.Undecided, Note: a.Note}
	}
	once, words := map[orbench.Annotation]bool{}, NewWords(before)
	for _, a := range before {
		once[said(a)] = true
	}
	for _, a := range placed {
		if a.By == "" || !once[said(a)] {
			unsaid = append(unsaid, a)
		} else if Word(words.latest(a.Subject, a.By, a.How)) != Word(a) {
			replaced++
		}
	}
	return unsaid, replaced
}

// Place finds the cells of labels that were made elsewhere, among the answers
// of a run, so that they count for its corrected rates. A label counts with the
// chance that it brings. Without one, it counts with certainty in a cell of
// which every answer is labeled. If random says that the answers were drawn at
// random from each cell, it counts with the share that was drawn. words holds
// earlier drawings. The returned annotations include one more for each placed
// label. Other labels are kept, but correct no rate.
func Place(labels []orbench.Annotation, items iter.Seq2[Item, error], words Words, random bool) ([]orbench.Annotation, Imported, error) {
	var done Imported
	bySubject := map[orbench.Subject]orbench.Annotation{}
	placed := make([]orbench.Annotation, len(labels))
	for i, a := range labels {
		if a.Label != "" {
			done.Prompts++
		}
		bySubject[a.Subject] = a
		// The chance is set for the cells below.
		a.Design, a.Chance = "", 0
		placed[i] = a
	}
	size, labeled := map[Cell]int{}, map[Cell]int{}
	var known []Item
	for it, err := range items {
		if err != nil {
			return nil, done, err
		}
		_, ok := bySubject[it.Subject]
		if ok {
			known = append(known, it)
		}
		if it.Group == Withheld {
			continue
		}
		size[it.Cell]++
		if ok {
			labeled[it.Cell]++
		}
	}
	// Whether people and judges say that an answer is a refusal.
	var both stats.Confusion
	found, drawn := map[orbench.Subject]bool{}, map[orbench.Subject]bool{}
	for _, it := range known {
		a := bySubject[it.Subject]
		found[it.Subject] = true
		if g := it.Group.whole(); a.Class != "" && slices.Contains([]Group{SureAnswer, UnsureAnswer, UnsureRefusal, SureRefusal}, g) {
			both.Add(a.Class.Refused(), g >= UnsureRefusal)
		}
		chance := a.Chance
		if chance == 0 && (random || labeled[it.Cell] == size[it.Cell]) {
			chance = float64(labeled[it.Cell]) / float64(size[it.Cell])
		}
		if words.Drawn(it.Cell, it.Subject) {
			drawn[it.Subject] = true
			continue // an earlier drawing is known; the chance of a later one may have grown
		}
		if chance > 0 && it.Group != Withheld {
			drawn[it.Subject] = true
			placed = append(placed, orbench.Annotation{Subject: it.Subject, At: a.At, Design: it.Design(), Chance: chance})
		}
	}
	for _, a := range labels {
		if a.How == orbench.Sighted {
			done.Sighted++
		}
		switch {
		case a.Label != "":
		case !found[a.Subject]:
			done.Unknown++
		default:
			done.Found++
			if !drawn[a.Subject] {
				done.Alone++
			}
		}
	}
	done.Swapped = both.Reversed()
	return placed, done, nil
}
