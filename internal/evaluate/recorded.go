package evaluate

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/orbench/orbench/internal/score"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/inorder"
	"github.com/orbench/orbench/internal/memo"
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

// Lanes lists the lanes that the judges need, each once.
func (r *Recorded) Lanes() []LaneKey {
	return (&Run{Judges: r.Judges, Recorded: true}).Lanes()
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

// casesOf makes the cases of recorded answers. Each counts as one that ended by
// itself, since files do not tell; thinking at its start is not judged.
func casesOf(answers []dataset.Answer) []judge.Case {
	cases := make([]judge.Case, len(answers))
	for i, a := range answers {
		text, thinking := model.CutThinking(a.Response)
		cases[i] = judge.Case{
			Prompt:   orbench.NewPrompt(a.Prompt, "", ""),
			Response: model.Response{Text: text, Thinking: thinking, Finish: model.Stop},
		}
	}
	return cases
}

// Fill has the judges' missing requests called, all lanes at once, and returns
// when nothing is missing but what failed. Its error joins those of the lanes;
// see fill.Lane.Fill.
func (r *Recorded) Fill(ctx context.Context, m *memo.Memo, lanes map[LaneKey]*fill.Lane) error {
	for {
		// A reply that cannot be read is asked for again, so one pass may not be
		// the last.
		sent, err := r.fillOnce(ctx, m, lanes)
		if sent == 0 || !onlyGivenUp(err) {
			return err
		}
	}
}

// fillOnce sends what is missing now and returns how much that was.
func (r *Recorded) fillOnce(ctx context.Context, m *memo.Memo, lanes map[LaneKey]*fill.Lane) (sent int, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	keys := r.Lanes()
	counts, errs := make([]int, len(keys)), make([]error, len(keys))
	var all sync.WaitGroup
	for i, key := range keys {
		all.Go(func() {
			counts[i], errs[i] = lanes[key].Fill(ctx, r.wanted(ctx, m, key))
			if !onlyGivenUp(errs[i]) {
				// What stops one lane (the budget, a full disk) stops the rest.
				stop(errs[i])
			}
		})
	}
	all.Wait()
	for _, n := range counts {
		sent += n
	}
	return sent, joinDistinct(errs)
}

// onlyGivenUp reports whether an error says no more than that models were given
// up, which is no reason to stop the others. It holds for nil.
func onlyGivenUp(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if !onlyGivenUp(e) {
				return false
			}
		}
		return true
	}
	var gaveUp *fill.GivenUpError
	return err == nil || errors.As(err, &gaveUp)
}

// wanted streams the requests on a lane that judges lack for their verdicts.
func (r *Recorded) wanted(ctx context.Context, m *memo.Memo, key LaneKey) iter.Seq2[model.Request, error] {
	// The other judges need not judge here.
	var judges []judge.Judge
	for _, j := range r.Judges {
		if slices.Contains((&Run{Judges: []judge.Judge{j}, Recorded: true}).Lanes(), key) {
			judges = append(judges, j)
		}
	}
	return func(yield func(model.Request, error) bool) {
		for answers, err := range r.chunks() {
			var missing []model.Request
			if err == nil {
				_, missing, err = JudgeAll(ctx, m, judges, casesOf(answers))
			}
			if err != nil {
				yield(model.Request{}, err)
				return
			}
			for _, request := range missing {
				if KeyOf(request) == key && !yield(request, nil) {
					return
				}
			}
		}
	}
}

// Derive computes what the judges made of the answers, and hands every row to
// sink (nil for nobody) in the order of the file. m may be nil for an empty
// memo.
//
// The answers are judged on all processors; sink is called from one goroutine.
func (r *Recorded) Derive(ctx context.Context, m *memo.Memo, sink func(score.RecordedRow) error) (score.RecordedResult, error) {
	judged := func(ctx context.Context, answers []dataset.Answer) ([]score.RecordedRow, error) {
		verdicts, _, err := JudgeAll(ctx, m, r.Judges, casesOf(answers))
		if err != nil {
			return nil, err
		}
		rows := make([]score.RecordedRow, len(answers))
		for i, a := range answers {
			rows[i] = score.RecordedRow{Answer: a, Verdicts: verdicts[i]}
			if r.GoldRefusal != nil {
				refusal := slices.Contains(r.GoldRefusal, a.Gold)
				rows[i].Refusal = &refusal
			}
		}
		return rows, nil
	}
	tally := score.NewRecordedTally(r.Recording, r.Judges, r.GoldRefusal)
	err := inorder.Do(ctx, runtime.GOMAXPROCS(0), r.chunks(), judged, func(rows []score.RecordedRow) error {
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
		return score.RecordedResult{}, err
	}
	return tally.Result(), nil
}
