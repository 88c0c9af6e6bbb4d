package queue

import (
	"context"
	"slices"
	"time"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// wish is a call that somebody waits for.
type wish struct {
	call     store.BatchCall
	response model.Response
	ok       bool
	err      error
	done     chan struct{}
}

// Ask gives the response to one request, which workers make where it is not remembered, as
// fill.Live's Ask does. Requests that are asked for at about the same time become a shard.
func (f *Filler) Ask(ctx context.Context, r model.Request) (response model.Response, ok bool, err error) {
	canonical := r.Canonical()
	w := &wish{call: store.BatchCall{Hash: model.HashCanonical(canonical), Request: canonical}, done: make(chan struct{})}
	f.mu.Lock()
	f.wishes = append(f.wishes, w)
	if !f.granting {
		f.granting = true
		// Others wait for it too, so it does not end with ctx.
		go f.grantAll(context.WithoutCancel(ctx))
	}
	f.mu.Unlock()
	select {
	case <-w.done:
		return w.response, w.ok, w.err
	case <-ctx.Done():
		f.mu.Lock()
		f.wishes = slices.DeleteFunc(f.wishes, func(other *wish) bool { return other == w })
		f.mu.Unlock()
		return model.Response{}, false, context.Cause(ctx)
	}
}

// grantAll looks for what is wished for until nobody waits.
func (f *Filler) grantAll(ctx context.Context) {
	for {
		time.Sleep(look)
		f.mu.Lock()
		open := slices.Clone(f.wishes)
		if len(open) == 0 {
			f.granting = false
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
		granted := map[*wish]bool{}
		err := f.wait(ctx, func() error { _, err := f.look(ctx); return err })
		for group := range slices.Chunk(open, shardCalls) {
			if err == nil {
				err = f.wait(ctx, func() error { return f.grant(ctx, group, granted) })
			}
			for _, w := range group {
				if err != nil && !granted[w] {
					w.err, granted[w] = err, true
				}
			}
		}
		f.mu.Lock()
		f.wishes = slices.DeleteFunc(f.wishes, func(w *wish) bool { return granted[w] })
		f.mu.Unlock()
		for w := range granted {
			close(w.done)
		}
	}
}

// grant looks which of some calls are answered or have failed, and queues the others.
func (f *Filler) grant(ctx context.Context, group []*wish, granted map[*wish]bool) error {
	var hashes []model.Hash
	var names [][]byte
	for _, w := range group {
		hashes, names = append(hashes, w.call.Hash), append(names, w.call.Hash[:])
	}
	// What has failed is noted before what is answered is looked up: a call that is tried
	// again for another fill may be both.
	failed := map[model.Hash]bool{}
	var hash []byte
	err := f.queue.each(ctx, []any{&hash}, func() error { failed[model.Hash(hash)] = true; return nil },
		`SELECT hash FROM queued_calls WHERE hash = ANY ($1) AND fill = $2 AND failed`, names, f.id)
	if err != nil {
		return err
	}
	found, err := f.store.Get(ctx, hashes)
	if err != nil {
		return err
	}
	var missing []store.BatchCall
	for _, w := range group {
		if w.response, w.ok = found[w.call.Hash]; w.ok || failed[w.call.Hash] {
			granted[w] = true
			continue
		}
		missing = append(missing, w.call)
	}
	_, err = f.put(ctx, missing)
	return err
}
