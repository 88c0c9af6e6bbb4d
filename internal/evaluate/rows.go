package evaluate

import (
	"context"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Asked identifies one prompt that one sample of a target is asked.
type Asked struct {
	// Dataset is an index of the run's datasets. Sample is an index of all
	// samples of all its targets, in their order; see Target.Each.
	Dataset, Sample int
	Prompt          orbench.Prompt
}

// samples lists all samples of all targets, as chunks without prompts.
func (r *Run) samples() (all []targetChunk) {
	for i, t := range r.Targets {
		of := ""
		if t.Times() > 1 {
			of = t.Name
		}
		for _, one := range t.Each() {
			all = append(all, targetChunk{target: one, index: i, of: of})
		}
	}
	return all
}

// Rows derives single rows of the run, in the order in which they are
// requested. They equal the rows that Derive returns, without the fields that
// are set when a row is counted.
func (r *Run) Rows(ctx context.Context, m store.Reader, asked []Asked) ([]score.AnswerRow, error) {
	judged, places, err := r.judge(ctx, m, asked, r.Judges, job.Scope{})
	if err != nil {
		return nil, err
	}
	for i := range judged {
		if err := judged[i].noteFailures(ctx, m, r); err != nil {
			return nil, err
		}
	}
	rows := make([]score.AnswerRow, len(asked))
	for i, at := range places {
		rows[i] = judged[at[0]].rows[at[1]]
	}
	return rows, nil
}

// Calls returns the hashes of the calls behind each answer, each once, without those of judges,
// in the order in which they are requested.
func (r *Run) Calls(ctx context.Context, m store.Reader, asked []Asked) ([][]model.Hash, error) {
	judged, places, err := r.judge(ctx, m, asked, nil, job.Scope{Remembered: true})
	if err != nil {
		return nil, err
	}
	all := make([][]model.Hash, len(asked))
	for i, at := range places {
		for _, call := range judged[at[0]].ofTarget[at[1]] {
			if h := call.Hash; !slices.Contains(all[i], h) {
				all[i] = append(all[i], h)
			}
		}
	}
	return all, nil
}

// judge derives single rows, and the calls of the targets that the scope asks for. It tells
// in which chunk, and where there, each is.
func (r *Run) judge(ctx context.Context, m store.Reader, asked []Asked, judges []judge.Judge, scope job.Scope) ([]judgedChunk, [][2]int, error) {
	type part struct{ dataset, sample int }
	samples, at := r.samples(), map[part]int{}
	var chunk []targetChunk
	places := make([][2]int, len(asked))
	for i, a := range asked {
		n, ok := at[part{a.Dataset, a.Sample}]
		if !ok {
			n = len(chunk)
			at[part{a.Dataset, a.Sample}] = n
			c := samples[a.Sample]
			c.dataset, c.set = a.Dataset, r.Datasets[a.Dataset].Name
			chunk = append(chunk, c)
		}
		places[i] = [2]int{n, len(chunk[n].prompts)}
		chunk[n].prompts = append(chunk[n].prompts, a.Prompt)
	}
	judged, err := r.judgeChunk(ctx, m, chunk, judges, scope, job.Scope{})
	return judged, places, err
}
