package evaluate

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench/internal/score"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Target is the model under measurement, with its parameters.
type Target struct {
	// Name is what the user typed, such as "openai/gpt-4o"; results carry it.
	Name     string `json:"name"`
	Provider string `json:"provider"`
	// Endpoint is as in model.Request.
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
	// System is the system prompt, empty for none.
	System string       `json:"system,omitempty"`
	Params model.Params `json:"params"`
	// Sample numbers the answers of a target that is asked several times.
	Sample int `json:"sample,omitempty"`
	// Base is the Name of the target of which this one is a variant, empty for
	// one that is none.
	Base string `json:"base,omitempty"`
	// Framing is what is put around every prompt, nil for nothing.
	Framing *defense.Framing `json:"framing,omitempty"`
	// Defense stands between the prompts and the model, nil for nothing. Guarded is
	// its name, by which a stored run finds it again.
	Defense *defense.Defense `json:"-"`
	Guarded string           `json:"defense,omitempty"`
}

// undefended is the target as a defence sees it.
func (t Target) undefended() defense.Target {
	return defense.Target{
		Ref:    model.Ref{Provider: t.Provider, Endpoint: t.Endpoint, Model: t.Model},
		System: t.System, Params: t.Params, Sample: t.Sample,
	}
}

// framed is the prompt as the target's user puts it.
func (t Target) framed(p orbench.Prompt) orbench.Prompt {
	if t.Framing == nil {
		return p
	}
	return t.Framing.Apply(p)
}

// Request is what the target is asked for a prompt where no defence stands before
// it.
func (t Target) Request(p orbench.Prompt) model.Request {
	return t.undefended().Request(t.framed(p))
}

// Simulated reports whether the target is a simulated model.
func (t Target) Simulated() bool { return t.Provider == score.SimProvider }

// asked says how the target is asked.
func (t Target) asked() score.Asked {
	a := score.Asked{
		Provider: t.Provider, Endpoint: t.Endpoint, Model: t.Model, System: t.System,
		Temperature: t.Params.Temperature, MaxTokens: t.Params.MaxTokens, Seed: t.Params.Seed, Sample: t.Sample, Defense: t.Guarded,
	}
	if t.Framing != nil {
		a.Framing = t.Framing.Name
	}
	if t.Defense != nil {
		a.Language, a.Defense = t.Defense.Language(), t.Defense.Name()
	}
	return a
}

// LaneKey names the way to a provider's endpoint.
type LaneKey struct{ Provider, Endpoint string }

// lane gives the lane of the target.
func (t Target) lane() LaneKey { return LaneKey{t.Provider, t.Endpoint} }

// KeyOf gives the lane of a request.
func KeyOf(r model.Request) LaneKey { return LaneKey{r.Provider, r.Endpoint} }

// Run is a measurement: every target answers every prompt of every dataset, and
// every judge judges every answer.
type Run struct {
	Targets  []Target
	Datasets []*dataset.Dataset
	// Limit bounds the prompts of each dataset, from its start; 0 takes all.
	Limit  int
	Judges []judge.Judge
	// MostUnjudged is the greatest share of unjudged answers with which a rate is
	// given; 0 means a tenth, 1 that every rate is.
	MostUnjudged float64
	// Recorded means that no target is asked: the run judges what the memo
	// holds.
	Recorded bool
}

// design is the run as scores see it.
func (r *Run) design() score.Design {
	d := score.Design{Datasets: r.Datasets, Limit: r.Limit, Judges: r.Judges, MostUnjudged: r.MostUnjudged}
	for _, t := range r.Targets {
		d.Targets = append(d.Targets, score.Target{Name: t.Name, Base: t.Base, Asked: t.asked()})
	}
	return d
}

// Prompts gives the number of prompts in all datasets, after Limit.
func (r *Run) Prompts() int {
	d := r.design()
	var n int
	for _, set := range r.Datasets {
		n += d.Size(set)
	}
	return n
}

