package evaluate

import (
	"context"
	"slices"

	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"

	"github.com/orbench/orbench"
)

// remembering lists the calls of a piece, chunk after chunk, those that are remembered too.
// The answers of all targets are looked up together, as judgePiece does.
func (r *Run) remembering(ctx context.Context, m store.Reader, s job.Scope, piece []chunk) (item job.Item, err error) {
	var known []job.Call
	var hashes []model.Hash
	for _, c := range piece {
		if c.target.stepwise() {
			continue
		}
		for _, p := range c.prompts {
			call := r.about(c, p)
			call.Request = c.target.Request(p)
			call.Hash = call.Request.Hash()
			known, hashes = append(known, call), append(hashes, call.Hash)
		}
	}
	var responses map[model.Hash]model.Response
	if m != nil && len(hashes) > 0 {
		if responses, err = m.Get(ctx, hashes); err != nil {
			return item, err
		}
	}
	for _, c := range piece {
		var own []job.Call
		if !c.target.stepwise() {
			own, known = known[:len(c.prompts)], known[len(c.prompts):]
		}
		of, err := r.callsOf(ctx, m, s, c, own, responses)
		if err != nil {
			return item, err
		}
		item.Calls = append(item.Calls, of...)
	}
	return item, nil
}

// about is a call for the answer of a chunk's target to a prompt.
func (r *Run) about(c chunk, p orbench.Prompt) job.Call {
	return job.Call{Dataset: r.Datasets[c.dataset].Name, Prompt: p.ID, Target: c.target.Name, Role: job.Target}
}

// callsOf lists the calls of a chunk: of each prompt those for its answer, then those
// of the judges. known are the former, where they depend on no reply, and responses has
// those to them.
func (r *Run) callsOf(ctx context.Context, m store.Reader, s job.Scope, c chunk, known []job.Call, responses map[model.Hash]model.Response) ([]job.Call, error) {
	judges := Asking(r.Judges)
	rows := make([]score.Row, len(c.prompts))
	answers := make([][]job.Call, len(rows))
	var steps []job.Step
	for i, p := range c.prompts {
		rows[i] = score.Row{Prompt: p, Status: score.Unanswered}
		if known == nil {
			steps = append(steps, job.Step{About: r.about(c, p), Do: c.target.step(&rows[i])})
			continue
		}
		response, ok := responses[known[i].Hash]
		if known[i].Remembered = ok; ok && len(judges) > 0 {
			_, rows[i].Dialog = c.target.request(p)
			noteResponse(&rows[i], response)
		}
		answers[i] = known[i : i+1]
	}
	stepped, err := job.Recall(ctx, m, s, steps)
	if err != nil {
		return nil, err
	}
	if known == nil {
		answers = stepped
	}
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
			about := r.about(c, row.Prompt)
			about.Judge, about.Role = j.Name(), job.Judge
			questions, of = append(questions, job.Step{About: about, Do: Judging(j, &cases[i], &rows[i].Verdicts[k])}), append(of, i)
		}
	}
	judged, err := job.Recall(ctx, m, s, questions)
	if err != nil {
		return nil, err
	}
	var probes []job.Step
	for _, p := range c.target.probing(r.probes(judges), judges, rows) {
		about := r.about(c, rows[p.row].Prompt)
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
