package interchange

import (
	"cmp"
	"time"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/judge"
)

// Format is a way to write a study.
type Format struct {
	// Name is what people call the format.
	Name string
	// Create begins to write a study at path, which becomes whole or is not made at all; see
	// folder.Create and folder.CreateFile. A path that may not be written, and a study that the
	// format cannot hold, are *orbench.InputError.
	Create func(path string, of folder.Subject, s Study) (Writer, error)
}

// Formats are all formats. To add one, add a file with its Writer and a row here.
var Formats = []Format{
	{"verdicts", createVerdicts},
	{"eee", createRecords},
	{"huggingface", createHubResults},
}

// Writer writes a study. Answers are added in their order. Do not use a Writer after
// Finish, whatever it returns.
type Writer interface {
	// Add adds an answer with every judge's verdict.
	Add(*score.AnswerRow) error
	// Finish takes the figures of the added answers. unfinished says that replies are
	// missing, so that the same study may be written again in the same place.
	Finish(r score.Result, unfinished bool) error
	// Discard removes what was written. It does nothing after Finish.
	Discard() error
}

// targetOf is the name of an answer's target without the number of its sample.
func targetOf(a *score.AnswerRow) string { return cmp.Or(a.Variant, a.Target) }

// Study says what was measured, before its first answer.
type Study struct {
	// Name is that of the run, or of the study that judges a file. Date is when its last
	// call was paid for, in UTC; of several runs, that of the last.
	Name string
	Date time.Time
	// Program is the version of orbench that computes the figures.
	Program string
	// Organization is who measured, empty if that is not known.
	Organization string
	Judges       []judge.Judge
	// Sources say where the rows of datasets are from, by their names.
	Sources map[string]Source
	// asked says how each run asked a target with a dataset, by the names of both.
	asked map[[2]string]score.About
}

// Source says where the rows of a dataset are from.
type Source struct {
	// SHA256 is the hash of the prompts in hex, or of the recorded answers.
	SHA256 string
	// Repo is the dataset repository on the Hugging Face hub, and Revision its commit; both
	// are empty if they are not known.
	Repo, Revision string
}

// StudyOf describes runs that are shown together.
func StudyOf(program string, runs ...*run.Run) Study {
	s := Study{Program: program, Sources: map[string]Source{}, asked: map[[2]string]score.About{}}
	seen := map[string]bool{}
	for _, r := range run.Together(runs) {
		if s.Name != "" {
			s.Name += "+"
		}
		s.Name += r.Name
		if date := r.History.Date(); date.After(s.Date) {
			s.Date = date.UTC()
		}
		for _, j := range r.Judges {
			if !seen[j.Name()] {
				seen[j.Name()] = true
				s.Judges = append(s.Judges, j)
			}
		}
		for i, d := range r.Datasets {
			source := Source{SHA256: d.SHA256}
			if e, ok := dataset.Named(r.Config.Datasets[i].Ref); ok && e.Host == "" {
				source.Repo = e.Repo
				if e.Revision != "main" {
					source.Revision = e.Revision
				}
			}
			s.Sources[d.Name] = source
			for _, t := range r.Design().Targets {
				s.asked[[2]string{t.Name, d.Name}] = score.About{Run: r.Name, Asked: t.Asked}
			}
		}
	}
	return s
}

// of is how the target of an answer was asked. Recorded answers do not say so.
func (s Study) of(a *score.AnswerRow) score.About {
	if asked, ok := s.asked[[2]string{targetOf(a), a.Dataset}]; ok {
		return asked
	}
	return score.About{Run: s.Name}
}

// version is that of a judge; see judge.Version.
func (s Study) version(name string) string {
	for _, j := range s.Judges {
		if j.Name() == name {
			return judge.Version(j)
		}
	}
	return ""
}
