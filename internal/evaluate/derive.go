package evaluate

import (
	"context"
	"maps"
	"runtime"
	"slices"

	"github.com/orbench/orbench/internal/score"

	"github.com/orbench/orbench/internal/inorder"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Derive computes the run's figures from the datasets and the memo, and hands
// every row to sink (nil for nobody) in the order of the walk. Result.Cost is
// left empty: what was spent is no property of the rows.
//
// The chunks are judged on all processors; sink is called from one goroutine.
func (r *Run) Derive(ctx context.Context, m *memo.Memo, sink func(score.Row) error) (score.Result, error) {
	return r.DeriveTo(ctx, m, Sinks{Row: sink})
}

// Sinks take what Derive finds as it is found; nil ones are for nobody.
type Sinks struct {
	Row func(score.Row) error
	// PromptRate takes what targets that are asked several times do with each
	// prompt.
	PromptRate func(score.PromptRate) error
}

// DeriveTo is Derive with more than one sink.
func (r *Run) DeriveTo(ctx context.Context, m *memo.Memo, sinks Sinks) (score.Result, error) {
	judge := func(ctx context.Context, piece []chunk) ([]judgedChunk, error) { return r.judgePiece(ctx, m, piece) }
	tally := score.NewTally(r.design(), sinks.PromptRate)
	// Counting and writing are one goroutine's work and a fifth of the whole, so more
	// than a few others would only fill the memory with rows that wait.
	width := min(runtime.GOMAXPROCS(0), 8)
	err := inorder.Do(ctx, width, r.pieces(), judge, func(judged []judgedChunk) error {
		piece := score.Piece{Dataset: judged[0].dataset, Prompts: judged[0].prompts}
		for _, j := range judged {
			piece.Rows = append(piece.Rows, j.rows)
		}
		if err := tally.Add(piece); err != nil || sinks.Row == nil {
			return err
		}
		for _, rows := range piece.Rows {
			for _, row := range rows {
				if err := sinks.Row(row); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return score.Result{}, err
	}
	return tally.Result()
}

// judgedChunk is a chunk with its rows, and the requests that defences and judges
// lack for them.
type judgedChunk struct {
	chunk
	rows                []score.Row
	ofDefense, ofJudges []model.Request
}

// judgePiece derives the rows of chunks, whose answers are looked up together: the
// answers of several targets to the same prompts often lie side by side in the
// memo. A run that judges what is there lacks nothing for defences.
func (r *Run) judgePiece(ctx context.Context, m *memo.Memo, piece []chunk) ([]judgedChunk, error) {
	all := make([]judgedChunk, len(piece))
	for n, c := range piece {
		all[n] = judgedChunk{chunk: c, rows: make([]score.Row, len(c.prompts))}
		for i, p := range c.prompts {
			all[n].rows[i] = score.Row{
				Target: c.target.Name, Dataset: r.Datasets[c.dataset].Name,
				Prompt: p, Status: score.Unanswered, Simulated: c.target.Simulated(),
			}
		}
	}
	if err := answerPlain(ctx, m, all); err != nil {
		return nil, err
	}
	for n := range all {
		j := &all[n]
		var err error
		if j.target.Defense != nil {
			if j.ofDefense, err = r.answerDefended(ctx, m, j.target, j.rows); err != nil {
				return nil, err
			}
		}
		if r.Recorded {
			j.ofDefense = nil
		}
		if j.ofJudges, err = r.judgeRows(ctx, m, j.rows); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// judgeRows has the answers among some rows judged, and gives the requests that
// judges lack.
func (r *Run) judgeRows(ctx context.Context, m *memo.Memo, rows []score.Row) ([]model.Request, error) {
	var cases []judge.Case
	var at []int
	for i, row := range rows {
		if row.Status == score.Answered || row.Status == score.Blocked {
			cases = append(cases, judge.Case{Prompt: row.Prompt, Response: row.Response})
			at = append(at, i)
		}
	}
	verdicts, missing, err := JudgeAll(ctx, m, r.Judges, cases)
	if err != nil {
		return nil, err
	}
	for i, v := range verdicts {
		row := &rows[at[i]]
		row.Verdicts = v
		row.Simulated = row.Simulated || row.Response.Simulated()
	}
	return missing, nil
}

// answerPlain finds the answers of the targets without a defence. What is missing
// is planned from the prompts alone, so it names no request.
func answerPlain(ctx context.Context, m *memo.Memo, piece []judgedChunk) error {
	var hashes []model.Hash
	var rows []*score.Row
	for _, j := range piece {
		if j.target.Defense != nil {
			continue
		}
		for i := range j.rows {
			hashes = append(hashes, j.target.Request(j.rows[i].Prompt).Hash())
			rows = append(rows, &j.rows[i])
		}
	}
	responses, err := m.Get(ctx, hashes)
	if err != nil {
		return err
	}
	var absent []model.Hash
	for i, h := range hashes {
		if response, ok := responses[h]; ok {
			noteResponse(rows[i], response)
		} else {
			absent = append(absent, h)
		}
	}
	if len(absent) == 0 {
		return nil
	}
	failures, err := m.Failures(ctx, absent)
	if err != nil {
		return err
	}
	for i, h := range hashes {
		if f, ok := failures[h]; ok && rows[i].Status == score.Unanswered {
			rows[i].Status, rows[i].Failure = score.Failed, f.Message
		}
	}
	return nil
}

// noteResponse notes the response to a row's prompt.
func noteResponse(r *score.Row, response model.Response) {
	r.Status, r.Response = score.Answered, response
	if response.Finish == model.Blocked {
		r.Status = score.Blocked
	}
}

// answerDefended finds the outcomes of a defended target, and the requests that
// the defence lacks next.
func (r *Run) answerDefended(ctx context.Context, m *memo.Memo, t Target, rows []score.Row) ([]model.Request, error) {
	known := map[model.Hash]model.Response{}
	look := func(request model.Request) (model.Response, bool) {
		response, ok := known[request.Hash()]
		return response, ok
	}
	lacking := make([][]model.Request, len(rows))
	open := make([]int, len(rows))
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		var hashes []model.Hash
		for _, i := range open {
			outcome, missing := t.Defense.Answer(t.undefended(), t.framed(rows[i].Prompt), look)
			lacking[i] = missing
			if len(missing) == 0 {
				rows[i].Findings = outcome.Findings
				if outcome.Unasked {
					rows[i].Status, rows[i].Failure = score.Failed, outcome.Findings[len(outcome.Findings)-1].Why
				} else {
					noteResponse(&rows[i], outcome.Response)
				}
				rows[i].Simulated = rows[i].Simulated || outcome.Simulated
				continue
			}
			for _, request := range missing {
				hashes = append(hashes, request.Hash())
			}
		}
		found, err := m.Get(ctx, hashes)
		if err != nil {
			return nil, err
		}
		maps.Copy(known, found)
		// What the memo gave may show that more is needed.
		open = slices.DeleteFunc(open, func(i int) bool {
			return !slices.ContainsFunc(lacking[i], func(request model.Request) bool {
				_, ok := found[request.Hash()]
				return ok
			})
		})
	}
	var missing []model.Request
	var hashes []model.Hash
	for _, requests := range lacking {
		for _, request := range requests {
			hashes = append(hashes, request.Hash())
		}
		missing = append(missing, requests...)
	}
	if len(hashes) == 0 {
		return nil, nil
	}
	failures, err := m.Failures(ctx, hashes)
	if err != nil {
		return nil, err
	}
	for i, requests := range lacking {
		for _, request := range requests {
			if f, ok := failures[request.Hash()]; ok {
				rows[i].Status, rows[i].Failure = score.Failed, f.Message
			}
		}
	}
	return missing, nil
}

// JudgeAll has every judge judge every case, with the replies that the memo
// holds. It returns the verdicts of each case in the order of the judges, and
// the requests whose responses are missing for some of them. m may be nil for an
// empty memo.
func JudgeAll(ctx context.Context, m *memo.Memo, judges []judge.Judge, cases []judge.Case) ([][]score.JudgeVerdict, []model.Request, error) {
	verdicts := make([][]score.JudgeVerdict, len(cases))
	// known holds the replies found so far, looked up for all cases together;
	// absent the hashes that the memo lacks.
	known := map[model.Hash]model.Response{}
	absent := map[model.Hash]bool{}
	simulated := false
	look := func(r model.Request) (model.Response, bool) {
		response, ok := known[r.Hash()]
		simulated = simulated || ok && response.Simulated()
		return response, ok
	}
	for i := range verdicts {
		verdicts[i] = make([]score.JudgeVerdict, len(judges))
	}
	var missing []model.Request
	for j, judging := range judges {
		open := make([]int, len(cases))
		for i := range open {
			open[i] = i
		}
		// A reply can show that another is needed (a second try), so cases
		// that lack one are judged again with what the memo then gave.
		for len(open) > 0 {
			lacking := map[int][]model.Request{}
			var hashes []model.Hash
			for _, i := range open {
				simulated = false
				v, lacks := judging.Verdict(cases[i], look)
				verdicts[i][j] = score.JudgeVerdict{Judge: judging.Name(), Verdict: v, Simulated: simulated}
				if len(lacks) == 0 {
					continue
				}
				lacking[i] = lacks
				for _, request := range lacks {
					if h := request.Hash(); !absent[h] {
						hashes = append(hashes, h)
					}
				}
			}
			if len(lacking) == 0 {
				break
			}
			var found map[model.Hash]model.Response
			if m != nil {
				var err error
				if found, err = m.Get(ctx, hashes); err != nil {
					return nil, nil, err
				}
			}
			for _, h := range hashes {
				if response, ok := found[h]; ok {
					known[h] = response
				} else {
					absent[h] = true
				}
			}
			var again []int
			for _, i := range open {
				helped := false
				for _, request := range lacking[i] {
					if _, ok := found[request.Hash()]; ok {
						helped = true
					}
				}
				switch {
				case helped:
					again = append(again, i)
				default:
					missing = append(missing, lacking[i]...)
				}
			}
			open = again
		}
	}
	return verdicts, missing, nil
}
