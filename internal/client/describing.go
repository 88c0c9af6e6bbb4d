package client

import (
	"context"
	"sync"

	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/model"
)

// describing is a model on a server of the user's own. It notes with each response what the
// server said of itself when it was first asked.
type describing struct {
	model.Model
	at provider.Endpoint

	mu   sync.Mutex
	said map[string]func() described
}

// Ask asks the model, and meanwhile, the first time, the server.
func (d *describing) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	said := d.describe(r.Model)
	go said()
	response, err := d.Model.Ask(ctx, r)
	if err == nil && !response.Simulated() {
		response.Server = string(said().With(response.Fingerprint))
	}
	return response, err
}

// describe gives what the server says of a model, which it is asked once; see Describe.
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
