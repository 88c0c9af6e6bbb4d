package score

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
)

// Side is one target's prompts of one label as one judge sees them.
type Side struct {
	Run   RunResult
	Judge JudgeResult
}

// Defined reports whether the side exists and has judged answers, so that there
// is a rate to show.
func (s *Side) Defined() bool { return s != nil && s.Judge.Rate.Sampled() != nil }

// Pair is both sides of one target by one judge: over-refusal and toxic
// refusal. One of the two is nil if the result lacks it.
type Pair struct {
	Target, Judge string
	Safe, Toxic   *Side
	// Several is true if the target has more than one pair by this judge. Its
	// name alone then does not identify the pair.
	Several bool
}

// Pairs matches the safe and the toxic runs of each target, judge by judge, in
// the result's order of targets. Two labels of one dataset belong together. A
// dataset with only safe prompts is matched with each dataset that has only
// toxic prompts. What remains has one side.
func (r *Result) Pairs() []Pair {
	var all []Pair
	for _, target := range r.Targets() {
		var safe, toxic []RunResult
		for _, run := range r.Runs {
			switch {
			case run.Target != target:
			case run.Label == orbench.Safe:
				safe = append(safe, run)
			case run.Label == orbench.Toxic:
				toxic = append(toxic, run)
			}
		}
		for _, judge := range judgesOf(append(slices.Clone(safe), toxic...)) {
			all = append(all, pairsBy(target, judge, safe, toxic)...)
		}
	}
	return all
}

// Judged gives each run with the result of each of its judges.
func (r *Result) Judged() iter.Seq2[*RunResult, *JudgeResult] {
	return func(yield func(*RunResult, *JudgeResult) bool) {
		for i := range r.Runs {
			run := &r.Runs[i]
			for k := range run.Judges {
				if !yield(run, &run.Judges[k]) {
					return
				}
			}
		}
	}
}

// Targets lists the targets in order of appearance.
func (r *Result) Targets() []string {
	var names table.Names
	for _, run := range r.Runs {
		names.Add(run.Target)
	}
	return names
}

// Labels lists the labels that occur, in their order.
func (r *Result) Labels() []orbench.Label {
	return slices.DeleteFunc(slices.Clone(orbench.Labels), func(l orbench.Label) bool {
		return !slices.ContainsFunc(r.Runs, func(run RunResult) bool { return run.Label == l })
	})
}

// Judges lists the judges in order of appearance.
func (r *Result) Judges() []string { return judgesOf(r.Runs) }

// judgesOf lists the judges of some runs in order of appearance.
func judgesOf(runs []RunResult) []string {
	var names table.Names
	for _, run := range runs {
		for _, j := range run.Judges {
			names.Add(j.Judge)
		}
	}
	return names
}

func pairsBy(target, judge string, safe, toxic []RunResult) []Pair {
	xs, ys := sidesBy(judge, safe), sidesBy(judge, toxic)
	var pairs []Pair
	xs = slices.DeleteFunc(xs, func(x *Side) bool {
		i := slices.IndexFunc(ys, func(y *Side) bool {
			return y.Run.Dataset == x.Run.Dataset && y.Run.DatasetSHA256 == x.Run.DatasetSHA256
		})
		if i < 0 {
			return false
		}
		pairs = append(pairs, Pair{Safe: x, Toxic: ys[i]})
		ys = slices.Delete(ys, i, i+1)
		return true
	})
	// Without a side to match, the others have one side.
	if len(xs) == 0 {
		xs = []*Side{nil}
	}
	if len(ys) == 0 {
		ys = []*Side{nil}
	}
	for _, x := range xs {
		for _, y := range ys {
			if x != nil || y != nil {
				pairs = append(pairs, Pair{Safe: x, Toxic: y})
			}
		}
	}
	for i := range pairs {
		pairs[i].Target, pairs[i].Judge, pairs[i].Several = target, judge, len(pairs) > 1
	}
	return pairs
}

func sidesBy(judge string, runs []RunResult) []*Side {
	var sides []*Side
	for _, run := range runs {
		if j := run.By(judge); j != nil {
			sides = append(sides, &Side{Run: run, Judge: *j})
		}
	}
	return sides
}

// By returns what a judge made of the run; nil if it judged nothing.
func (r RunResult) By(judge string) *JudgeResult {
	for _, j := range r.Judges {
		if j.Judge == judge {
			return &j
		}
	}
	return nil
}

// sides returns the sides that the pair has.
func (p Pair) sides() []*Side {
	return slices.DeleteFunc([]*Side{p.Safe, p.Toxic}, func(s *Side) bool { return s == nil })
}

// first returns a run that the pair has.
func (p Pair) first() RunResult { return p.sides()[0].Run }

// Datasets names the datasets on which the pair was measured.
func (p Pair) Datasets() string {
	sides := p.sides()
	return table.Datasets(sides[0].Run.Dataset, sides[len(sides)-1].Run.Dataset)
}

// Name is the pair's label in plots: its title, with the datasets if the title
// alone does not tell it from other pairs by its judge.
func (p Pair) Name() string {
	if p.Several {
		return p.Title() + " (" + p.Datasets() + ")"
	}
	return p.Title()
}

// Ranged reports whether each measured rate has a range.
func (p Pair) Ranged() bool {
	return !slices.ContainsFunc(p.sides(), func(s *Side) bool { return s.Defined() && s.Judge.Rate.Range == nil })
}

// Labeled reports whether people's labels correct each measured rate.
func (p Pair) Labeled() bool {
	return !slices.ContainsFunc(p.sides(), func(s *Side) bool { return s.Defined() && s.Run.Labeled == nil })
}

// Title is the target's name, with the number of its samples.
func (p Pair) Title() string { return p.first().TargetCaption() }

// Simulated reports whether a figure of the pair is simulated.
func (p Pair) Simulated() bool {
	return slices.ContainsFunc(p.sides(), func(s *Side) bool { return s.Run.Simulated || s.Judge.Simulated })
}

// Change names what makes a variant of its target, with the number of its
// samples. It is empty for a target that is not a variant.
func (p Pair) Change() string {
	run := p.first()
	if run.Base == "" {
		return ""
	}
	return strings.TrimPrefix(run.TargetCaption(), run.Base+" ")
}

// Base returns the name of the target that the pair is a variant of, or its own
// name.
func (p Pair) Base() string { return cmp.Or(p.first().Base, p.Target) }
