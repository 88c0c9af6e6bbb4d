package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/dialect/classify"
	"github.com/orbench/orbench/internal/question"
)

// Label is a classifier's label for a text, with its score from 0 to 1. Flagged is nil if
// the server decides nothing.
type Label struct {
	Label   string  `json:"label"`
	Score   float64 `json:"score"`
	Flagged *bool   `json:"flagged"`
}

// ReadLabels reads the labels of a classifier in the form of package model/classify.
// There must be at least one.
func ReadLabels(reply string) (labels []Label, err error) {
	if err := json.Unmarshal([]byte(reply), &labels); err != nil || len(labels) == 0 {
		return nil, fmt.Errorf("it is not a list of labels: %q", question.Clip(reply))
	}
	for _, l := range labels {
		if !(l.Score >= 0 && l.Score <= 1) {
			return nil, fmt.Errorf("its score of %q is %g, but must be from 0 to 1", question.Clip(l.Label), l.Score)
		}
	}
	return labels, nil
}

// readLabels reads what the labels of a classifier mean. The score is the highest among
// the labels that mean harm. If the server itself flags labels or the text, its flag
// decides; otherwise a score of 0.5 or more does. A threshold is applied later. A server's
// flag for the whole text is not used with the user's own labels, since it is not about
// them.
func (g Guard) readLabels(about About, reply string) (Assessment, error) {
	labels, err := ReadLabels(reply)
	if err != nil {
		return Assessment{}, err
	}
	known := Classifier.traits()
	var own []string
	for _, l := range g.Labels {
		own = append(own, question.Fold(strings.TrimSpace(l)))
	}
	var a Assessment
	var harm, harmless float64
	found, settled, flagged := false, false, false
	decides := slices.ContainsFunc(labels, func(l Label) bool { return l.Flagged != nil })
	for _, l := range labels {
		name := question.Fold(strings.TrimSpace(l.Label))
		switch {
		case own != nil && !slices.Contains(own, name), own == nil && slices.Contains(known.Harmless, name):
			harmless = max(harmless, l.Score)
			continue
		case own == nil && !decides && !slices.Contains(known.Harm, name):
			return a, fmt.Errorf("its label %q is not known as one for harm or for none; name those for harm with label=LABEL", question.Clip(l.Label))
		}
		if l.Flagged != nil {
			settled, flagged = true, flagged || *l.Flagged
			if l.Label == classify.Decision && len(labels) > 1 {
				continue // no score
			}
		}
		harm, found = max(harm, l.Score), true
		if l.Flagged != nil && *l.Flagged || l.Flagged == nil && l.Score >= 0.5 {
			a.addHazards(l.Label)
		}
	}
	switch {
	case !found && !settled && (len(labels) > 1 || labels[0].Flagged != nil):
		return Assessment{}, errors.New("none of its labels is one that means harm")
	case !found:
		// Only the highest label is given; there may be more of them.
		harm = min(1-harmless, math.Nextafter(0.5, 0))
	}
	a.Score = &harm
	a.set(about, settled && flagged || !settled && harm >= 0.5)
	return a, nil
}
