package evaluate

import (
	"context"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/recorded"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// Recorded judges a file of recorded answers, and measures the judges against
// people's labels where the file has them.
type Recorded struct {
	Recording *dataset.Recording
	Judges    []judge.Judge
	// GoldRefusal lists the gold values that mean a refusal; nil where there is
	// no gold column.
	GoldRefusal []string

	// drawn are the answers that are judged, by their place; nil for all.
	drawn []bool
}

// chunks gives the answers in pieces.
func (r *Recorded) chunks() iter.Seq2[[]dataset.Answer, error] {
	return func(yield func([]dataset.Answer, error) bool) {
		var answers []dataset.Answer
		for a, err := range r.Recording.Answers() {
			if err != nil {
				yield(nil, err)
				return
			}
			if r.drawn != nil && !r.drawn[a.Number-1] {
				continue
			}
			if answers = append(answers, a); len(answers) == pieceSize {
				if !yield(answers, nil) {
					return
				}
				answers = nil
			}
		}
		if len(answers) > 0 {
			yield(answers, nil)
		}
	}
}

// caseOf makes the case of a recorded answer. It counts as one that ended by
// itself, since files do not tell; thinking at its start is not judged.
func caseOf(a dataset.Answer) judge.Case {
	text, thinking := model.CutThinking(a.Response)
	return judge.Case{
		Prompt:   a.Asked(),
		Response: model.Response{Text: text, Thinking: thinking, Finish: model.Stop},
	}
}

// Models lists whom the judges may ask.
func (r *Recorded) Models() []model.Ref { return modelsOf(r.Judges) }

// Job is the judging as a walk.
func (r *Recorded) Job() *job.Job {
	j := &job.Job{Items: r.items, Further: true}
	for _, ref := range modelsOf(r.Judges) {
		j.Models = append(j.Models, job.Asked{Ref: ref, Role: job.Judge})
	}
	j.Calls = r.Recording.Count * len(j.Models)
	j.Sample = func(most int) (*job.Job, float64, error) {
		if r.Recording.Count <= most {
			return j, 1, nil
		}
		part := *r
		part.drawn = make([]bool, r.Recording.Count)
		for _, i := range stats.Pivotal(r.Recording.Count, most, rand.NewPCG(1, 1).Uint64) {
			part.drawn[i] = true
		}
		return part.Job(), float64(r.Recording.Count) / float64(most), nil
	}
	return j
}

// items walks the answers, some at a time.
func (r *Recorded) items(ctx context.Context, m store.Reader, s job.Scope) iter.Seq2[job.Item, error] {
	asking := asking(r.Judges)
	return func(yield func(job.Item, error) bool) {
		for answers, err := range r.chunks() {
			var item job.Item
			if err == nil {
				var calls [][]job.Call
				_, calls, err = r.verdicts(ctx, m, s, asking, answers)
				item.Calls = slices.Concat(calls...)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// verdicts has every judge judge every answer, and gives the calls of each verdict that a
// walk of the scope lists.
func (r *Recorded) verdicts(ctx context.Context, m store.Reader, s job.Scope, judges []judge.Judge, answers []dataset.Answer) ([][]score.JudgeVerdict, [][]job.Call, error) {
	all := make([][]score.JudgeVerdict, len(answers))
	name := filepath.Base(r.Recording.Path)
	var steps []job.Step
	for i, a := range answers {
		c := caseOf(a)
		all[i] = make([]score.JudgeVerdict, len(judges))
		for k, j := range judges {
			about := job.Call{Role: job.Judge, Dataset: name, Prompt: c.Prompt.ID, Target: name, Judge: j.Name()}
			steps = append(steps, job.Step{About: about, Do: judging(j, &c, &all[i][k])})
		}
	}
	calls, err := job.Recall(ctx, m, s, steps)
	return all, calls, err
}

// Derive computes what the judges made of the answers, and hands every row to
// sink (nil for nobody) in the order of the file. m may be nil for an empty
// store.
//
// The answers are judged on all processors; sink is called from one goroutine.
func (r *Recorded) Derive(ctx context.Context, m store.Reader, sink func(recorded.Row) error) (recorded.Result, error) {
	judged := func(ctx context.Context, answers []dataset.Answer) ([]recorded.Row, error) {
		verdicts, _, err := r.verdicts(ctx, m, job.Scope{}, r.Judges, answers)
		if err != nil {
			return nil, err
		}
		rows := make([]recorded.Row, len(answers))
		for i, a := range answers {
			rows[i] = recorded.Row{Answer: a, Verdicts: verdicts[i]}
			if r.GoldRefusal != nil {
				refusal := slices.Contains(r.GoldRefusal, a.Gold)
				rows[i].Refusal = &refusal
			}
		}
		return rows, nil
	}
	tally := recorded.NewTally(r.Recording, r.Judges, r.GoldRefusal)
	err := job.InOrder(ctx, runtime.GOMAXPROCS(0), r.chunks(), judged, func(rows []recorded.Row) error {
		for _, row := range rows {
			tally.Add(row)
			if sink == nil {
				continue
			}
			if err := sink(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return recorded.Result{}, err
	}
	return tally.Result(), nil
}
