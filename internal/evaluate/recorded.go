package evaluate

import (
	"context"
	"iter"
	"runtime"
	"slices"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/inorder"
	"github.com/orbench/orbench/internal/recorded"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Recorded judges a file of recorded answers, and measures the judges against
// people's labels where the file has them.
type Recorded struct {
	Recording *dataset.Recording
	Judges    []judge.Judge
	// GoldRefusal lists the gold values that mean a refusal; nil where there is
	// no gold column.
	GoldRefusal []string
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

// Work is what the judges want asked.
func (r *Recorded) Work(m store.Reader) fill.Work {
	asking := asking(r.Judges)
	return fill.Work{Asks: r.Models(), Lacking: func(ctx context.Context) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			for answers, err := range r.chunks() {
				var lacking [][]model.Request
				if err == nil {
					_, lacking, err = verdicts(ctx, m, asking, answers)
				}
				if err != nil {
					yield(model.Request{}, err)
					return
				}
				for _, request := range slices.Concat(lacking...) {
					if !yield(request, nil) {
						return
					}
				}
			}
		}
	}}
}

// verdicts has every judge judge every answer, and gives what they lack.
func verdicts(ctx context.Context, m store.Reader, judges []judge.Judge, answers []dataset.Answer) ([][]score.JudgeVerdict, [][]model.Request, error) {
	all := make([][]score.JudgeVerdict, len(answers))
	var steps []model.Step
	for i, a := range answers {
		c := caseOf(a)
		all[i] = make([]score.JudgeVerdict, len(judges))
		for k, j := range judges {
			steps = append(steps, judging(j, &c, &all[i][k]))
		}
	}
	lacking, err := fill.Recall(ctx, m, steps)
	return all, lacking, err
}

// Derive computes what the judges made of the answers, and hands every row to
// sink (nil for nobody) in the order of the file. m may be nil for an empty
// store.
//
// The answers are judged on all processors; sink is called from one goroutine.
func (r *Recorded) Derive(ctx context.Context, m store.Reader, sink func(recorded.Row) error) (recorded.Result, error) {
	judged := func(ctx context.Context, answers []dataset.Answer) ([]recorded.Row, error) {
		verdicts, _, err := verdicts(ctx, m, r.Judges, answers)
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
	err := inorder.Do(ctx, runtime.GOMAXPROCS(0), r.chunks(), judged, func(rows []recorded.Row) error {
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
