package tradeoff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/report/caption"
	"github.com/orbench/orbench/internal/score"
)

// Pair is what the trade-off is about: the over-refusal and the toxic refusal of
// one target, by one judge.
type Pair struct{ score.Pair }

// Pairs gives the two sides of each target, judge by judge.
func Pairs(r score.Result) []Pair {
	var all []Pair
	for _, p := range r.Pairs() {
		all = append(all, Pair{p})
	}
	return all
}

// sides are those that the run has.
func (p Pair) sides() []*score.Side {
	return slices.DeleteFunc([]*score.Side{p.Safe, p.Toxic}, func(s *score.Side) bool { return s == nil })
}

// first is a side that the run has.
func (p Pair) first() score.RunResult { return p.sides()[0].Run }

// datasets names what the pair was measured on.
func (p Pair) datasets() string {
	sides := p.sides()
	return caption.Datasets(sides[0].Run.Dataset, sides[len(sides)-1].Run.Dataset)
}

// Name is the pair's label in plots: its title, with the datasets where the title
// alone does not tell it from other pairs by its judge.
func (p Pair) Name() string {
	if p.Several {
		return p.Title() + " (" + p.datasets() + ")"
	}
	return p.Title()
}

// ranged reports whether each rate that was measured has its judge's known error.
func (p Pair) ranged() bool {
	return !slices.ContainsFunc(p.sides(), func(s *score.Side) bool { return s.Defined() && s.Judge.Range == nil })
}

// labeled reports whether people's labels correct each rate that was measured.
func (p Pair) labeled() bool {
	return !slices.ContainsFunc(p.sides(), func(s *score.Side) bool { return s.Defined() && s.Run.Labeled == nil })
}

// Title is the target's name, with the number of its samples.
func (p Pair) Title() string { return caption.Target(p.first()) }

// Simulated reports whether a figure of the pair is simulated.
func (p Pair) Simulated() bool {
	return slices.ContainsFunc(p.sides(), func(s *score.Side) bool { return s.Run.Simulated || s.Judge.Simulated })
}

// Versions names the datasets behind the pair with their hashes.
func (p Pair) Versions() string {
	var names []string
	for _, s := range p.sides() {
		if name := caption.Dataset(s.Run); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " × ")
}

// change is what makes a variant of its target, with the number of its samples;
// empty for a target that is none.
func (p Pair) change() string {
	run := p.first()
	if run.Base == "" {
		return ""
	}
	return strings.TrimPrefix(caption.Target(run), run.Base+" ")
}

// base is the name of the target of which the pair is a variant, or its own.
func (p Pair) base() string { return cmp.Or(p.first().Base, p.Target) }