// Simulated reports whether any target or judge of the run is simulated.
func (r *Run) Simulated() bool {
	d := r.design()
	return d.Simulated()
}

// Lanes lists the lanes that the run needs, each once: those of the targets,
// then those of the judges.
func (r *Run) Lanes() []LaneKey {
	var keys []LaneKey
	seen := map[LaneKey]bool{}
	add := func(k LaneKey) {
		if !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	for _, t := range r.Targets {
		if r.Recorded {
			break
		}
		add(t.lane())
		if t.Defense != nil {
			for _, m := range t.Defense.Models() {
				add(LaneKey{m.Provider, m.Endpoint})
			}
		}
	}
	for _, j := range r.Judges {
		if asking, ok := j.(judge.ModelJudge); ok {
			for _, m := range asking.Models() {
				add(LaneKey{m.Provider, m.Endpoint})
			}
		}
	}
	return keys
}

// roundsOn reports whether the lane works in rounds, since what it is asked depends
// on replies: for judges, and for defences.
func (r *Run) roundsOn(key LaneKey) bool {
	for _, t := range r.Targets {
		if t.Defense == nil || r.Recorded {
			continue
		}
		if t.lane() == key {
			return true
		}
		for _, m := range t.Defense.Models() {
			if (LaneKey{m.Provider, m.Endpoint}) == key {
				return true
			}
		}
	}
	for _, j := range r.Judges {
		if asking, ok := j.(judge.ModelJudge); ok {
			for _, m := range asking.Models() {
				if (LaneKey{m.Provider, m.Endpoint}) == key {
					return true
				}
			}
		}
	}
	return false
}

// Fill has the missing requests of the run called, all lanes at once, and
// returns when nothing is missing but what failed. Its error joins those of the
// lanes; see fill.Lane.Fill.
func (r *Run) Fill(ctx context.Context, m *memo.Memo, lanes map[LaneKey]*fill.Lane) error {
	for {
		sent, err := r.fillLanes(ctx, m, lanes)
		// A defence may go from lane to lane and back: a guard, the model, a check. A
		// lane that was done may have been given work by another one's last reply.
		if !onlyGivenUp(err) || sent == 0 || !r.defended() {
			return err
		}
	}
}

// defended reports whether a defence stands before any target.
func (r *Run) defended() bool {
	return !r.Recorded && slices.ContainsFunc(r.Targets, func(t Target) bool { return t.Defense != nil })
}

// fillLanes fills all lanes at once, each until nothing is missing on it, and
// gives the number of requests that were.
func (r *Run) fillLanes(ctx context.Context, m *memo.Memo, lanes map[LaneKey]*fill.Lane) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	keys := r.Lanes()
	errs := make([]error, len(keys))
	var total atomic.Int64
	var firstPasses, all sync.WaitGroup
	firstPasses.Add(len(keys))
	targetsDone := make(chan struct{})
	for i, key := range keys {
		all.Go(func() {
			sent, err := r.fillLane(ctx, m, key, lanes[key], firstPasses.Done, targetsDone)
			total.Add(int64(sent))
			if !onlyGivenUp(err) {
				// What stops one lane (the budget, a full disk) stops the rest.
				stop(err)
			}
			errs[i] = err
		})
	}
	go func() {
		firstPasses.Wait()
		close(targetsDone)
	}()
	all.Wait()
	<-targetsDone
	return int(total.Load()), joinDistinct(errs)
}

// joinDistinct joins errors, leaving out those that are or say the same as an
// earlier one: the cause that stopped several lanes.
func joinDistinct(errs []error) error {
	var distinct []error
	for _, err := range errs {
		repeated := false
		for _, d := range distinct {
			repeated = repeated || err != nil && (errors.Is(d, err) || d.Error() == err.Error())
		}
		if err != nil && !repeated {
			distinct = append(distinct, err)
		}
	}
	return errors.Join(distinct...)
}

// restBetweenPasses is the least time between two passes of a judge's lane
// while the targets are still answering.
const restBetweenPasses = time.Second

