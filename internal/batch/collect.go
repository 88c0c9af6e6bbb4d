package batch

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Taken is what a command took back.
type Taken struct {
	// Answered counts the new answers, Blocked those of them that the provider withheld,
	// Failed the calls that came back without one, and Unmade those of Failed that were
	// not made, which cost nothing.
	Answered int `json:"answered"`
	Blocked  int `json:"blocked"`
	Failed   int `json:"failed"`
	Unmade   int `json:"unmade"`
	// Known counts the results that were remembered before, and Unknown those of no call
	// of the run.
	Known   int `json:"known"`
	Unknown int `json:"unknown"`
	// Unread counts lines of files that are no results, and Faults are the first of them.
	Unread int      `json:"unread"`
	Faults []string `json:"faults,omitempty"`
	// InputTokens and OutputTokens are those of the new answers, and USD what they cost by
	// batch, nil where a price is unknown.
	InputTokens  int      `json:"input_tokens"`
	OutputTokens int      `json:"output_tokens"`
	USD          *float64 `json:"usd"`
	Unpriced     []string `json:"unpriced,omitempty"`
	// Waiting counts the calls that are still out, and Batches are those that were out, as
	// they are now.
	Waiting int      `json:"waiting"`
	Batches []*Batch `json:"batches"`
}

// collection takes back what is out.
type collection struct {
	*Manager
	Taken
	used price.Usage
	// results are those that are not remembered yet.
	results []Result
	// failed are the calls that failed, true for those that were not made, and strange what
	// came back of calls in no batch. unknown counts results of what is no call at all.
	failed  map[model.Hash]bool
	unknown int
	strange map[model.Hash]Result
}

// mostFaults is how many faults are told of, and mostStrange how many results of no batch
// are looked for in the run.
const (
	mostFaults  = 5
	mostStrange = 100_000
)

// collection begins to take back what batches are out with.
func (d *Manager) collection(batches []*Batch) *collection {
	return &collection{Manager: d, Taken: Taken{Batches: append([]*Batch{}, batches...)}, used: price.Usage{}, failed: map[model.Hash]bool{}, strange: map[model.Hash]Result{}}
}

// fault notes a line that cannot be read.
func (c *collection) fault(text string) {
	c.Unread++
	if len(c.Faults) < mostFaults {
		c.Faults = append(c.Faults, text)
	}
}

// add takes a result of a call in some batches, and remembers it with others; see take.
func (c *collection) add(ctx context.Context, r Result, batches ...*Batch) error {
	if c.results = append(c.results, r); len(c.results) < together {
		return nil
	}
	return c.take(ctx, batches...)
}

// take remembers the results that were added.
func (c *collection) take(ctx context.Context, batches ...*Batch) error {
	results := c.results
	c.results = c.results[:0]
	by := map[model.Hash]Result{}
	var hashes []model.Hash
	for _, r := range results {
		h, ok := hashOf(r.ID)
		if !ok {
			c.unknown++
			continue
		}
		if _, twice := by[h]; !twice {
			hashes = append(hashes, h)
		}
		// Of a call that was tried twice, the answer counts.
		if was, twice := by[h]; !twice || was.Status/100 != 2 {
			by[h] = r
		}
	}
	present, err := c.Store.Has(ctx, hashes)
	if err != nil {
		return err
	}
	for h := range present {
		c.Known++
		delete(by, h)
	}
	var found []store.BatchCall
	came := maps.Clone(by)
	for _, b := range batches {
		if len(by) == 0 {
			break
		}
		calls, err := c.Store.BatchCalls(ctx, b.id, slices.Collect(maps.Keys(by)))
		if err != nil {
			return err
		}
		for _, call := range calls {
			found = append(found, call)
			delete(by, call.Hash)
		}
	}
	for h, r := range by {
		if len(c.strange) < mostStrange {
			c.strange[h] = r
		}
	}
	return c.remember(ctx, found, came)
}

// hashOf reads the hash of a call from its ID.
func hashOf(id string) (h model.Hash, ok bool) {
	b, err := hex.DecodeString(id)
	if err != nil || len(b) != len(h) {
		return h, false
	}
	return model.Hash(b), true
}

// remember keeps answers to calls, durably, and notes failures.
func (c *collection) remember(ctx context.Context, calls []store.BatchCall, results map[model.Hash]Result) error {
	var records []store.Record
	var failures []store.Failure
	for _, one := range calls {
		result := results[one.Hash]
		r, err := requestOf(one)
		if err != nil {
			return err
		}
		var response model.Response
		if result.Unmade != "" {
			err = errors.New("the batch did not make the call: " + result.Unmade)
		} else {
			response, err = c.format(model.Ref{Provider: r.Provider, Endpoint: r.Endpoint}).Read(r, result.Status, result.Body)
		}
		if err != nil {
			c.limit(r.Provider, err)
			failures = append(failures, failureOf(one.Hash, r, err))
			c.failed[one.Hash] = result.Unmade != ""
			continue
		}
		response.Batch = true
		response.Made = c.Now().UTC().Truncate(time.Millisecond)
		response.Usage = price.UsageOf(r.Messages, response)
		records = append(records, store.Record{Hash: one.Hash, Request: one.Request, Response: response})
		delete(c.failed, one.Hash)
		c.Answered++
		if response.Finish == model.Blocked {
			c.Blocked++
		}
		c.InputTokens += response.Usage.Input
		c.OutputTokens += response.Usage.Output
		c.used.Add(r.Provider, r.Model, response)
	}
	// What was paid for is kept even while the command is being stopped.
	ctx = context.WithoutCancel(ctx)
	if len(records) > 0 {
		if err := c.Store.Put(ctx, records); err != nil {
			return err
		}
	}
	if len(failures) > 0 {
		return c.Store.PutFailures(ctx, failures)
	}
	return nil
}

// failureOf is a failure as the store keeps it.
func failureOf(h model.Hash, r model.Request, err error) store.Failure {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok {
		failed = &model.Error{Kind: model.Transient, Provider: r.Provider, Model: r.Model, Message: model.Clip(err.Error())}
	}
	return store.Failure{Hash: h, Kind: failed.Kind, Message: failed.Error()}
}

// sum sums up what was taken back so far.
func (c *collection) sum() *Taken {
	c.Unknown = c.unknown + len(c.strange)
	c.Failed, c.Unmade, c.Waiting, c.USD = len(c.failed), 0, 0, nil
	for _, unmade := range c.failed {
		if unmade {
			c.Unmade++
		}
	}
	usd, unpriced := c.Prices.Total(c.used)
	if c.Unpriced = unpriced; len(unpriced) == 0 {
		c.USD = &usd
	}
	for _, b := range c.Taken.Batches {
		c.Waiting += b.Waiting()
	}
	return &c.Taken
}
