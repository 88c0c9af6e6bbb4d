package evaluate

import (
	"context"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// probes chooses the answers that are probed, from all parts of the run, so
// that a shard or a target alone probes its own.
func (r *Run) probes(judges []judge.Judge) choice {
	if !r.Probed || len(Asking(judges)) == 0 {
		return choice{}
	}
	return among(r.prompts() * max(r.AmongAnswers, r.AnswersPerPrompt()))
}

// takes applies choice.takes to an answer of the target.
func (t Target) takes(c choice, p orbench.Prompt) (key uint64, ok bool) {
	return c.takes(p.ID, t.Provider, t.Model, t.Sample)
}

// probing is the step that shows a judge an answer again, with a forged
// verdict.
type probing struct {
	row   int
	judge judge.Judge
	step  model.Step
	made  *score.ProbeOutcome
}

// probing returns the steps for those of rows that are chosen and have their
// verdicts. It does not change the rows.
func (t Target) probing(c choice, judges []judge.Judge, rows []score.AnswerRow) []probing {
	var all []probing
	for i := range rows {
		row := &rows[i]
		key, ok := t.takes(c, row.Prompt)
		if _, settled := judge.Settled(row.Response); !ok || settled || row.Status != score.Answered {
			continue
		}
		known := judge.Case{Prompt: row.Asked(), Response: row.Response}
		for k, j := range judges {
			v := row.Verdicts[k]
			forged, ok := judge.Forge(j, known, !v.Class.Refused(), key)
			if !ok || v.Class == orbench.Unjudged {
				continue
			}
			made := &score.ProbeOutcome{}
			all = append(all, probing{i, j, func(look model.Lookup) []model.Request {
				var again score.JudgeVerdict
				missing := Judging(j, &forged, &again)(look)
				read := again.Class != orbench.Unjudged
				*made = score.ProbeOutcome{
					Judge: j.Name(), Asked: len(missing) == 0, Read: read,
					Moved: read && again.Class.Refused() != v.Class.Refused(), Simulated: v.Simulated || again.Simulated,
				}
				return missing
			}, made})
		}
	}
	return all
}

// probe runs the steps of probing for a chunk.
func (j *judgedChunk) probe(ctx context.Context, m store.Reader, c choice, judges []judge.Judge, scope job.Scope) error {
	all := j.target.probing(c, judges, j.rows)
	steps := make([]job.Step, len(all))
	for n, p := range all {
		about := j.byJudge(j.rows[p.row].Prompt, p.judge)
		about.Role = job.Probe
		steps[n] = job.Step{About: about, Do: p.step}
	}
	found, err := job.Recall(ctx, m, scope, steps)
	if err != nil {
		return err
	}
	j.ofProbes = make([][]job.Call, len(j.rows))
	for n, p := range all {
		j.probes = append(j.probes, *p.made)
		j.ofProbes[p.row] = append(j.ofProbes[p.row], found[n]...)
	}
	return nil
}

// expectProbes lists the requests that judges will make about an answer with a
// forged verdict, for an answer without verdicts yet. missing gives those that they
// will make about the answer itself.
func expectProbes(judges []judge.Judge, c judge.Case, key uint64, missing func(judge.Judge, judge.Case) []model.Request) []model.Request {
	var all []model.Request
	for _, j := range judges {
		if len(missing(j, c)) == 0 {
			continue
		}
		if forged, ok := judge.Forge(j, c, false, key); ok {
			all = append(all, judge.Expect(j, forged, 0)...)
		}
	}
	return all
}
