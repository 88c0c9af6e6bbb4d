package evaluate

import (
	"context"
	"errors"
	"iter"
	"runtime"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/inorder"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Call is a request that a run makes for a prompt.
type Call struct {
	Request model.Request
	Hash    model.Hash
	// Dataset and Prompt say what it is made for.
	Dataset string
	Prompt  orbench.PromptID
	// Target is whose answer it is made for: it asks the target itself or what stands
	// before it. Judge is set where it asks about that answer.
	Target, Judge string
	// Probe is true where it asks about that answer with a forged verdict.
	Probe bool
	// Remembered is true where the store holds its response.
	Remembered bool
}

// Calls streams the calls of the run, each once, in the order of the walk. What is asked
// next can depend on a reply: calls behind one that is lacking are not known yet and left
// out. m may be nil for an empty store.
func (r *Run) Calls(ctx context.Context, m store.Reader) iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		r, _, err := r.asked(ctx, m)
		if err != nil {
			yield(Call{}, err)
			return
		}
		seen := map[model.Hash]bool{}
		work := func(ctx context.Context, piece []chunk) ([]Call, error) { return r.callsOf(ctx, m, piece) }
		err = inorder.Do(ctx, min(runtime.GOMAXPROCS(0), 8), r.pieces(), work, func(calls []Call) error {
			for _, call := range calls {
				if seen[call.Hash] {
					continue
				}
				seen[call.Hash] = true
				if !yield(call, nil) {
					return errEnough
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(Call{}, err)
		}
	}
}

// errEnough ends a walk whose caller wants no more of it.
var errEnough = errors.New("no more calls are wanted")

// callsOf lists the calls of a piece, chunk after chunk. The answers of all targets are
// looked up together, as judgePiece does.
func (r *Run) callsOf(ctx context.Context, m store.Reader, piece []chunk) (calls []Call, err error) {
	var known []Call
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
			return nil, err
		}
	}
	for _, c := range piece {
		var own []Call
		if !c.target.stepwise() {
			own, known = known[:len(c.prompts)], known[len(c.prompts):]
		}
		of, err := r.callsOfChunk(ctx, m, c, own, responses)
		if err != nil {
			return nil, err
		}
		calls = append(calls, of...)
	}
	return calls, nil
}

// about is a call for the answer of a chunk's target to a prompt.
func (r *Run) about(c chunk, p orbench.Prompt) Call {
	return Call{Dataset: r.Datasets[c.dataset].Name, Prompt: p.ID, Target: c.target.Name}
}

// callsOfChunk lists the calls of a chunk: of each prompt those for its answer, then those
// of the judges. known are the former, where they depend on no reply, and responses has
// those to them.
func (r *Run) callsOfChunk(ctx context.Context, m store.Reader, c chunk, known []Call, responses map[model.Hash]model.Response) ([]Call, error) {
	judges := asking(r.Judges)
	rows := make([]score.Row, len(c.prompts))
	answers := make([]noting, len(rows))
	var steps []model.Step
	for i, p := range c.prompts {
		rows[i] = score.Row{Prompt: p, Status: score.Unanswered}
		answers[i].about = r.about(c, p)
		if known == nil {
			steps = append(steps, answers[i].step(c.target.step(&rows[i])))
			continue
		}
		response, ok := responses[known[i].Hash]
		if known[i].Remembered = ok; ok && len(judges) > 0 {
			_, rows[i].Dialog = c.target.request(p)
			noteResponse(&rows[i], response)
		}
		answers[i].calls = known[i : i+1]
	}
	if _, err := fill.Recall(ctx, m, steps); err != nil {
		return nil, err
	}
	judged := make([]noting, len(rows)*len(judges))
	cases := make([]judge.Case, len(rows))
	steps = nil
	for i, row := range rows {
		if row.Status != score.Answered && row.Status != score.Blocked {
			continue
		}
		cases[i] = judge.Case{Prompt: row.Asked(), Response: row.Response, Assessment: row.Assessment, Unread: row.Unread}
		rows[i].Verdicts = make([]score.JudgeVerdict, len(judges))
		for k, j := range judges {
			n := &judged[i*len(judges)+k]
			n.about = answers[i].about
			n.about.Judge = j.Name()
			steps = append(steps, n.step(judging(j, &cases[i], &rows[i].Verdicts[k])))
		}
	}
	if _, err := fill.Recall(ctx, m, steps); err != nil {
		return nil, err
	}
	probes := c.target.probing(r.probes(judges), judges, rows)
	probed := make([]noting, len(probes))
	steps = steps[:0]
	for n, p := range probes {
		probed[n].about = answers[p.row].about
		probed[n].about.Judge, probed[n].about.Probe = p.judge.Name(), true
		steps = append(steps, probed[n].step(p.step))
	}
	if _, err := fill.Recall(ctx, m, steps); err != nil {
		return nil, err
	}
	var calls []Call
	for i := range rows {
		calls = append(calls, answers[i].calls...)
		for _, n := range judged[i*len(judges) : (i+1)*len(judges)] {
			calls = append(calls, n.calls...)
		}
	}
	for _, n := range probed {
		calls = append(calls, n.calls...)
	}
	return calls, nil
}

// noting notes the calls that a step makes.
type noting struct {
	about Call
	calls []Call
}

// step is a step whose calls, as it was last done, are noted.
func (n *noting) step(do model.Step) model.Step {
	return func(look model.Lookup) []model.Request {
		n.calls = n.calls[:0]
		lacking := do(func(r model.Request) (model.Response, bool) {
			response, ok := look(r)
			if ok {
				n.add(r, true)
			}
			return response, ok
		})
		for _, r := range lacking {
			n.add(r, false)
		}
		return lacking
	}
}

func (n *noting) add(r model.Request, remembered bool) {
	call := n.about
	call.Request, call.Hash, call.Remembered = r, r.Hash(), remembered
	n.calls = append(n.calls, call)
}
