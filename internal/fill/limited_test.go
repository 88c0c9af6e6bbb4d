package fill

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench/model"
)

// When a provider limits the account, the calls under way are the last to it, on all of its
// lanes and by all of its models, and other providers are asked on. Before, each of its models
// was asked until 20 calls in a row had failed.
func TestLimitedAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		const width, before = 4, 30
		var calls, refused, others atomic.Int64
		limiting := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
			n := calls.Add(1)
			time.Sleep(time.Second)
			if n > before {
				refused.Add(1)
				return model.Response{}, &model.Error{Kind: model.Limited, Provider: r.Provider, Status: 400, Message: "flagged"}
			}
			return answer(r)
		})
		other := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			others.Add(1)
			return answer(r)
		})
		config := LiveConfig{}
		for range 2 {
			f := NewLive(m, config)
			f.Lane(model.Ref{Provider: "test"}, limiting, Limits{Concurrency: width})
			f.Lane(model.Ref{Provider: "test", Endpoint: "http://other"}, limiting, Limits{Concurrency: width})
			f.Lane(model.Ref{Provider: "another"}, other, Limits{Concurrency: width})
			err := f.Fill(t.Context(), Work{Fixed: func(context.Context) iter.Seq2[model.Request, error] {
				return func(yield func(model.Request, error) bool) {
					for n := range 100 {
						a, b, c, d := request("a", n), request("b", n), request("c", n), request("d", n)
						c.Endpoint, d.Provider = "http://other", "another"
						if !yield(a, nil) || !yield(b, nil) || !yield(c, nil) || !yield(d, nil) {
							return
						}
					}
				}
			}})
			var gaveUp *GivenUpError
			if !errors.As(err, &gaveUp) || f.Stats().Limited["test"] != "flagged" || len(f.Stats().Limited) != 1 {
				t.Errorf("%v; %v", err, f.Stats().Limited)
			}
			// Another command's fill of the same study is told.
			config.Limited = f.Stats().Limited
		}
		if n := refused.Load(); n < 1 || n > 2*width {
			t.Errorf("%d calls after the limit, want at most the %d under way", n, 2*width)
		}
		if n := others.Load(); n != 100 {
			t.Errorf("%d calls of another provider, want 100", n)
		}
	})
}
