package evaluate

import (
	"context"
	"slices"

	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
)

// remembering gives the calls of a piece, of each chunk those of its prompts, those that
// are remembered too.
func (r *Run) remembering(ctx context.Context, m store.Reader, s job.Scope, piece []chunk) ([]job.Item, error) {
	var items []job.Item
	for _, c := range piece {
		calls, err := r.callsOf(ctx, m, s, c)
		if err != nil {
			return nil, err
		}
		items = append(items, job.Item{Calls: calls})
	}
	return items, nil
}

// callsOf lists the calls of a chunk: of each prompt those for its answer, then those of
// the judges.
func (r *Run) callsOf(ctx context.Context, m store.Reader, s job.Scope, c chunk) ([]job.Call, error) {
	rows := make([]score.Row, len(c.prompts))
	steps := make([]job.Step, len(rows))
	for i, p := range c.prompts {
		rows[i] = score.Row{Prompt: p, Status: score.Unanswered}
		about := job.Call{Dataset: r.Datasets[c.dataset].Name, Prompt: p.ID, Target: c.target.Name, Role: job.Target}
		steps[i] = job.Step{About: about, Do: c.target.step(&rows[i])}
	}
	answers, err := job.Recall(ctx, m, s, steps)
	if err != nil {
		return nil, err
	}
	judges := asking(r.Judges)
	cases := make([]judge.Case, len(rows))
	var questions []job.Step
	var of []int // by question
	for i, row := range rows {
		if row.Status != score.Answered && row.Status != score.Blocked {
			continue
		}
		cases[i] = judge.Case{Prompt: row.Asked(), Response: row.Response, Assessment: row.Assessment, Unread: row.Unread}
		rows[i].Verdicts = make([]score.JudgeVerdict, len(judges))
		for k, j := range judges {
			about := steps[i].About
			about.Judge, about.Role = j.Name(), job.Judge
			questions, of = append(questions, job.Step{About: about, Do: judging(j, &cases[i], &rows[i].Verdicts[k])}), append(of, i)
		}
	}
	judged, err := job.Recall(ctx, m, s, questions)
	if err != nil {
		return nil, err
	}
	var probes []job.Step
	for _, p := range c.target.probing(r.probes(judges), judges, rows) {
		about := steps[p.row].About
		about.Judge, about.Role, about.Probe = p.judge.Name(), job.Probe, true
		probes = append(probes, job.Step{About: about, Do: p.step})
	}
	probed, err := job.Recall(ctx, m, s, probes)
	if err != nil {
		return nil, err
	}
	var calls []job.Call
	for i := range rows {
		calls = append(calls, answers[i]...)
		for len(of) > 0 && of[0] == i {
			calls, judged, of = append(calls, judged[0]...), judged[1:], of[1:]
		}
	}
	return append(calls, slices.Concat(probed...)...), nil
}
