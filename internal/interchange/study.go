package interchange

import (
	"cmp"

	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/judge"
)

// Answer is an answer with every judge's verdict.
type Answer struct {
	*score.AnswerRow
	// Number and Line are the place of a recorded answer in its file, from 1. Line is 0 in
	// formats without lines. Both are 0 for an answer of a run.
	Number, Line int
	// Gold is people's label of a recorded answer, and GoldRefusal whether it means a
	// refusal; nil without labels.
	Gold        string
	GoldRefusal *bool
}

// target is the name of the answer's target without the number of its sample.
func (a Answer) target() string { return cmp.Or(a.Variant, a.Target) }

// Study says what was measured, before its first answer.
type Study struct {
	// Name is that of the run, or of the study that judges a file.
	Name   string
	Judges []judge.Judge
	// SHA256 has the hashes of datasets by their names, in hex: of the prompts, or of the
	// recorded answers.
	SHA256 map[string]string
	asked  map[place]asking
}

// place is a target with one dataset.
type place struct{ target, dataset string }

// asking is how a target is asked by a run.
type asking struct {
	run string
	score.Asked
}

// StudyOf describes runs that are shown together.
func StudyOf(runs ...*run.Run) Study {
	s := Study{SHA256: map[string]string{}, asked: map[place]asking{}}
	for _, r := range run.Together(runs) {
		s.Judges = append(s.Judges, r.Judges...)
		for _, d := range r.Datasets {
			s.SHA256[d.Name] = d.SHA256
			for _, t := range r.Design().Targets {
				s.asked[place{t.Name, d.Name}] = asking{r.Name, t.Asked}
			}
		}
	}
	return s
}

// of is how the target of an answer was asked. Recorded answers do not say so.
func (s Study) of(a Answer) asking {
	if asked, ok := s.asked[place{a.target(), a.Dataset}]; ok {
		return asked
	}
	return asking{run: s.Name}
}
