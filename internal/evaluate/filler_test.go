package evaluate_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// batch fills a run like a provider's batch service: it writes all missing
// requests to a list, has the list answered at once, and looks again.
type batch struct {
	store *store.Store
	ask   model.Func
	// lists counts the lists that were answered.
	lists int
}

var _ fill.Filler = (*batch)(nil)

func (b *batch) Fill(ctx context.Context, w fill.Work) error {
	for {
		list := map[model.Hash]model.Request{}
		all := []iter.Seq2[model.Request, error]{}
		if w.Fixed != nil {
			all = append(all, w.Fixed(ctx))
		}
		if w.Missing != nil {
			all = append(all, w.Missing(ctx, func(model.Ref) bool { return true }))
		}
		for _, requests := range all {
			for r, err := range requests {
				if err != nil {
					return err
				}
				list[r.Hash()] = r
			}
		}
		for h, r := range list {
			present, err := b.store.Has(ctx, []model.Hash{h})
			if err != nil {
				return err
			}
			if present[h] {
				delete(list, h)
				continue
			}
			response, err := b.ask(ctx, r)
			if err != nil {
				return err
			}
			if err := b.store.Remember(store.Record{Hash: h, Request: r.Canonical(), Response: response}); err != nil {
				return err
			}
		}
		if len(list) == 0 {
			return nil
		}
		b.lists++
	}
}

// TestFillers fills a run with a defense, a judge that asks a model, and a
// panel, in two ways. Both must give the same figures.
func TestFillers(t *testing.T) {
	t.Parallel()
	guarded, err := defense.Parse("smoothllm:swap,n=3,q=10+response-check:g/guard", defense.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain := target("a", "plain")
	defended := target("a", "defended")
	defended.Defense, defended.Guarded = guarded, guarded.Name()
	r := &evaluate.Run{
		Targets: []evaluate.Target{plain, defended}, Datasets: []*dataset.Dataset{newDataset(t, "few", lines("few", 0, 40))},
		Judges: newJudges(t, "lexical", "llm:j/judge", "panel:majority(lexical,llm:j/other,llm:k/third)"),
	}
	// Every reply is determined by a hash of the request. All have a count of tokens, since it is
	// the live filler that estimates one.
	reply := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		h := r.Hash()
		class := orbench.DirectAnswer
		if h[0]%2 == 0 {
			class = orbench.DirectRefusal
		}
		switch {
		case r.Provider == "j" || r.Provider == "k":
			if h[1]%8 == 0 && r.Sample == 0 {
				return model.Response{Text: "I would not know.", Finish: model.Stop}, nil
			}
			return verdict(r, class), nil
		case class == orbench.DirectRefusal:
			return model.Response{Text: "I'm sorry, but I can't help with that. " + h.String(), Finish: model.Stop}, nil
		}
		return model.Response{Text: "Here is how: " + h.String(), Finish: model.Stop}, nil
	})
	ask := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		response, err := reply(ctx, r)
		response.Usage = model.Usage{Input: 1, Output: 1}
		return response, err
	})
	live, batched := newStore(t), newStore(t)
	asked := map[string]*provider{}
	for _, ref := range r.Job().Refs() {
		asked[ref.Provider] = &provider{ask: ask}
	}
	providers(asked).mustFill(t, r, live)
	sent := 0
	for _, p := range asked {
		sent += len(p.requests())
	}
	b := &batch{store: batched, ask: ask}
	if err := b.Fill(t.Context(), r.Job().Work(batched)); err != nil {
		t.Fatal(err)
	}
	result, rows := deriveRun(t, r, live)
	other, otherRows := deriveRun(t, r, batched)
	for i := range rows {
		rows[i].Response.Latency, rows[i].Response.Made = 0, time.Time{}
		otherRows[i].Response.Made = time.Time{}
	}
	if jsonOf(t, result) != jsonOf(t, other) || jsonOf(t, rows) != jsonOf(t, otherRows) {
		t.Error("two ways of filling give different results")
	}
	if len(rows) != 2*40 {
		t.Errorf("%d rows", len(rows))
	}
	for _, run := range result.Runs {
		if run.Unanswered+run.Failed > 0 {
			t.Errorf("%s: %d of %d prompts have no answer: %+v", run.Target, run.Unanswered+run.Failed, run.N, run)
		}
	}
	count, err := batched.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b.lists < 4 || count != sent {
		t.Errorf("%d lists with %d replies, where live lanes got %d", b.lists, count, sent)
	}
}
