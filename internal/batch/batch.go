package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Stage is how far a batch is.
type Stage string

// The stages.
const (
	// Planned: its calls are set apart, and nothing has left.
	Planned Stage = "planned"
	// Out: it is written, or with the provider.
	Out Stage = "out"
	// Collected: what came back is remembered.
	Collected Stage = "collected"
	// Canceled: it was called off, and what had come back by then is remembered.
	Canceled Stage = "canceled"
)

// Files is the service of batches that are files, which the user has worked through.
const Files = "files"

// Batch is calls of a run to one model that are, or were, out together.
type Batch struct {
	// ID names the batch in its store.
	ID string `json:"batch"`
	// Run is the name of the run, or of other work, whose calls they are.
	Run string `json:"run"`
	// Provider, Endpoint and Model are as in model.Request.
	Provider string `json:"provider"`
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
	// Service is how it is worked through: files, or the provider's own.
	Service string `json:"service"`
	Stage   Stage  `json:"stage"`
	Calls   int    `json:"calls"`
	// Bytes is the length of what is sent.
	Bytes int64 `json:"bytes"`
	// File is where it was written, for the service files.
	File string `json:"file,omitempty"`
	// Key is the fingerprint of the key with which it is submitted.
	Key string `json:"key,omitempty"`
	// Input and Remote are the provider's names of what was uploaded and of the batch, and
	// Word its own for how far it is. Canceling is true once it was asked to cancel it.
	Input     string `json:"input,omitempty"`
	Remote    string `json:"remote,omitempty"`
	Word      string `json:"word,omitempty"`
	Canceling bool   `json:"canceling,omitempty"`
	// NotOurs are batches that were taken for this one and are not.
	NotOurs []string `json:"not_ours,omitempty"`
	// Problem is what keeps it from going on.
	Problem string `json:"problem,omitempty"`
	// Tried is when the provider was asked to start it, Expires when its window ends.
	Tried   time.Time `json:"tried,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	// Planned, Sent and Ended are when it came to that; absent where it has not.
	Planned time.Time `json:"planned"`
	Sent    time.Time `json:"sent,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	// Answered and Failed count the calls that came back so far, those that failed and
	// those that were not made apart from answers.
	Answered int `json:"answered"`
	Failed   int `json:"failed"`
	// Lost counts the answers that were paid for and cannot be had, since the provider has
	// the batch's output no more. Calling the batch off without a word to the provider frees
	// their calls.
	Lost int `json:"lost,omitempty"`

	id store.BatchID
	// gone is true where the provider, asked last, did not have it or give it to this key.
	gone bool
}

// Ref is whom the batch asks.
func (b *Batch) Ref() model.Ref {
	return model.Ref{Provider: b.Provider, Endpoint: b.Endpoint, Model: b.Model}
}

// Open reports whether more may come of the batch.
func (b *Batch) Open() bool { return b.Stage == Planned || b.Stage == Out }

// Waiting is how many of its calls have not come back, without those that are Lost.
func (b *Batch) Waiting() int {
	if !b.Open() {
		return 0
	}
	return max(0, b.Calls-b.Answered-b.Failed-b.Lost)
}

// Manager is where the batches of a job are handed out and taken back.
type Manager struct {
	Store *store.Store
	// Job is whose calls go by batch. Its batches are found again by its name.
	Job *job.Job
	// Study keeps who asked for them.
	Study *study.Study
	// Clients has the formats of the job's models.
	Clients *client.Set
	Prices  price.Table
	// HTTPClient asks services; nil stands for one of its own.
	HTTPClient *http.Client
	// Now is the clock.
	Now func() time.Time
	// Limited has the words of each provider that limited the account, by its name. It is
	// sent nothing more.
	Limited map[string]string
}

// limit notes it where an error says that a provider limited the account.
func (d *Manager) limit(provider string, err error) {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok || failed.Kind != model.Limited {
		return
	}
	if d.Limited == nil {
		d.Limited = map[string]string{}
	}
	d.Limited[provider] = cmp.Or(d.Limited[provider], failed.Message, failed.Error())
}

// Batches lists the batches of the job, in the order in which they were planned.
func (d *Manager) Batches(ctx context.Context) ([]*Batch, error) {
	return batchesOf(ctx, d.Store, d.Job)
}

// batchesOf lists the batches of a job, in the order in which they were planned.
func batchesOf(ctx context.Context, m store.Reader, j *job.Job) (all []*Batch, err error) {
	kept, err := m.Batches(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		b := &Batch{id: k.ID}
		if err := json.Unmarshal(k.About, b); err != nil {
			return nil, fmt.Errorf("what the store keeps of batch %s is damaged: %w", k.ID, err)
		}
		if b.Run == j.Name || j.FormerName != "" && b.Run == j.FormerName {
			all = append(all, b)
		}
	}
	return all, nil
}

// Outstanding counts the calls of the job's batches that have not come back.
func (d *Manager) Outstanding(ctx context.Context) (n int, err error) {
	batches, err := d.Batches(ctx)
	for _, b := range batches {
		n += b.Waiting()
	}
	return n, err
}

// keep keeps what is known of a batch, and further calls of it.
func (d *Manager) keep(ctx context.Context, b *Batch, calls ...store.BatchCall) error {
	about, err := json.Marshal(b)
	if err != nil {
		return err
	}
	// What was sent, or has come back, is kept even while the command is being stopped.
	return d.Store.PutBatch(context.WithoutCancel(ctx), store.Batch{ID: b.id, About: about, Open: b.Open()}, calls)
}

// now is the time that is noted, in seconds.
func (d *Manager) now() time.Time { return d.Now().UTC().Truncate(time.Second) }

// format is how requests to a batch's endpoint are written and replies read.
func (d *Manager) format(of model.Ref) client.Format {
	return d.Clients.Client(of.Provider, of.Endpoint).Format
}

// known is a call of a batch, and whether its answer is there.
type known struct {
	store.BatchCall
	answered bool
}

// callsOf streams the calls of a batch.
func callsOf(ctx context.Context, m store.Reader, of *Batch) iter.Seq2[known, error] {
	return func(yield func(known, error) bool) {
		for group, err := range job.Pieces(m.AllBatchCalls(ctx, of.id), together) {
			hashes := table.RowsOf(group, func(c store.BatchCall) model.Hash { return c.Hash })
			var present map[model.Hash]bool
			if err == nil {
				present, err = m.Has(ctx, hashes)
			}
			if err != nil {
				yield(known{}, err)
				return
			}
			for _, c := range group {
				if !yield(known{c, present[c.Hash]}, nil) {
					return
				}
			}
		}
	}
}

// requestOf reads the request of a call.
func requestOf(c store.BatchCall) (r model.Request, err error) {
	if err := json.Unmarshal(c.Request, &r); err != nil {
		return r, fmt.Errorf("the request of call %s is damaged: %w", c.Hash, err)
	}
	return r, nil
}
