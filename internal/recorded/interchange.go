package recorded

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/model"
)

// datasetOf is the name under which a file of answers is written as a dataset.
func datasetOf(path string) string {
	name := filepath.Base(path)
	return cmp.Or(strings.TrimSuffix(name, filepath.Ext(name)), name)
}

// About describes the study of the file, for the formats of package interchange.
func (r *Judged) About(program string, s *study.Study) interchange.Study {
	return interchange.Study{
		Name: s.Name, Date: s.History.Date().UTC(), Program: program, Judges: r.Judges,
		Sources: map[string]interchange.Source{datasetOf(r.Recording.Path): {SHA256: r.Recording.SHA256}},
	}
}

// Interchange is the answer in the form that package interchange writes. Its target is the
// model that the file names, or else the file. Recorded prompts have no label.
func (r *Judged) Interchange(a JudgedAnswer) interchange.Answer {
	name := datasetOf(r.Recording.Path)
	row := score.AnswerRow{
		Target: cmp.Or(a.Answer.Model, name), Dataset: name, Prompt: a.Answer.Asked(), Status: score.Answered,
		Response: a.Read, Verdicts: a.Verdicts, Simulated: a.Answer.Simulated,
	}
	row.Prompt.Label, row.Prompt.Category = "", ""
	if row.Response.Finish == model.Blocked {
		row.Status = score.Blocked
	}
	return interchange.Answer{AnswerRow: &row, Number: a.Answer.Number, Line: a.Answer.Line, Gold: a.Answer.Gold, GoldRefusal: a.Refusal}
}

// Score has the figures of each model of the file, in the form of those of a run.
func (r Result) Score() score.Result {
	out := score.Result{Simulated: r.Simulated}
	name := datasetOf(r.Responses)
	for _, of := range slices.Sorted(maps.Keys(r.models)) {
		m := r.models[of]
		run := score.RunResult{
			Target: cmp.Or(of, name), Dataset: name, DatasetSHA256: r.SHA256, Language: r.Language,
			N: m.answers, Answered: m.answers - m.blocked, Blocked: m.blocked, Simulated: m.simulated, Read: m.read, Reread: m.reread,
		}
		for i, f := range m.judges {
			run.Judges = append(run.Judges, score.JudgeResult{
				Judge: r.Judges[i].Judge, Judged: f.N, Refused: f.Refused, Rate: f.Rate, Unjudged: f.Unjudged, UnjudgedFor: f.UnjudgedFor, ByClass: f.ByClass, Simulated: r.Judges[i].Simulated,
			})
		}
		out.Runs, out.Simulated = append(out.Runs, run), out.Simulated || m.simulated
	}
	return out
}
