package evaluate

import (
	"context"
	"runtime"

	"github.com/orbench/orbench"
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
func (r *Run) Derive(ctx context.Context, m *memo.Memo, sink func(Row) error) (Result, error) {
	type derived struct {
		chunk chunk
		rows  []Row
	}
	judged := func(ctx context.Context, c chunk) (derived, error) {
		rows, _, err := r.judgeChunk(ctx, m, c)
		return derived{c, rows}, err
	}
	tally := newTally(r)
	err := inorder.Do(ctx, runtime.GOMAXPROCS(0), r.chunks(), judged, func(d derived) error {
		for i := range d.rows {
			tally.add(d.chunk, &d.rows[i])
			if sink == nil {
				continue
			}
			if err := sink(d.rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	return tally.result(), nil
}

// judgeChunk derives the rows of a chunk and the requests that its judges lack.
func (r *Run) judgeChunk(ctx context.Context, m *memo.Memo, c chunk) ([]Row, []model.Request, error) {
	rows := make([]Row, len(c.prompts))
	hashes := make([]model.Hash, len(c.prompts))
	for i, p := range c.prompts {
		rows[i] = Row{
			Target: c.target.Name, Dataset: r.Datasets[c.dataset].Name,
			Prompt: p, Status: Unanswered, Simulated: c.target.Simulated(),
		}
		hashes[i] = c.target.Request(p).Hash()
	}
	responses, err := m.Get(ctx, hashes)
	if err != nil {
		return nil, nil, err
	}
	if len(responses) < len(hashes) {
		failures, err := m.Failures(ctx, hashes)
		if err != nil {
			return nil, nil, err
		}
		for i, h := range hashes {
			if f, ok := failures[h]; ok {
				rows[i].Status, rows[i].Failure = Failed, f.Message
			}
		}
	}
	var cases []judge.Case
	var at []int
	for i, h := range hashes {
		response, ok := responses[h]
		if !ok {
			continue
		}
		rows[i].Status, rows[i].Response = Answered, response
		if response.Finish == model.Blocked {
			rows[i].Status = Blocked
		}
		cases = append(cases, judge.Case{Prompt: rows[i].Prompt, Response: response})
		at = append(at, i)
	}
	verdicts, missing, err := JudgeAll(ctx, m, r.Judges, cases)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range verdicts {
		row := &rows[at[i]]
		row.Verdicts = v
		row.Simulated = row.Simulated || row.Response.Simulated()
	}
	return rows, missing, nil
}

// JudgeAll has every judge judge every case, with the replies that the memo
// holds. It returns the verdicts of each case in the order of the judges, and
// the requests whose responses are missing for some of them. m may be nil for an
// empty memo.
func JudgeAll(ctx context.Context, m *memo.Memo, judges []judge.Judge, cases []judge.Case) ([][]JudgeVerdict, []model.Request, error) {
	verdicts := make([][]JudgeVerdict, len(cases))
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
		verdicts[i] = make([]JudgeVerdict, len(judges))
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
				verdicts[i][j] = JudgeVerdict{judging.Name(), v, simulated}
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

// labelled gives the index of a label in orbench.Labels, or -1.
func labelled(l orbench.Label) int {
	for i, known := range orbench.Labels {
		if l == known {
			return i
		}
	}
	return -1
}
