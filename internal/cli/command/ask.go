package command

import (
	"context"
	"errors"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Lanes adds a lane for every client to live, and returns how many calls they make at once.
func (e *Env) Lanes(live *fill.Live, f Calls, clients *client.Set) (width int) {
	for at, c := range clients.All() {
		l := f.Limits(c)
		live.Lane(at, c.Model, l)
		width += l.Concurrency
	}
	return width
}

// Asker gives the way to ask judges for single replies, remembered ones first. The error of a
// call that failed is a *model.Error, whose Message says why; any other says that no more can
// be asked. done must be called after the last reply.
func (e *Env) Asker(ctx context.Context, f Calls, clients *client.Set, memory *store.Store, prices price.Table) (ask model.Model, done func() error) {
	live := fill.NewLive(memory, f.Config(prices, e.Abort))
	e.Lanes(live, f, clients)
	ask = model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		response, ok, err := live.Ask(ctx, r)
		if err != nil || ok {
			return response, err
		}
		failed, err := fill.Failures(ctx, memory, [][]model.Request{{r}})
		if err != nil {
			return response, err
		}
		why := failed[0].Message
		if why == "" {
			why = "the call got no reply"
			if given := errors.Join(live.GivenUp()...); given != nil {
				why = given.Error()
			}
		}
		return response, &model.Error{Kind: failed[0].Kind, Provider: r.Provider, Model: r.Model, Message: why}
	})
	return ask, func() error {
		e.NoteSent(live.Stats())
		return live.GiveBack(context.WithoutCancel(ctx))
	}
}
