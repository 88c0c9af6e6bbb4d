package telemetry

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/queue"
)

// Counts are the reported counts of a source of calls.
type Counts struct {
	fill.Stats
	fill.Load
	// Open is how many calls are still to be made, including those in progress;
	// 0 if that is not known.
	Open int
}

// instruments record the metrics.
type instruments struct {
	duration metric.Float64Histogram
	tokens   metric.Int64Histogram
	// active counts the calls in progress.
	active atomic.Int64

	mu      sync.Mutex
	watched []func() Counts
	worker  *queue.Worker
	queue   *queue.Queue
}

// newInstruments makes the instruments. The two metrics of the conventions use
// the bucket bounds that the conventions give.
func newInstruments(m metric.Meter) *instruments {
	i := &instruments{
		duration: must(m.Float64Histogram("gen_ai.client.operation.duration", metric.WithUnit("s"), metric.WithDescription("GenAI operation duration."),
			metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))),
		tokens: must(m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"), metric.WithDescription("Number of input and output tokens used."),
			metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))),
	}
	i.observe(m)
	return i
}

// must returns an instrument whose name and unit are known to be valid.
func must[T any](made T, err error) T {
	if err != nil {
		panic("telemetry: " + err.Error())
	}
	return made
}

// observe registers the metrics that are counted elsewhere. They are read at
// every export.
func (i *instruments) observe(m metric.Meter) {
	var all []metric.Observable
	count := func(name, unit, about string) metric.Int64ObservableCounter {
		c := must(m.Int64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(about)))
		all = append(all, c)
		return c
	}
	sum := func(name, unit, about string) metric.Float64ObservableCounter {
		c := must(m.Float64ObservableCounter(name, metric.WithUnit(unit), metric.WithDescription(about)))
		all = append(all, c)
		return c
	}
	level := func(name, unit, about string) metric.Float64ObservableGauge {
		g := must(m.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(about)))
		all = append(all, g)
		return g
	}
	answered := count("orbench.calls.answered", "{call}", "Calls that were answered and remembered.")
	failed := count("orbench.calls.failed", "{call}", "Calls that were given up.")
	blocked := count("orbench.calls.blocked", "{call}", "Answers that the provider withheld.")
	retried := count("orbench.calls.retried", "{call}", "Attempts after the first.")
	rejected := count("orbench.calls.rejected", "{call}", "Attempts that the provider turned away as too many.")
	tokens := count("orbench.tokens", "{token}", "Tokens of the answers.")
	cost := sum("orbench.cost.usd", "", "What the answers cost, in US dollars, where the price is known.")
	lostCost := sum("orbench.cost.failed.usd", "", "The most that failed attempts may have cost, in US dollars.")
	unpriced := level("orbench.models.unpriced", "{model}", "Models that were asked and have no price, so that no cost counts them.")
	paced := sum("orbench.limiter.wait", "s", "Time that calls have waited for the bounds of requests and tokens per minute, all together.")
	active := level("orbench.calls.active", "{call}", "Calls under way.")
	waiting := level("orbench.calls.waiting", "{call}", "Calls that are still to be made and are not under way; of a worker, those in the queue, by fill, whoever makes them.")
	left := [3]metric.Float64ObservableGauge{
		level("orbench.budget.left.requests", "", "Requests that may still be sent."),
		level("orbench.budget.left.tokens", "", "Tokens that may still be used."),
		level("orbench.budget.left.usd", "", "US dollars that may still be spent."),
	}
	shards := level("orbench.shards.active", "{shard}", "Shards of calls that the worker has.")
	lease := level("orbench.lease.age", "s", "For how long the worker has had the oldest of its shards.")
	up := level("orbench.store.up", "", "1 where the database answers, 0 where it does not.")

	budget := func(o metric.Observer, b, rest fill.Budget, of ...metric.ObserveOption) {
		for n, x := range [][2]float64{{float64(b.Requests), float64(rest.Requests)}, {float64(b.Tokens), float64(rest.Tokens)}, {b.USD, rest.USD}} {
			if x[0] > 0 {
				o.ObserveFloat64(left[n], max(0, x[1]), of...)
			}
		}
	}
	must(m.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		c := i.counts()
		o.ObserveInt64(answered, int64(c.Answered))
		o.ObserveInt64(failed, int64(c.Failed))
		o.ObserveInt64(blocked, int64(c.Blocked))
		o.ObserveInt64(retried, int64(c.Retries))
		o.ObserveInt64(rejected, int64(c.Rejected))
		o.ObserveInt64(tokens, int64(c.Usage.Input), metric.WithAttributes(attribute.String("gen_ai.token.type", "input")))
		o.ObserveInt64(tokens, int64(c.Usage.Output), metric.WithAttributes(attribute.String("gen_ai.token.type", "output")))
		o.ObserveFloat64(cost, c.USD)
		o.ObserveFloat64(lostCost, c.FailedUSD)
		o.ObserveFloat64(unpriced, float64(len(c.Unpriced)))
		o.ObserveFloat64(paced, c.Paced.Seconds())
		o.ObserveFloat64(active, float64(i.active.Load()))
		i.mu.Lock()
		worker, q := i.worker, i.queue
		i.mu.Unlock()
		if worker == nil {
			o.ObserveFloat64(waiting, max(0, float64(c.Open)-float64(i.active.Load())))
			budget(o, c.Budget, c.Left)
			return nil
		}
		n, oldest := worker.Kept()
		o.ObserveFloat64(shards, float64(n))
		o.ObserveFloat64(lease, oldest.Seconds())
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		open, err := q.OpenFills(ctx)
		if err != nil {
			o.ObserveFloat64(up, 0)
			return nil // up says so
		}
		o.ObserveFloat64(up, 1)
		for _, f := range open {
			of := metric.WithAttributes(attribute.String("orbench.fill", strconv.FormatInt(f.ID, 10)))
			o.ObserveFloat64(waiting, float64(f.Calls), of)
			budget(o, f.Budget, f.Left, of)
		}
		if len(open) == 0 {
			o.ObserveFloat64(waiting, 0)
		}
		return nil
	}, all...))
}

// lookTime is the longest time that a look into the queue may take.
const lookTime = 2 * time.Second

// Watch reports counts as metrics.
func (t *Telemetry) Watch(counts func() Counts) {
	if t == nil || t.instruments == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watched = append(t.watched, counts)
}

// WatchWorker reports as metrics what a worker does and what waits in its
// queue. Call it before the worker runs.
func (t *Telemetry) WatchWorker(w *queue.Worker, q *queue.Queue) {
	if t == nil || t.instruments == nil {
		return
	}
	t.mu.Lock()
	t.worker, t.queue = w, q
	t.mu.Unlock()
	t.Watch(func() Counts {
		var c Counts
		filled, paced := w.Filled()
		for _, s := range filled {
			c.add(Counts{Stats: s})
		}
		c.Paced = paced
		return c
	})
}

// counts sums everything that is watched. The budgets are those of the source
// watched last.
func (i *instruments) counts() (all Counts) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, counts := range i.watched {
		c := counts()
		all.add(c)
		all.Budget, all.Left = c.Budget, c.Left
	}
	return all
}

// add adds the counts that can be summed.
func (c *Counts) add(d Counts) {
	c.Stats.Add(d.Stats)
	c.Paced += d.Paced
	c.Open += d.Open
}
