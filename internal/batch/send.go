package batch

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

// services makes the service of a provider's entry.
var services = map[string]func(wire.ClientConfig) Service{
	"openai": NewOpenAI, "together": NewTogether, "mistral": NewMistral,
	"anthropic": NewAnthropic, "google": NewGoogle,
}

// service is that of a model's provider, nil where there is none.
func (d *Manager) service(of model.Ref) Service {
	e := d.Clients.Client(of.Provider, of.Endpoint).Endpoint
	made := services[e.Provider.Batch]
	if made == nil {
		return nil
	}
	return made(wire.ClientConfig{Provider: e.Provider.Name, BaseURL: e.BaseURL, Key: e.Key, HTTPClient: d.HTTPClient})
}

// ToServices is Asked for the calls that providers take by batch.
func (d *Manager) ToServices(of model.Ref) (name string, limits Limits, reason string) {
	s, c := d.service(of), d.Clients.Client(of.Provider, of.Endpoint)
	if s == nil || c.Format == nil {
		return "", Limits{}, noService(of)
	}
	return c.Endpoint.Provider.Batch, s.Limits(), ""
}

// unserved is the error of a batch whose provider has no service any more.
func unserved(b *Batch) error {
	return &model.Error{Kind: model.NotFound, Provider: b.Provider, Model: b.Model, Message: noService(b.Ref())}
}

// Fingerprint tells keys apart without telling them.
func Fingerprint(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("orbench key\n" + key))
	return hex.EncodeToString(sum[:6])
}

// checkKey refuses to take up a batch with another key than it was submitted with: another
// account does not know it, and would seem to have lost it.
func (d *Manager) checkKey(b *Batch) error {
	e := d.Clients.Client(b.Provider, b.Endpoint).Endpoint
	if own := Fingerprint(e.Key); b.Key != own {
		return &orbench.InputError{
			Problem: fmt.Sprintf("batch %s was submitted to %s with the key of fingerprint %s, but %s holds the key of %s", b.ID, b.Provider, cmp.Or(b.Key, "no key"), e.KeyEnv, cmp.Or(own, "no key")),
			Hint:    "set the key with which it was submitted. Its calls wait until then; orbench batch cancel with `forget` gives them up",
		}
	}
	return nil
}

// Send sets the lacking calls apart and starts a batch for each part, and for what an
// earlier command planned and did not get to start. A batch that its provider does not
// take now stays planned, with the reason as its Problem, and the others go on. The error
// is about the store, or that the command is being stopped.
func (d *Manager) Send(ctx context.Context, asked Asked) (Plan, []*Batch, error) {
	earlier, err := d.Batches(ctx)
	if err != nil {
		return Plan{}, nil, err
	}
	var batches []*Batch
	for _, b := range earlier {
		if b.Stage == Planned && b.Service != Files {
			if err := d.checkKey(b); err != nil {
				return Plan{}, nil, err
			}
			batches = append(batches, b)
		}
	}
	laid, err := d.lay(ctx, asked, false)
	if err != nil {
		return Plan{}, nil, err
	}
	batches = append(batches, laid.made...)
	for _, b := range batches {
		if d.Limited[b.Provider] != "" {
			continue
		}
		err := d.start(ctx, b)
		d.limit(b.Provider, err)
		if ctx.Err() != nil {
			return laid.plan, batches, context.Cause(ctx)
		}
		if err := d.problem(ctx, b, err); err != nil {
			return laid.plan, batches, err
		}
	}
	return laid.plan, batches, nil
}

