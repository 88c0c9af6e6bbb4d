package evaluate

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Derive computes the run's figures from the datasets and the store, and passes
// every row to sink in the order of the walk. sink may be nil. Result.Cost
// stays empty, because spending does not follow from the rows.
//
// The chunks are judged on all processors; sink is called from one goroutine.
func (r *Run) Derive(ctx context.Context, m store.Reader, sink func(score.AnswerRow) error) (score.Result, error) {
	return r.DeriveTo(ctx, m, Sinks{Row: sink})
}

// Sinks receive what Derive finds while it runs. Any of them may be nil.
type Sinks struct {
	Row func(score.AnswerRow) error
	// NoSubjects says that Row does not ask for subjects, which an index then need not read.
	NoSubjects bool
	// Usage counts the replies that the run rests on, each once per dataset.
	Usage price.Usage
	// UsageOf counts the same for each target by its name, as if it were the only one.
	UsageOf map[string]price.Usage
	// Chunk receives the rows of all targets on some prompts after they are
	// counted.
	Chunk func(score.Chunk) error
	// Missing receives the hashes of the calls whose replies the rows lack. No
	// other reply would change a row.
	Missing func([]model.Hash)
	// Walked receives the number of answers that have been read so far.
	Walked func(answers int)
}

// DeriveTo is Derive with more than one sink.
func (r *Run) DeriveTo(ctx context.Context, m store.Reader, sinks Sinks) (score.Result, error) {
	r, drawn, err := r.asked(ctx, m)
	if err != nil {
		return score.Result{}, err
	}
	var count *drawnCount
	if drawn != nil {
		count = drawn.newCount(len(r.Targets) * len(r.Judges))
		count.walk(drawn.asked)
	}
	judge := func(ctx context.Context, chunk []targetChunk) ([]judgedChunk, error) {
		var scope job.Scope
		var used *counter
		if sinks.Usage != nil {
			used = &counter{seen: make(map[seen]bool, 2*len(chunk)*len(chunk[0].prompts)), of: price.Usage{}}
			scope.Met = used.add
		}
		if sinks.UsageOf != nil {
			used.ofTarget = map[string]price.Usage{}
		}
		all, err := r.judgeChunk(ctx, m, chunk, r.Judges, scope, scope)
		for n := range all {
			all[n].used = used
			err = errors.Join(err, all[n].noteFailures(ctx, m, r))
			if sinks.Missing != nil {
				all[n].noteMissing()
			}
		}
		return all, err
	}
	annotations, err := m.Annotations(ctx)
	if err != nil {
		return score.Result{}, err
	}
	design := r.Design()
	design.Words = annotation.NewWords(annotations)
	tally, texts := score.NewTally(design), fixed{}
	// One goroutine does the counting and writing, which is a fifth of all
	// work. More than a few others would only fill the memory with waiting
	// rows.
	width := min(runtime.GOMAXPROCS(0), 8)
	walked := 0
	err = job.InOrder(ctx, width, r.chunks(), judge, func(judged []judgedChunk) error {
		if used := judged[0].used; used != nil {
			sinks.Usage.AddUsage(used.of)
			for target, of := range used.ofTarget {
				if sinks.UsageOf[target] == nil {
					sinks.UsageOf[target] = price.Usage{}
				}
				sinks.UsageOf[target].AddUsage(of)
			}
		}
		if count != nil {
			r.addVerdicts(count, judged)
		}
		chunk := score.Chunk{Dataset: judged[0].dataset, Prompts: judged[0].prompts, Rows: make([][][]score.AnswerRow, len(r.Targets))}
		for _, j := range judged {
			for i := range j.rows {
				texts.add(&j.rows[i])
			}
			walked += len(j.rows)
			if len(j.lacking) > 0 {
				sinks.Missing(j.lacking)
			}
			chunk.Rows[j.index] = append(chunk.Rows[j.index], j.rows)
		}
		tally.Add(chunk)
		if sinks.Walked != nil {
			sinks.Walked(walked)
		}
		if sinks.Chunk != nil {
			if err := sinks.Chunk(chunk); err != nil {
				return err
			}
		}
		if sinks.Row == nil {
			return nil
		}
		for _, j := range judged {
			for _, row := range j.rows {
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
	result, err := tally.Result()
	if r.Reading.Date != reply.First { // which asked nobody
		texts.note(&result)
	}
	if count != nil {
		r.addStopping(&result, count)
	}
	return result, err
}

// judgedChunk is a chunk with its rows.
type judgedChunk struct {
	targetChunk
	rows []score.AnswerRow
	// ofTarget holds the calls that each row lacks for its answer. ofJudges
	// holds those that the judges lack for the existing answers. With
	// job.Scope.Remembered they also hold the stored calls.
	ofTarget, ofJudges [][]job.Call
	// lacking holds the hashes of all these calls, if a sink needs them.
	lacking []model.Hash
	// used counts for all chunks that are judged together; nil counts nothing.
	used *counter
}

// counter counts the replies behind the rows of a chunk. Targets and judges may
// share replies, such as a target and its variant that checks the answer.
type counter struct {
	// seen has the replies that were counted in all, and those that were counted for each
	// target.
	seen map[seen]bool
	of   price.Usage
	// ofTarget counts for each target; nil for none.
	ofTarget map[string]price.Usage
}

// seen is a reply that was counted for a target, or in all if that is empty.
type seen struct {
	target string
	hash   model.Hash
}

// add counts a reply; see job.Scope.
func (u *counter) add(target string, h model.Hash, of model.Ref, response model.Response) {
	if k := (seen{hash: h}); !u.seen[k] {
		u.seen[k] = true
		u.of.Add(of.Provider, of.Model, response)
	}
	if k := (seen{target, h}); u.ofTarget != nil && !u.seen[k] {
		u.seen[k] = true
		if u.ofTarget[target] == nil {
			u.ofTarget[target] = price.Usage{}
		}
		u.ofTarget[target].Add(of.Provider, of.Model, response)
	}
}

// about returns a call of the chunk for the answer to a prompt.
func (c targetChunk) about(p orbench.Prompt) job.Call {
	return job.Call{Dataset: c.set, Prompt: p.ID, Target: c.target.Name, Role: job.Target}
}

// judgeChunk derives the rows of chunks, judged by the given judges. It looks
// up the answers of all targets together, because answers to the same prompts
// are often stored close to each other. It does not look up failures. The scopes
// say what is told of the replies of targets, with the models that their defenses
// ask, and of those of judges. m may be nil for an empty store.
func (r *Run) judgeChunk(ctx context.Context, m store.Reader, chunk []targetChunk, judges []judge.Judge, ofTargets, ofJudges job.Scope) ([]judgedChunk, error) {
	m = r.setting(m)
	all := make([]judgedChunk, len(chunk))
	// The requests of most targets are known without running steps.
	var hashes []model.Hash
	for n, c := range chunk {
		all[n] = judgedChunk{targetChunk: c, rows: make([]score.AnswerRow, len(c.prompts)), ofTarget: make([][]job.Call, len(c.prompts)), ofJudges: make([][]job.Call, len(c.prompts))}
		for i, p := range c.prompts {
			asked := p
			asked.Answers = nil // which are of all targets, with who asked
			all[n].rows[i] = score.AnswerRow{
				Target: c.target.Name, Dataset: c.set,
				Prompt: asked, Status: score.Unanswered, Simulated: c.target.Simulated(),
			}
			if c.of != "" {
				all[n].rows[i].Variant, all[n].rows[i].Sample = c.of, c.target.Sample+1
			}
			if !c.target.needsReplies() && !c.target.carried(p) {
				var request model.Request
				request, all[n].rows[i].Dialog = c.target.request(p)
				hashes = append(hashes, request.Hash())
			}
		}
	}
	var responses map[model.Hash]model.Response
	if m != nil {
		var err error
		if responses, err = m.Get(ctx, hashes); err != nil {
			return nil, err
		}
	}
	// A walk for what judges ask reads no answers where none of them asks.
	unread := len(judges) == 0 && len(r.Judges) > 0
	for n := range all {
		j := &all[n]
		var steps []job.Step
		for i := range j.rows {
			row := &j.rows[i]
			if j.target.needsReplies() {
				steps = append(steps, job.Step{About: j.about(row.Prompt), Do: j.target.step(row, r.Reading)})
				continue
			}
			if j.target.carried(j.prompts[i]) {
				if response, ok := dataset.ReplayTo(j.prompts[i], j.target.Endpoint, j.target.Sample); ok {
					response.Reading = r.Reading.Date
					noteResponse(row, j.target.Ref(), r.Reading.Answer(response))
				}
				continue
			}
			response, ok := responses[hashes[0]]
			if ok && ofTargets.Met != nil {
				ofTargets.Met(j.target.Name, hashes[0], j.target.Ref(), response)
			}
			if ok && !unread {
				noteResponse(row, j.target.Ref(), r.Reading.Answer(response))
			}
			if !ok && !j.target.Replayed() || ofTargets.Remembered {
				call := j.about(row.Prompt)
				call.Request, call.Hash, call.Remembered = j.target.Request(row.Prompt), hashes[0], ok
				j.ofTarget[i] = []job.Call{call}
			}
			hashes = hashes[1:]
		}
		if j.target.needsReplies() {
			var err error
			if j.ofTarget, err = job.Recall(ctx, m, ofTargets, steps); err != nil {
				return nil, err
			}
		}
	}
	return all, judgeRows(ctx, m, judges, all, ofJudges)
}

// carried reports whether a prompt carries what answers it has of the target. Stores of before
// have recorded answers as calls.
func (t Target) carried(p orbench.Prompt) bool { return t.Replayed() && len(p.Answers) > 0 }

// settingReader returns responses with model.Response.Accepted and Reading set.
type settingReader struct {
	store.Reader
	accepted []string
	reading  string
}

// setting returns the store with the accepted names and the reading applied.
func (r *Run) setting(m store.Reader) store.Reader {
	if m == nil || len(r.Accepted) == 0 && r.Reading.Date == "" {
		return m
	}
	return settingReader{m, r.Accepted, r.Reading.Date}
}

// Get reads from the store.
func (a settingReader) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	found, err := a.Reader.Get(ctx, hashes)
	for h, response := range found {
		response.Accepted, response.Reading = slices.Contains(a.accepted, response.Model), a.reading
		found[h] = response
	}
	return found, err
}

// judgeRows has the answers of a chunk judged, and records the calls that the
// judges lack. The answers to one prompt are judged one after the other,
// because a judge may already know the reply from the last one. Only a few
// prompts are judged at a time, because replies of judges are kept that long.
func judgeRows(ctx context.Context, m store.Reader, judges []judge.Judge, all []judgedChunk, scope job.Scope) error {
	size := max(1, chunkSize/max(1, len(all)))
	cases := make([]judge.Case, 0, size*len(all))
	steps := make([]job.Step, 0, size*len(all)*len(judges))
	of := make([]*[]job.Call, 0, cap(steps)) // by step
	for from, more := 0, true; more; from += size {
		more = false
		cases, steps, of = cases[:0], steps[:0], of[:0]
		for i := from; i < from+size; i++ {
			for n := range all {
				if i >= len(all[n].rows) {
					continue
				}
				more = true
				row := &all[n].rows[i]
				if row.Status != score.Answered && row.Status != score.Blocked {
					continue
				}
				row.Simulated = row.Simulated || row.Response.Simulated()
				row.Verdicts = make([]score.JudgeVerdict, len(judges))
				cases = append(cases, row.Case())
				for k, j := range judges {
					about := all[n].about(row.Prompt)
					about.Judge, about.Role = j.Name(), job.Judge
					step := job.Step{About: about, Do: Judging(j, &cases[len(cases)-1], &row.Verdicts[k], scope.Watch)}
					steps, of = append(steps, step), append(of, &all[n].ofJudges[i])
				}
			}
		}
		found, err := job.Recall(ctx, m, scope, steps)
		if err != nil {
			return err
		}
		for k, calls := range found {
			*of[k] = append(*of[k], calls...)
		}
	}
	return nil
}

// Judging returns the step that makes a verdict on a case. It tells watch, nil for nobody, of
// the replies.
func Judging(j judge.Judge, c *judge.Case, v *score.JudgeVerdict, watch *job.Watch) model.Step {
	return func(look model.Lookup) (missing []model.Request) {
		*v = score.JudgeVerdict{Judge: j.Name()}
		var replies []job.Reply
		v.Verdict, missing = j.Verdict(*c, func(r model.Request) (model.Response, bool) {
			if n := len(replies) - 1; r.Sample > 0 && n >= 0 {
				replies[n].Unread = true // since the next one is looked for
			}
			response, ok := look(r)
			if ok {
				v.Note(job.RefOf(r), response)
			}
			if ok && watch != nil {
				replies = append(replies, job.Reply{Request: r, Response: response})
			}
			return response, ok
		})
		for i, r := range replies {
			replies[i].Unread = r.Unread || strings.Contains(v.Rationale, question.Unread(job.RefOf(r.Request)))
		}
		watch.Read(replies)
		return missing
	}
}

// step returns the step that makes the answer to a row's prompt, for a target
// that is asked step by step.
func (t Target) step(row *score.AnswerRow, reading reply.Reading) model.Step {
	if t.Guard != nil {
		return t.assessing(row)
	}
	return t.answering(row, reading)
}

// assessing returns the step in which a guard assesses a row's prompt after its
// dialog, or the answer that ends the dialog.
func (t Target) assessing(row *score.AnswerRow) model.Step {
	framed := t.framed(row.Prompt)
	dialog, _ := t.Turns.Hold(framed, nil)
	prompt, answer, about := conversation.Asked(framed, dialog), "", guard.PromptHarm
	if n := len(prompt.Messages) - 1; prompt.Messages[n].Role == orbench.Assistant {
		about, answer = guard.AnswerHarm, prompt.Messages[n].Content
		prompt.Messages = prompt.Messages[:n]
	}
	asked := t.Ref()
	request := model.Request{Provider: t.Provider, Endpoint: t.Endpoint, Model: t.Model, Revision: t.Revision, Params: t.Params, Sample: t.Sample}
	return func(look model.Lookup) []model.Request {
		var last model.Response
		a, missing, err := t.Guard.Ask(request, about, prompt, answer, func(r model.Request) (response model.Response, ok bool) {
			if response, ok = look(r); ok && !last.ByOther(asked) {
				last = response
			}
			return response, ok
		})
		if len(missing) > 0 {
			return missing
		}
		row.Dialog = dialog
		noteResponse(row, asked, last)
		if row.Status == score.ServedByOther {
			return nil
		}
		row.Status = score.Answered
		if err != nil {
			row.Unread = err.Error()
			return nil
		}
		row.Assessment = &a
		if *a.Of(about) {
			row.Status = score.Blocked
			row.Response.Finish, row.Response.Block = model.Blocked, &model.Block{Kind: model.Flagged, Detail: a.String()}
		}
		return nil
	}
}

// answering returns the step that makes the answer to a row's prompt, for a
// target that is asked step by step. It asks the target's own turns of the
// dialog one after the other, each behind its defense, and then the last turn.
func (t Target) answering(row *score.AnswerRow, reading reply.Reading) model.Step {
	target, prompt, d := t.undefended(), t.framed(row.Prompt), t.defended()
	return func(look model.Lookup) (missing []model.Request) {
		var o defense.Outcome
		simulated := false
		ask := func(p orbench.Prompt) (model.Response, bool) {
			o, missing = d.Answer(target, p, look)
			o.Response = reading.Answer(o.Response)
			simulated = simulated || o.Simulated
			return o.Response, len(missing) == 0 && !o.Response.ByOther(target.Ref)
		}
		dialog, ok := t.Turns.Hold(prompt, ask)
		if ok {
			ask(conversation.Asked(prompt, dialog))
		}
		if len(missing) > 0 {
			return missing
		}
		row.Dialog, row.Findings = dialog, o.Findings
		row.Simulated = row.Simulated || simulated
		noteResponse(row, target.Ref, o.Response)
		return nil
	}
}

// noteFailures marks the rows that lack an answer because a call failed. A failure that the
// run's reading finds to be a block is one, on which no judge is asked.
func (j *judgedChunk) noteFailures(ctx context.Context, m store.Reader, r *Run) error {
	failures, err := fill.Failures(ctx, m, requestsOf(j.ofTarget))
	if err != nil {
		return err
	}
	for i, f := range failures {
		if block := r.Reading.Failed(f.Kind, f.Message); block != nil {
			row := &j.rows[i]
			row.Status, row.Response = score.Blocked, model.Response{Text: f.Message, Finish: model.Blocked, Block: block}
			verdict, _ := judge.Settled(row.Response)
			for _, by := range r.Judges {
				row.Verdicts = append(row.Verdicts, score.JudgeVerdict{Judge: by.Name(), Verdict: verdict})
			}
			continue
		}
		if f.Message != "" {
			j.rows[i].Status, j.rows[i].Failure, j.rows[i].AccountLimited = score.Failed, f.Message, f.Kind == model.Limited
		}
	}
	return nil
}

// noteMissing records the hashes of all calls that the rows lack.
func (j *judgedChunk) noteMissing() {
	for _, requests := range requestsOf(slices.Concat(j.ofTarget, j.ofJudges)) {
		for _, r := range requests {
			j.lacking = append(j.lacking, r.Hash())
		}
	}
}

// requestsOf returns the requests of the missing calls in lists.
func requestsOf(lists [][]job.Call) [][]model.Request {
	all := make([][]model.Request, len(lists))
	for i, calls := range lists {
		for _, call := range calls {
			if !call.Remembered {
				all[i] = append(all[i], call.Request)
			}
		}
	}
	return all
}

// noteResponse records the response to a row's prompt and the model that was
// asked.
func noteResponse(r *score.AnswerRow, asked model.Ref, response model.Response) {
	r.Status, r.Response = score.Answered, response
	switch {
	case response.ByOther(asked):
		r.Status = score.ServedByOther
	case response.Finish == model.Blocked:
		r.Status = score.Blocked
	}
}
