package batch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// fileLimits are those of a file for nobody in particular: what OpenAI takes, so that
// whatever reads its format can work through it.
var fileLimits = Limits{Calls: 50_000, Bytes: 200_000_000}

// Asked says which calls of a run go by batch: it gives the service for a model's calls and
// its limits, or says why there is none.
type Asked func(of model.Ref) (name string, limits Limits, reason string)

// Plan is what a submission sends.
type Plan struct {
	Parts []Part `json:"plan"`
	// Out counts the lacking calls that are out, and Judging those of judges that are left
	// to eval.
	Out     int `json:"out"`
	Judging int `json:"judges_calls_left"`
	// Without has the calls to models that cannot go by batch.
	Without []*Without `json:"without_batch,omitempty"`
	// Unwritten counts the calls that cannot be written in the model's format; the reason
	// is noted as their failure.
	Unwritten int `json:"unwritten,omitempty"`
}

// Part is one batch of a plan.
type Part struct {
	Provider string `json:"provider"`
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
	Service  string `json:"service"`
	Calls    int    `json:"calls"`
	Bytes    int64  `json:"bytes"`
	// InputTokens is an estimate, see price.EstimateTokens, and MaxOutputTokens the most
	// that the calls may be answered with.
	InputTokens     int `json:"input_tokens"`
	MaxOutputTokens int `json:"max_output_tokens"`
	// MaxUSD is the most that it costs by batch, in US dollars; nil where that is unknown.
	MaxUSD *float64 `json:"max_usd"`
}

// Without is the calls to a model that cannot go by batch.
type Without struct {
	Model  string `json:"model"`
	Calls  int    `json:"calls"`
	Reason string `json:"reason"`
}

// Calls counts what a plan sends.
func (p Plan) Calls() (n int) {
	for _, part := range p.Parts {
		n += part.Calls
	}
	return n
}

// together is how many calls are set apart in one transaction.
const together = 256

// planner deals lacking calls out to batches.
type planner struct {
	*Manager
	plan Plan
	// batched are the calls that are out, for a plan that sets nothing apart.
	batched map[model.Hash]bool
	dry     bool
	open    map[model.Ref]*part
	// made are the batches, in the order of their first call.
	made    []*Batch
	without map[model.Ref]*Without
}

// part is a batch that grows.
type part struct {
	Part
	batch  *Batch
	limits Limits
	format client.Format
	// key is the fingerprint of the key that is sent with it, empty for files.
	key   string
	calls []drafted
}

// drafted is a call that is to be set apart.
type drafted struct {
	store.BatchCall
	bytes  int64
	input  int
	output int
}

// lay walks the run and lays its lacking calls into batches; dry says that nothing is
// set apart.
func (d *Manager) lay(ctx context.Context, asked Asked, dry bool) (*planner, error) {
	p := &planner{Manager: d, dry: dry, open: map[model.Ref]*part{}, without: map[model.Ref]*Without{}, plan: Plan{Parts: []Part{}}}
	var err error
	if dry {
		if p.batched, err = OpenCalls(ctx, d.Store); err != nil {
			return nil, err
		}
	}
	for call, err := range d.Job.All(ctx, d.Store) {
		switch {
		case err != nil:
			return nil, err
		case call.Remembered:
		case d.judging(call):
			p.plan.Judging++
		default:
			if err := p.add(ctx, call, asked); err != nil {
				return nil, err
			}
		}
	}
	open := slices.SortedFunc(maps.Values(p.open), func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.Model, b.Model))
	})
	for _, part := range open {
		if err := p.finish(ctx, part); err != nil {
			return nil, err
		}
	}
	p.plan.Without = slices.SortedFunc(maps.Values(p.without), func(a, b *Without) int { return cmp.Compare(a.Model, b.Model) })
	return p, nil
}

// judging reports whether a call asks a judge about answers that the job asks for.
func (d *Manager) judging(call job.Call) bool {
	return call.Role.Judges() && !d.Job.Judging()
}

// OpenCalls finds the calls that are out in any open batch of a store, which may be nil.
func OpenCalls(ctx context.Context, m store.Reader) (map[model.Hash]bool, error) {
	found := map[model.Hash]bool{}
	if m == nil {
		return found, nil
	}
	batches, err := m.Batches(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
		if !b.Open {
			continue
		}
		for c, err := range m.AllBatchCalls(ctx, b.ID) {
			if err != nil {
				return nil, err
			}
			found[c.Hash] = true
		}
	}
	return found, nil
}

