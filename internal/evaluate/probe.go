package evaluate

import (
	"context"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/probe"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// probes chooses the answers of the run that are probed: of all its parts, so that a
// shard probes its own.
func (r *Run) probes(judges []judge.Judge) probe.Choice {
	if !r.Probed || len(Asking(judges)) == 0 {
		return probe.Choice{}
	}
	return probe.Among(r.prompts() * r.AnswersPerPrompt())
}

// takes is probe.Choice.Takes of an answer of the target.
func (t Target) takes(c probe.Choice, p orbench.Prompt) (key uint64, ok bool) {
	return c.Takes(p.ID, t.Provider, t.Model, t.Sample)
}

// probing is the step that puts an answer to a judge once more, with a forged verdict.
type probing struct {
	row   int
	judge judge.Judge
	step  model.Step
	made  *probe.Outcome
}

// probing gives the steps for the chosen ones of rows that have their verdicts. The rows
// stay as they are.
func (t Target) probing(c probe.Choice, judges []judge.Judge, rows []score.Row) []probing {
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
			made := &probe.Outcome{}
			all = append(all, probing{i, j, func(look model.Lookup) []model.Request {
				var again score.JudgeVerdict
				missing := Judging(j, &forged, &again)(look)
				read := again.Class != orbench.Unjudged
				*made = probe.Outcome{
					Judge: j.Name(), Asked: len(missing) == 0, Read: read,
					Moved: read && again.Class.Refused() != v.Class.Refused(), Simulated: v.Simulated || again.Simulated,
				}
				return missing
			}, made})
		}
	}
	return all
}

// probe does the steps of probing for a chunk.
func (j *judgedChunk) probe(ctx context.Context, m store.Reader, c probe.Choice, judges []judge.Judge, used *usage) error {
	all := j.target.probing(c, judges, j.rows)
	steps := make([]model.Step, len(all))
	for n, p := range all {
		steps[n] = p.step
	}
	lacking, err := fill.RecallTo(ctx, m, steps, used.found())
	if err != nil {
		return err
	}
	j.ofProbes = make([][]model.Request, len(j.rows))
	for n, p := range all {
		j.probes = append(j.probes, *p.made)
		j.ofProbes[p.row] = append(j.ofProbes[p.row], lacking[n]...)
	}
	return nil
}

// expectProbes lists what judges will ask about an answer with a forged verdict whose own
// verdicts are lacking.
func expectProbes(judges []judge.Judge, c judge.Case, key uint64, look model.Lookup) []model.Request {
	var all []model.Request
	for _, j := range judges {
		if _, missing := j.Verdict(c, look); len(missing) == 0 {
			continue
		}
		if forged, ok := judge.Forge(j, c, false, key); ok {
			_, requests := j.Verdict(forged, nothing)
			all = append(all, requests...)
		}
	}
	return all
}
