package annotation

import (
	"iter"
	"slices"
	"time"

	"github.com/orbench/orbench"
)

// KeptPlan is a plan with its hash, in hex, and the time when it was kept.
type KeptPlan struct {
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
	orbench.LabelPlan
}

// NewPlan returns the annotation that keeps a plan for cells. It sets the plan's
// Designs and Classes. A cell with a label, or with a plan, is an
// *orbench.InputError. It returns an error of items.
func NewPlan(p orbench.LabelPlan, items iter.Seq2[Item, error], words Words, at time.Time) (orbench.Annotation, error) {
	for it, err := range items {
		if err != nil {
			return orbench.Annotation{}, err
		}
		design := it.Design()
		if kept := words.Plan(it.Cell); kept != nil {
			return orbench.Annotation{}, &orbench.InputError{
				File: design, Problem: "the plan " + kept.Hash[:8] + " is kept already", Hint: "label by it; a plan does not change",
			}
		}
		if words.Drawn(it.Cell, it.Subject) && len(words.said[it.Subject]) > 0 {
			return orbench.Annotation{}, &orbench.InputError{
				File: design, Problem: "an answer has a label already", Hint: "a plan must come before the first label; plan another run",
			}
		}
		if !slices.Contains(p.Designs, design) {
			p.Designs = append(p.Designs, design)
		}
	}
	slices.Sort(p.Designs)
	p.Classes = labelClasses
	return orbench.Annotation{Subject: p.Hash(), Plan: &p, At: at}, nil
}

// Plan returns the plan for a cell; nil if none was kept.
func (w Words) Plan(c Cell) *KeptPlan {
	for _, a := range w.plans {
		if slices.Contains(a.Plan.Designs, c.Design()) {
			return &KeptPlan{Hash: a.Subject.String(), At: a.At, LabelPlan: *a.Plan}
		}
	}
	return nil
}
