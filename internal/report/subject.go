package report

import (
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// subject is a target on one set of prompts: at most one run for each label.
type subject struct {
	target, dataset string
	simulated       bool
	runs            map[orbench.Label]score.RunResult
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
		added := subject{target: target, dataset: name, simulated: run.Simulated, runs: map[orbench.Label]score.RunResult{}}
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

// rates returns the rates of the subject's answers to prompts of a label; see
// score.RunResult.Rates.
func (s subject) rates(label orbench.Label) []figure.Figure {
	run, ok := s.runs[label]
	if !ok {
		return nil
	}
	return run.Rates()
}
