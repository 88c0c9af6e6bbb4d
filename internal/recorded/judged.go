package recorded

import (
	"context"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// Judged is a file of recorded answers to be judged. Its judges are measured
// against people's labels if it has them.
type Judged struct {
	Recording *dataset.Recording
	Judges    []judge.Judge
	// GoldRefusal lists the gold values that mean a refusal; nil if there is no
	// gold column.
	GoldRefusal []string
	// Reading is how the answers are read. The zero Reading is the present one.
	Reading reply.Reading
	// Anew has a kept judging of the file read by the present reading.
	Anew bool

	// drawn marks the answers to judge, by their position; nil means all.
	drawn []bool
}

// chunkSize is how many answers are judged together.
const chunkSize = 256

// chunks returns the answers to judge, some at a time.
func (f *Judged) chunks() iter.Seq2[[]dataset.Answer, error] {
	return job.Pieces(func(yield func(dataset.Answer, error) bool) {
		for a, err := range f.Recording.Answers() {
			if err == nil && f.drawn != nil && !f.drawn[a.Number-1] {
				continue
			}
			if !yield(a, err) {
				return
			}
		}
	}, chunkSize)
}

// Models lists the models that the judges may ask.
func (f *Judged) Models() []model.Ref { return judge.ModelsOf(f.Judges...) }

// Job returns the judging as a walk.
func (f *Judged) Job() *job.Job {
	j := &job.Job{Items: f.items, Further: true}
	for _, ref := range f.Models() {
		j.Models = append(j.Models, job.Asked{Ref: ref, Role: job.Judge})
	}
	n := f.Recording.Count
	j.Calls = n * len(j.Models)
	j.Sample = func(most int) (*job.Job, float64, error) {
		if n <= most {
			return j, 1, nil
		}
		part := *f
		part.drawn = make([]bool, n)
		for _, i := range stats.Pivotal(n, most, rand.NewPCG(1, 1).Uint64) {
			part.drawn[i] = true
		}
		return part.Job(), float64(n) / float64(most), nil
	}
	return j
}

// items walks the answers, some at a time.
func (f *Judged) items(ctx context.Context, m store.Reader, s job.Scope) iter.Seq2[job.Item, error] {
	asking := evaluate.Asking(f.Judges)
	return func(yield func(job.Item, error) bool) {
		for answers, err := range f.chunks() {
			var item job.Item
			if err == nil {
				_, item.Calls, err = f.rows(ctx, m, s, asking, answers)
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// rows has judges judge answers, and returns the calls of their verdicts that a
// walk of the scope lists. Thinking at the start of an answer is not judged.
func (f *Judged) rows(ctx context.Context, m store.Reader, s job.Scope, judges []judge.Judge, answers []dataset.Answer) ([]JudgedAnswer, []job.Call, error) {
	rows := make([]JudgedAnswer, len(answers))
	name := filepath.Base(f.Recording.Path)
	var steps []job.Step
	for i, a := range answers {
		rows[i] = JudgedAnswer{Answer: a, Verdicts: make([]score.JudgeVerdict, len(judges))}
		if f.GoldRefusal != nil && (annotation.IsLabel(a.Gold) || annotation.Means(f.GoldRefusal, a.Gold)) {
			refusal := annotation.Means(f.GoldRefusal, a.Gold)
			rows[i].Refusal = &refusal
		}
		rows[i].Read = f.Reading.Answer(a.Reply())
		c := judge.Case{Prompt: a.Asked(), Response: rows[i].Read}
		for k, j := range judges {
			about := job.Call{Role: job.Judge, Dataset: name, Prompt: c.Prompt.ID, Target: name, Judge: j.Name()}
			steps = append(steps, job.Step{About: about, Do: evaluate.Judging(j, &c, &rows[i].Verdicts[k], s.Watch)})
		}
	}
	calls, err := job.Recall(ctx, evaluate.ReadBy(m, f.Reading), s, steps)
	return rows, slices.Concat(calls...), err
}

// Derive computes what the judges made of the answers, and passes every row to
// sink in the order of the file. sink may be nil. m may be nil for an empty
// store.
//
// The answers are judged on all processors; sink is called from one goroutine.
func (f *Judged) Derive(ctx context.Context, m store.Reader, sink func(JudgedAnswer) error) (Result, error) {
	judged := func(ctx context.Context, answers []dataset.Answer) ([]JudgedAnswer, error) {
		rows, _, err := f.rows(ctx, m, job.Scope{}, f.Judges, answers)
		return rows, err
	}
	t := newTally(f.Recording, f.Judges, f.GoldRefusal)
	err := job.InOrder(ctx, runtime.GOMAXPROCS(0), f.chunks(), judged, func(rows []JudgedAnswer) error {
		for _, row := range rows {
			t.add(row)
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
		return Result{}, err
	}
	return t.result(), nil
}