// fillLane fills one lane. The first pass covers everything that the targets on
// the lane are asked; then firstPass is called. A lane with judges goes on with
// passes until one that began after all targets were done finds nothing to
// send.
func (r *Run) fillLane(ctx context.Context, m *memo.Memo, key LaneKey, lane *fill.Lane, firstPass func(), targetsDone <-chan struct{}) (all int, err error) {
	first := sync.OnceFunc(firstPass)
	defer first()
	for pass := 0; ; pass++ {
		last := false
		select {
		case <-targetsDone:
			last = true
		default:
		}
		began := time.Now()
		sent, err := lane.Fill(ctx, r.wanted(ctx, m, key, pass == 0))
		all += sent
		if !onlyGivenUp(err) || !r.roundsOn(key) || last && sent == 0 {
			return all, err
		}
		first()
		if last || sent > 0 {
			continue
		}
		// A pass reads all prompts, so a rest in proportion keeps the share of
		// the processor that passes take small.
		rest := time.NewTimer(max(restBetweenPasses, 4*time.Since(began)))
		select {
		case <-targetsDone:
		case <-rest.C:
		case <-ctx.Done():
		}
		rest.Stop()
	}
}

// wanted streams the requests of the run that belong to a lane, as far as they
// are known: those of targets where asked for, and those of judges whose answers
// are there.
func (r *Run) wanted(ctx context.Context, m *memo.Memo, key LaneKey, targets bool) iter.Seq2[model.Request, error] {
	return func(yield func(model.Request, error) bool) {
		inRounds := r.roundsOn(key)
		for c, err := range r.chunks() {
			if err != nil {
				yield(model.Request{}, err)
				return
			}
			if targets && !r.Recorded && c.target.Defense == nil && c.target.lane() == key {
				for _, p := range c.prompts {
					if !yield(c.target.Request(p), nil) {
						return
					}
				}
			}
			if !inRounds {
				continue
			}
			judged, err := r.judgePiece(ctx, m, []chunk{c})
			if err != nil {
				yield(model.Request{}, err)
				return
			}
			for _, request := range slices.Concat(judged[0].ofDefense, judged[0].ofJudges) {
				if KeyOf(request) == key && !yield(request, nil) {
					return
				}
			}
		}
	}
}

const (
	// pieceSize is how many prompts are looked up and judged together.
	pieceSize = 256
	// pieceRows bounds that by the targets: a piece has a row for each of them and
	// each prompt.
	pieceRows = 8192
)

// chunk is a target and a piece of a dataset.
type chunk struct {
	target  Target
	dataset int
	index   int // of the target
	prompts []orbench.Prompt
}

// chunks walks the run, piece by piece, and each piece for every target.
func (r *Run) chunks() iter.Seq2[chunk, error] {
	return func(yield func(chunk, error) bool) {
		for piece, err := range r.pieces() {
			if err != nil {
				yield(chunk{}, err)
				return
			}
			for _, c := range piece {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// pieces walks the run: the datasets in their order, some prompts at a time, as a
// chunk for each target, so that all targets advance together.
func (r *Run) pieces() iter.Seq2[[]chunk, error] {
	design := r.design()
	size := max(16, min(pieceSize, pieceRows/max(1, len(r.Targets))))
	return func(yield func([]chunk, error) bool) {
		for d, set := range r.Datasets {
			var prompts []orbench.Prompt
			flush := func() bool {
				piece := make([]chunk, len(r.Targets))
				for i, t := range r.Targets {
					piece[i] = chunk{target: t, dataset: d, index: i, prompts: prompts}
				}
				prompts = nil
				return yield(piece, nil)
			}
			left := design.Size(set)
			for p, err := range set.Prompts() {
				if err != nil {
					yield(nil, err)
					return
				}
				if left == 0 {
					break
				}
				left--
				prompts = append(prompts, p)
				if len(prompts) == size && !flush() {
					return
				}
			}
			if len(prompts) > 0 && !flush() {
				return
			}
		}
	}
}