// start starts a planned batch, from wherever an earlier command left it.
func (d *Manager) start(ctx context.Context, b *Batch) error {
	s := d.service(b.Ref())
	if s == nil {
		return unserved(b)
	}
	if !b.Tried.IsZero() {
		// It may have been started: a reply may be lost, or the command that waited for it.
		j, err := d.job(ctx, b)
		if err != nil {
			return err
		}
		found, ok, err := s.Find(ctx, j)
		if err != nil {
			return err
		}
		if ok {
			return d.started(ctx, b, found)
		}
	}
	lines, size, done, err := d.lineFile(ctx, b, s)
	if err != nil {
		return err
	}
	defer done()
	j, err := d.job(ctx, b)
	if err != nil {
		return err
	}
	if b.Input == "" {
		if b.Input, err = s.Upload(ctx, j, lines, size); err != nil {
			return err
		}
		if err := d.keep(ctx, b); err != nil {
			return err
		}
	}
	b.Tried = d.now()
	if err := d.keep(ctx, b); err != nil {
		return err
	}
	if _, err := lines.Seek(0, io.SeekStart); err != nil {
		return err
	}
	j.File, j.Tried = b.Input, b.Tried
	made, err := s.Create(ctx, j, bufio.NewReader(lines), size)
	if failed, ok := errors.AsType[*model.Error](err); ok && turnedAway(failed) {
		b.Tried = time.Time{}
		if failed.Kind != model.Quota && failed.Kind != model.RateLimited {
			b.Input = "" // perhaps it is the file that is wrong, or gone
		}
	}
	if err != nil {
		return err
	}
	return d.started(ctx, b, made)
}

// turnedAway reports whether an error of a creation says that nothing was started.
func turnedAway(e *model.Error) bool {
	if e.Unsent {
		return true
	}
	switch e.Kind {
	case model.Invalid, model.Denied, model.NotFound, model.Quota, model.Limited, model.RateLimited:
		return e.Status != 0
	}
	return false
}

// started keeps that a batch is out.
func (d *Manager) started(ctx context.Context, b *Batch, r Remote) error {
	b.Stage, b.Remote, b.Problem = Out, r.ID, ""
	b.Sent = cmp.Or(r.Created, d.now())
	b.progress(r)
	return d.keep(ctx, b)
}

// progress notes what a provider tells of a batch that is out.
func (b *Batch) progress(r Remote) {
	b.Word, b.Answered, b.Failed = r.Word, r.Answered, r.Failed
	b.Expires = cmp.Or(r.Expires, b.Expires)
}

// job is a batch as its service knows it.
func (d *Manager) job(ctx context.Context, b *Batch) (Job, error) {
	known := map[string]bool{}
	kept, err := d.Store.Batches(ctx)
	if err != nil {
		return Job{}, err
	}
	for _, k := range kept {
		// Those of all runs of the store.
		var other Batch
		if err := json.Unmarshal(k.About, &other); err == nil && other.Remote != "" {
			known[other.Remote] = true
		}
	}
	return Job{
		ID: hex.EncodeToString(b.id[:]), Model: b.Model, Calls: b.Calls, File: b.Input, Tried: b.Tried,
		Known: func(id string) bool { return known[id] || slices.Contains(b.NotOurs, id) },
		Has: func(id string) bool {
			h, ok := hashOf(id)
			if !ok {
				return false
			}
			found, err := d.Store.BatchCalls(ctx, b.id, []model.Hash{h})
			return err == nil && len(found) > 0
		},
	}, nil
}

// lineFile writes the lines of a batch to a file of its own, which done removes.
func (d *Manager) lineFile(ctx context.Context, b *Batch, s Service) (lines *os.File, size int64, done func(), err error) {
	lines, err = os.CreateTemp("", "orbench-batch-")
	if err != nil {
		return nil, 0, nil, err
	}
	done = func() {
		_ = lines.Close()
		_ = os.Remove(lines.Name())
	}
	w := bufio.NewWriterSize(lines, 1<<16)
	err = d.writeLines(ctx, b, w, s.Line)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		size, err = lines.Seek(0, io.SeekEnd)
	}
	if err == nil {
		_, err = lines.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
		return nil, 0, nil, err
	}
	return lines, size, done, nil
}
