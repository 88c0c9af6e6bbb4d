package job_test

import (
	"context"
	"iter"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// remembered is a store that holds what some requests were answered.
type remembered struct {
	store.Reader
	responses map[model.Hash]model.Response
}

func (m remembered) Get(_ context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	found := map[model.Hash]model.Response{}
	for _, h := range hashes {
		if r, ok := m.responses[h]; ok {
			found[h] = r
		}
	}
	return found, nil
}

// ask is a request of 100 tokens to a model.
func ask(name, text string) model.Request {
	return model.Request{Provider: "p", Model: name, Messages: []orbench.Message{{Role: orbench.User, Content: text}}, Params: model.Params{MaxTokens: 100}}
}

// chained is a job whose model b is asked what a replied, for each of some texts.
func chained(texts ...string) *job.Job {
	a, b := job.Asked{Ref: model.Ref{Provider: "p", Model: "a"}, Role: job.Target}, job.Asked{Ref: model.Ref{Provider: "p", Model: "b"}, Role: job.Judge}
	j := &job.Job{Models: []job.Asked{a, b}}
	j.Items = func(ctx context.Context, m store.Reader, s job.Scope) iter.Seq2[job.Item, error] {
		return func(yield func(job.Item, error) bool) {
			for _, text := range texts {
				do := func(look model.Lookup) []model.Request {
					first, ok := look(ask("a", text))
					if !ok {
						return []model.Request{ask("a", text)}
					}
					if _, ok := look(ask("b", first.Text)); !ok {
						return []model.Request{ask("b", first.Text)}
					}
					return nil
				}
				calls, err := job.Recall(ctx, m, s, []job.Step{{About: job.Call{Dataset: text}, Do: do}})
				var item job.Item
				if err == nil {
					item.Calls = calls[0]
				}
				for i, c := range item.Calls {
					item.Calls[i].Role = map[string]job.Role{"a": job.Target, "b": job.Judge}[c.Request.Model]
				}
				if s.Ahead && len(item.Calls) > 0 && item.Calls[0].Role == job.Target {
					item.Expected = []job.Expected{{Request: ask("b", "whatever"), Role: job.Judge, N: 2}}
				}
				if !yield(item, err) {
					return
				}
			}
		}
	}
	return j
}

// From one walk follow the work, the plan, the calls and what was used.
func TestWalk(t *testing.T) {
	t.Parallel()
	// Of the first text all is there, of the second a's reply, of the others nothing; the last
	// repeats one.
	j := chained("one", "two", "three", "three")
	m := remembered{responses: map[model.Hash]model.Response{
		ask("a", "one").Hash(): {Text: "1", Usage: model.Usage{Input: 5, Output: 7}},
		ask("b", "1").Hash():   {Text: "ok", Usage: model.Usage{Input: 1, Output: 1}},
		ask("a", "two").Hash(): {Text: "2", Usage: model.Usage{Input: 5, Output: 8}},
	}}
	var lacking []string
	for r, err := range j.Work(m).Missing(t.Context(), func(model.Ref) bool { return true }) {
		if err != nil {
			t.Fatal(err)
		}
		lacking = append(lacking, r.Model+" "+r.Messages[0].Content)
	}
	if len(lacking) != 3 || lacking[0] != "b 2" || lacking[1] != "a three" {
		t.Errorf("lacking are %q", lacking)
	}
	plans, err := j.Plan(t.Context(), m, job.AtMost, nil)
	if err != nil || len(plans) != 2 || plans[0].Calls != 1 || plans[1].Calls != 1+2 || plans[0].MaxOutputTokens != 100 || plans[0].Judge || !plans[1].Judge {
		t.Errorf("what is asked twice, and what follows, counts once: %+v, %v", plans, err)
	}
	there, calls := 0, 0
	for call, err := range j.All(t.Context(), m) {
		if err != nil {
			t.Fatal(err)
		}
		if calls++; call.Remembered {
			there++
		}
		if call.Hash != call.Request.Hash() || call.Dataset == "" {
			t.Errorf("a call does not say what it is: %+v", call)
		}
	}
	if calls != 5 || there != 3 {
		t.Errorf("%d calls, %d of them remembered", calls, there)
	}
	used, err := j.Used(t.Context(), m)
	if a := used[model.Ref{Provider: "p", Model: "a"}]; err != nil || a.Replies != 2 || a.Tokens.Output != 15 {
		t.Errorf("used: %+v, %v", used, err)
	}
}

// A job asks judges alone where nobody else may be asked.
func TestJudging(t *testing.T) {
	t.Parallel()
	j := chained("one")
	if j.Judging() {
		t.Error("a target is asked too")
	}
	if j.Models = j.Models[1:]; !j.Judging() {
		t.Error("a judge alone is asked")
	}
}
