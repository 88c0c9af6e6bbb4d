package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// subject is a target on one set of prompts: at most one run for each label.
type subject struct {
	target, dataset string
	// base is the target that this is a variant of, or the target itself.
	base      string
	simulated bool
	runs      map[orbench.Label]score.RunResult
}

// subjects groups the runs of each target. If no label occurs twice, all runs
// of a target are one subject; otherwise those of one dataset are.
func subjects(r score.Result) []subject {
	type labeled struct {
		target string
		label  orbench.Label
	}
	several, seen := map[string]bool{}, map[labeled]bool{}
	for _, run := range r.Runs {
		of := labeled{run.Target, run.Label}
		several[run.Target] = several[run.Target] || seen[of]
		seen[of] = true
	}
	var all []subject
	for _, run := range r.Runs {
		target, name := run.TargetCaption(), run.DatasetCaption()
		added := subject{target: target, dataset: name, base: cmp.Or(run.Base, run.Target), simulated: run.Simulated, runs: map[orbench.Label]score.RunResult{}}
		of := table.Entry(&all, added, func(s subject) bool {
			_, taken := s.runs[run.Label]
			return s.target == target && !taken && (!several[run.Target] || s.dataset == name)
		})
		if !slices.Contains(strings.Split(of.dataset, " × "), name) {
			of.dataset += " × " + name
		}
		of.runs[run.Label] = run
	}
	return all
}

// name returns the target's name, marked if it is simulated.
func (s subject) name() string { return table.Name(s.target, s.simulated) }

// shown is a rate as a screen shows it.
type shown struct {
	// by is the judge, or how many people's labels correct the rate.
	by         string
	n, refused int
	// share is from 0 to 1, or nil if there is none.
	share *float64
	// ends are the ends of the range for a new model. If the judge's error is
	// not known they are those of the 95% interval; nil if there is neither.
	// They count unjudged answers both ways.
	ends *[2]float64
	// widened is true if ends are for a new model. labeled is true for a
	// rate that people's labels correct.
	widened, labeled bool
	// of is the judge's result; nil for people's labels.
	of *score.JudgeResult
}

// rates returns the rates of the subject's answers to prompts of a label: first
// the one corrected by people's labels, then one for each judge.
func (s subject) rates(label orbench.Label) []shown {
	var all []shown
	if c := s.runs[label].Labeled; c != nil {
		all = append(all, shown{by: peoplesLabels, n: c.Labels, share: &c.Rate.Value, ends: c.Rate.Ends(), labeled: true})
	}
	for _, j := range s.runs[label].Judges {
		one := shown{by: table.Name(j.Judge, j.Simulated), n: j.Judged, refused: j.Refused, share: j.Share, ends: j.Interval(), of: &j}
		if j.Range != nil {
			one.ends, one.widened = &[2]float64{j.Range.Lo, j.Range.Hi}, j.JudgeError != nil
		}
		all = append(all, one)
	}
	return all
}

// best returns the rate to use: the one corrected by people's labels, or else
// the first judge's.
func (s subject) best(label orbench.Label) (shown, bool) {
	all := s.rates(label)
	if len(all) == 0 {
		return shown{}, false
	}
	return all[0], true
}

// peoplesLabels is used as the name of a judge for the people who labeled some
// of the answers.
const peoplesLabels = "people's labels"
