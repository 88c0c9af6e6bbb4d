package client

import (
	"context"
	"errors"
	"sync"

	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/model"
)

// describing is a model on a server of the user's own. It notes with each response what the
// server says of itself. The server is asked once, and again after a call that got no reply: it
// may have been started anew.
type describing struct {
	model.Model
	at provider.Endpoint

	mu sync.Mutex
	// said is what the server says now, and first what it said when it first answered.
	said  map[string]func() described
	first map[string]Description
}

// Ask asks the model, and meanwhile, the first time, the server. A reply of other weights than
// the first are is an error: nobody counts it.
func (d *describing) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	said := d.describe(r.Model)
	go said()
	response, err := d.Model.Ask(ctx, r)
	if err != nil {
		if failed := (*model.Error)(nil); errors.As(err, &failed) && failed.Status == 0 {
			d.forget(r.Model)
		}
		return response, err
	}
	if response.Simulated() {
		return response, nil
	}
	of := said().Description
	if change := d.since(r.Model, of); change != "" {
		return response, &model.Error{
			Kind: model.Invalid, Provider: r.Provider, Model: r.Model,
			Message: "the server has other weights than when the run began: " + change,
		}
	}
	response.Server = string(of.With(response.Fingerprint))
	return response, nil
}

// forget has the server asked again what it says of a model.
func (d *describing) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.said, name)
}

// since says in what a server describes itself otherwise than at first; empty for nothing.
func (d *describing) since(name string, now Description) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first[name] == "" {
		d.first[name] = now
	}
	return d.first[name].Difference(now)
}

// describe gives what the server says of a model; see Describe.
func (d *describing) describe(name string) func() described {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.said[name] == nil {
		d.said[name] = sync.OnceValue(func() described { return describe(context.Background(), d.at, name) })
	}
	return d.said[name]
}

// RunsWeights reports whether the server of a model runs weights, which may be exchanged behind
// its address, and does not sell or pass on what others run: by the provider's table or by what
// the server says of itself. known is false where it must be asked and does not answer.
func (s *Set) RunsWeights(of model.Ref) (runs, known bool) {
	e := s.Client(of.Provider, of.Endpoint).Endpoint
	switch {
	case e.Provider.Weights:
		return true, true
	case !e.Own():
		return false, true
	}
	said, reached := s.Described(of)
	return said.runsWeights(), reached
}

// Silent reports whether the server of a model is one of the user's own that does not answer.
func (s *Set) Silent(of model.Ref) bool {
	d, ok := s.Client(of.Provider, of.Endpoint).Model.(*describing)
	if !ok {
		return false
	}
	return !d.describe(of.Model)().reached
}

// Described gives what the server of a model says of it, where that is one of the user's own
// that may be asked. reached is false where it does not answer, and for any other.
func (s *Set) Described(of model.Ref) (said Description, reached bool) {
	d := s.described(of)
	return d.Description, d.reached
}

// Listed gives the models that the server of a model has, where it says so and the model is none
// of them.
func (s *Set) Listed(of model.Ref) []string { return s.described(of).listed }

func (s *Set) described(of model.Ref) described {
	d, ok := s.Client(of.Provider, of.Endpoint).Model.(*describing)
	if !ok {
		return described{}
	}
	return d.describe(of.Model)()
}
