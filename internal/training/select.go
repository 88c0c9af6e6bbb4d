package training

import (
	"slices"

	"github.com/orbench/orbench"
)

// Set is a training set: its rows and its manifest.
type Set struct {
	Manifest
	// Rows are the rows of each split, in the order of Splits and of the run.
	Rows [len(Splits)][]Example
}

// Select makes the set. If it has no rows, its Manifest.Parts is empty.
func (c *Collection) Select() (*Set, error) {
	o := c.opts
	s := &Set{Manifest: c.manifest}
	s.Format, s.Kind, s.Plain = FormatVersion, o.Format, o.Plain
	s.Target, s.ChosenFrom, s.PerPrompt = o.Target, o.ChosenFrom, o.PerPrompt
	s.ToxicShare, s.Harmful, s.Splits, s.Seed = o.ToxicShare, o.Harmful, o.Splits, o.Seed
	s.Evaluations = *o.Against
	for _, it := range c.items {
		it.decide(o)
	}
	kept := func() []*item {
		return slices.DeleteFunc(slices.Clone(c.items), func(it *item) bool { return it.cause != "" })
	}
	o.separate(kept())
	s.before, s.avoided = map[orbench.Label]int{}, o.Format == KTO
	for _, it := range kept() {
		s.before[it.prompt.Label]++
	}
	o.balance(kept())
	for _, name := range Splits {
		for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
			s.Parts = append(s.Parts, Part{Split: name, Label: label})
		}
	}
	for _, it := range c.items {
		if it.cause != "" {
			s.Prompts.leave(it.cause, 1)
			// Answers of a further dataset are counted where they were met.
			seen := min(it.seen, c.width)
			for _, cause := range it.left {
				if cause == ServedByOther {
					s.Answers.leave(cause, 1)
					seen--
				}
			}
			s.Answers.leave(PromptLeftOut, seen)
			continue
		}
		rows, used := it.rows(o, c.system)
		s.Prompts.Written++
		s.avoided = s.avoided && len(it.chosen) == 0
		s.Answers.Written += used
		for _, cause := range it.left {
			s.Answers.leave(cause, 1)
		}
		s.Answers.leave(Surplus, len(it.chosen)+len(it.rejected)-used)
		s.Rows[it.split] = append(s.Rows[it.split], rows...)
		for i := range s.Parts {
			if p := &s.Parts[i]; p.Split == Splits[it.split] && p.Label == it.prompt.Label {
				p.Prompts++
				p.Rows += len(rows)
			}
		}
	}
	if err := s.Prompts.check("prompts"); err != nil {
		return nil, err
	}
	return s, s.Answers.check("answers")
}

// decide decides whether an item has enough answers for a row.
func (it *item) decide(o Options) {
	complying := it.prompt.Label == orbench.Toxic && len(it.rejected) > 0 && !o.Harmful
	switch {
	case it.cause != "" || o.Format == Prompts:
	case len(it.chosen) == 0 && (o.Format != KTO || len(it.rejected) == 0):
		it.cause = NoChosen
	case len(it.rejected) == 0 && o.Format == DPO:
		it.cause = NoRejected
	case complying && (o.Format == DPO || len(it.chosen) == 0):
		it.cause = HeldBack
	case complying:
		for range it.rejected {
			it.left = append(it.left, AnswerHeldBack)
		}
		it.rejected = nil
	}
}

// rows makes the rows of an item, and gives the number of answers in them.
func (it *item) rows(o Options, system string) (rows []Example, used int) {
	add := func(chosen, rejected *Answer) {
		rows = append(rows, Example{it.prompt, it.dataset, system, chosen, rejected})
	}
	chosen, rejected := min(o.PerPrompt, len(it.chosen)), min(o.PerPrompt, len(it.rejected))
	switch o.Format {
	case Prompts:
		add(nil, nil)
		return rows, 0
	case SFT, KTO:
		for _, a := range it.chosen[:chosen] {
			add(a, nil)
		}
		for _, a := range it.rejected[:rejected] {
			add(nil, a)
		}
		return rows, len(rows)
	}
	// Each chosen answer is paired with a different rejected one, while there are any.
	n := max(chosen, rejected)
	for i := range n {
		add(it.chosen[i%chosen], it.rejected[i%rejected])
	}
	return rows, chosen + rejected
}
