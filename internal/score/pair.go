package score

import (
	"iter"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
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
	// Base is the target that the pair is a variant of, or Target, and Change what makes it a
	// variant, with the number of its samples; empty for a target that is none. Title is the
	// target's name with that number, and Datasets those on which the pair was measured.
	Base, Change, Title, Datasets string
	// Name is the pair's label in plots: its title, with the datasets if the title alone does
	// not tell it from other pairs by its judge, of which there are Several.
	Name        string
	Several     bool
	Safe, Toxic *Side
	// Simulated is true if a figure of the pair is simulated.
	Simulated bool
}

// Pairs matches the safe and the toxic runs of each target, judge by judge, in
// the result's order of targets. Two labels of one dataset belong together. A
// dataset with only safe prompts is matched with each dataset that has only
// toxic prompts. What remains has one side.
func (r *Result) Pairs() (all []Pair) {
	for _, target := range r.Targets() {
		of := func(label orbench.Label) []RunResult {
			return slices.DeleteFunc(slices.Clone(r.Runs), func(run RunResult) bool { return run.Target != target || run.Label != label })
		}
		safe, toxic := of(orbench.Safe), of(orbench.Toxic)
		for _, judge := range judgesOf(slices.Concat(safe, toxic)) {
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
	names.Add(table.RowsOf(r.Runs, func(run RunResult) string { return run.Target })...)
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
		names.Add(table.RowsOf(run.Judges, func(j JudgeResult) string { return j.Judge })...)
	}
	return names
}

func pairsBy(target, judge string, safe, toxic []RunResult) (pairs []Pair) {
	xs, ys := sidesBy(judge, safe), sidesBy(judge, toxic)
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
		p := &pairs[i]
		sides := p.sides()
		run := sides[0].Run
		p.Target, p.Judge, p.Several, p.Title, p.Base = target, judge, len(pairs) > 1, run.TargetCaption(), run.Model()
		p.Datasets = table.Datasets(run.Dataset, sides[len(sides)-1].Run.Dataset)
		if p.Name = p.Title; p.Several {
			p.Name += " (" + p.Datasets + ")"
		}
		if run.Base != "" {
			p.Change = strings.TrimPrefix(p.Title, run.Base+" ")
		}
		p.Simulated = slices.ContainsFunc(sides, func(s *Side) bool { return s.Run.Simulated || s.Judge.Simulated })
	}
	return pairs
}

func sidesBy(judge string, runs []RunResult) (sides []*Side) {
	for _, run := range runs {
		if j := run.By(judge); j != nil {
			sides = append(sides, &Side{Run: run, Judge: *j})
		}
	}
	return sides
}

// By returns what a judge made of the run; nil if it judged nothing.
func (r RunResult) By(judge string) *JudgeResult {
	if i := slices.IndexFunc(r.Judges, func(j JudgeResult) bool { return j.Judge == judge }); i >= 0 {
		return &r.Judges[i]
	}
	return nil
}

// sides returns the sides that the pair has.
func (p Pair) sides() []*Side {
	return slices.DeleteFunc([]*Side{p.Safe, p.Toxic}, func(s *Side) bool { return s == nil })
}

// Ranged reports whether each measured rate has a range.
func (p Pair) Ranged() bool {
	return !slices.ContainsFunc(p.sides(), func(s *Side) bool { return s.Defined() && s.Judge.Rate.Range == nil })
}

// Labeled reports whether people's labels replace a measured rate.
func (p Pair) Labeled() bool {
	return slices.ContainsFunc(p.sides(), func(s *Side) bool { return s.Defined() && s.Best().Judge == "" })
}

// Best is the rate by people's labels where that replaces the judge's, and else the judge's.
func (s *Side) Best() figure.Figure {
	if f, ok := s.Run.Best(); ok && f.Judge == "" {
		return f
	}
	return s.Judge.Rate
}
