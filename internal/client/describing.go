package client

import (
	"context"
	"errors"
	"sync"

	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/model"
)

// describing is a model on a server of the user's own. It notes with each response what the
// server says of itself. The server is asked once for each measurement, which a revision tells, and
// again after a call that got no reply: it may have been started anew.
type describing struct {
	model.Model
	at provider.Endpoint

	mu sync.Mutex
	// said is what the server says now of a model, and first what it said when it first answered
	// the calls of a revision.
	said  map[string]func() Said
	first map[measured]Description
}

// measured is a model in one measurement.
type measured struct{ model, revision string }

// Ask asks the model, and meanwhile, the first time, the server. A reply of other weights than
// the first are is an error: nobody counts it.
func (d *describing) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	as := measured{r.Model, r.Revision}
	d.mu.Lock()
	if _, begun := d.first[as]; !begun {
		if len(d.first) > 0 {
			delete(d.said, r.Model)
		}
		d.first[as] = ""
	}
	d.mu.Unlock()
	said := d.describe(r.Model)
	go said()
	response, err := d.Model.Ask(ctx, r)
	if err != nil {
		if failed, ok := errors.AsType[*model.Error](err); ok && failed.Status == 0 {
			d.mu.Lock()
			delete(d.said, r.Model)
			d.mu.Unlock()
		}
		return response, err
	}
	if response.Simulated() {
		return response, nil
	}
	of := said().Description
	now := of
	if d.at.Provider.Weights || of.runsWeights() { // a gateway passes on to whom it likes
		now = of.Named(response)
	}
	if change := d.since(as, now); change != "" {
		return response, &model.Error{
			Kind: model.OtherWeights, Provider: r.Provider, Model: r.Model,
			Message: "the server has other weights than when the run began: " + change,
		}
	}
	response.Server = string(of.With(Fingerprint, response.Fingerprint))
	return response, nil
}

// since says in what a server describes itself otherwise than at first; empty for nothing.
func (d *describing) since(as measured, now Description) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first[as] == "" {
		d.first[as] = now
	}
	return d.first[as].Difference(now)
}

// describe gives what the server says of a model; see Describe.
func (d *describing) describe(name string) func() Said {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.said[name] == nil {
		d.said[name] = sync.OnceValue(func() Said { return Describe(context.Background(), d.at, name) })
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
	said := s.Described(of)
	return said.runsWeights(), said.Reached
}

// Silent reports whether the server of a model is one of the user's own that does not answer.
func (s *Set) Silent(of model.Ref) bool {
	d, ok := s.Client(of.Provider, of.Endpoint).Model.(*describing)
	return ok && !d.describe(of.Model)().Reached
}

// Described gives what the server of a model says of it, where that is one of the user's own
// that may be asked, and nothing for any other.
func (s *Set) Described(of model.Ref) Said {
	d, ok := s.Client(of.Provider, of.Endpoint).Model.(*describing)
	if !ok {
		return Said{}
	}
	return d.describe(of.Model)()
}