// add lays a call into the batch of its model.
func (p *planner) add(ctx context.Context, call job.Call, asked Asked) error {
	r := call.Request
	of := job.RefOf(r)
	into := p.open[of]
	if into == nil || r.Params.Form == model.Raw {
		name, limits, reason := asked(of)
		if r.Params.Form == model.Raw {
			reason = cmp.Or(reason, "it is sent texts without a chat template, which no batch takes")
		}
		if reason != "" {
			if p.without[of] == nil {
				p.without[of] = &Without{Model: of.String(), Reason: reason}
			}
			p.without[of].Calls++
			return nil
		}
		into = &part{limits: limits, format: p.format(of)}
		if name != Files {
			into.key = Fingerprint(p.Clients.Client(of.Provider, of.Endpoint).Endpoint.Key)
		}
		into.Part = Part{Provider: of.Provider, Endpoint: of.Endpoint, Model: of.Model, Service: name}
		p.open[of] = into
	}
	if call.Role.Judges() && r.Sample > 0 && into.Service != Files {
		// A reply that cannot be read is asked for again at once, where a judge can be given up.
		p.plan.Judging++
		return nil
	}
	body, err := into.format.Body(r)
	if err != nil {
		p.plan.Unwritten++
		if p.dry {
			return nil
		}
		failed := &model.Error{Kind: model.Invalid, Provider: r.Provider, Model: r.Model, Err: err}
		return p.Store.PutFailures(ctx, []store.Failure{{Hash: call.Hash, Kind: failed.Kind, Message: failed.Error()}})
	}
	c := drafted{
		BatchCall: store.BatchCall{Hash: call.Hash, Request: r.Canonical()},
		bytes:     int64(len(Line(call.Hash.String(), body))) + 1,
		input:     price.EstimateTokens(r.Messages), output: mostOutput(r),
	}
	into.calls = append(into.calls, c)
	if len(into.calls) == together {
		return p.flush(ctx, into)
	}
	return nil
}

// flush sets the drafted calls of a part apart, and begins further batches where one is
// full.
func (p *planner) flush(ctx context.Context, into *part) error {
	free, release, err := p.free(ctx, into.calls)
	into.calls = into.calls[:0]
	if err != nil {
		return err
	}
	for len(free) > 0 {
		n, bytes := 0, into.Bytes
		for n < len(free) && into.Calls+n < into.limits.Calls && (bytes+free[n].bytes <= into.limits.Bytes || into.Calls+n == 0) {
			bytes += free[n].bytes
			n++
		}
		if n > 0 {
			err = p.put(ctx, into, free[:n])
		}
		if free = free[n:]; err == nil && len(free) > 0 {
			err = p.finish(ctx, into)
		}
		if err != nil {
			break
		}
	}
	return errors.Join(err, release())
}

// free gives those of some calls that nobody has answered, makes or has out, and holds
// them until release.
func (p *planner) free(ctx context.Context, calls []drafted) (free []drafted, release func() error, err error) {
	none := func() error { return nil }
	if p.dry {
		for _, c := range calls {
			if p.batched[c.Hash] {
				p.plan.Out++
				continue
			}
			free = append(free, c)
		}
		return free, none, nil
	}
	hashes := table.RowsOf(calls, func(c drafted) model.Hash { return c.Hash })
	claim, err := p.Store.Claim(ctx, hashes, store.Term, 0)
	if err != nil {
		return nil, none, err
	}
	for _, c := range calls {
		switch {
		case claim.Batched[c.Hash]:
			p.plan.Out++
		case !claim.Answered[c.Hash] && !claim.Taken[c.Hash]:
			free = append(free, c)
		}
	}
	return free, func() error {
		if claim.ID == 0 {
			return nil
		}
		return p.Store.Release(context.WithoutCancel(ctx), []int64{claim.ID})
	}, nil
}

// put sets calls apart for a part.
func (p *planner) put(ctx context.Context, into *part, calls []drafted) error {
	kept := make([]store.BatchCall, len(calls))
	for i, c := range calls {
		kept[i] = c.BatchCall
		into.Calls++
		into.Bytes += c.bytes
		into.InputTokens += c.input
		into.MaxOutputTokens += c.output
	}
	if p.dry {
		return nil
	}
	if into.batch == nil {
		b := &Batch{
			Run: p.Job.Name, Provider: into.Provider, Endpoint: into.Endpoint, Model: into.Model,
			Service: into.Service, Stage: Planned, Key: into.key, Planned: p.now(),
		}
		_, _ = rand.Read(b.id[:]) // it never fails
		b.ID = b.id.String()
		into.batch = b
		p.made = append(p.made, b)
	}
	into.batch.Calls, into.batch.Bytes = into.Calls, into.Bytes
	return p.keep(ctx, into.batch, kept...)
}

// finish ends a part, and leaves room for the next of its model.
func (p *planner) finish(ctx context.Context, of *part) error {
	if len(of.calls) > 0 {
		if err := p.flush(ctx, of); err != nil {
			return err
		}
	}
	if of.Calls > 0 {
		if tariff, ok := p.Prices.Batch(of.Provider, of.Model); ok {
			of.MaxUSD = new(tariff.Cost(model.Usage{Input: of.InputTokens, Output: of.MaxOutputTokens}))
		}
		p.plan.Parts = append(p.plan.Parts, of.Part)
	}
	of.Part = Part{Provider: of.Provider, Endpoint: of.Endpoint, Model: of.Model, Service: of.Service}
	of.batch = nil
	return nil
}

// Plan says what a submission would send, and sends and keeps nothing.
func (d *Manager) Plan(ctx context.Context, asked Asked) (Plan, error) {
	p, err := d.lay(ctx, asked, true)
	if err != nil {
		return Plan{}, err
	}
	return p.plan, nil
}
