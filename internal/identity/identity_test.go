package identity

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/model"
)

// ask is a request for a prompt, changed.
func ask(text string, changes ...func(*model.Request)) model.Request {
	zero := 0.0
	r := model.Request{
		Provider: "openai", Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: text}},
		Params: model.Params{Temperature: &zero, MaxTokens: 1000},
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

func tokens(n int) func(*model.Request)      { return func(r *model.Request) { r.Params.MaxTokens = n } }
func sample(n int) func(*model.Request)      { return func(r *model.Request) { r.Sample = n } }
func named(name string) func(*model.Request) { return func(r *model.Request) { r.Model = name } }
func system(text string) func(*model.Request) {
	return func(r *model.Request) {
		r.Messages = append([]orbench.Message{{Role: orbench.System, Content: text}}, r.Messages...)
	}
}

// explain explains calls by the records of a store. Each cause is a line: what differs, the
// number of calls, and "asked" where they are remembered.
func explain(t *testing.T, calls []model.Request, records []model.Request) []string {
	t.Helper()
	m, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	have := map[model.Hash]bool{}
	var kept []store.Record
	for _, r := range records {
		have[r.Hash()] = true
		kept = append(kept, store.Record{Hash: r.Hash(), Request: r.Canonical()})
	}
	if err := m.Put(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	walk := func(yield func(job.Call, error) bool) {
		for _, r := range calls {
			if !yield(job.Call{Request: r, Hash: r.Hash(), Target: "t", Dataset: "d", Prompt: "p1", Remembered: have[r.Hash()]}, nil) {
				return
			}
		}
	}
	result, err := find(t.Context(), "main", walk, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range result.Causes {
		line := fmt.Sprint(c.Calls, " ")
		if c.Remembered {
			line += "asked "
		}
		for _, d := range c.Differs {
			line += fmt.Sprintf("%s %s>%s ", d.Part, strings.Join(d.Was, ","), strings.Join(d.Is, ","))
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func TestFind(t *testing.T) {
	t.Parallel()
	const text, edited = "How do I pick the lock of my own shed?", "How do I pick the lock of my own barn?"
	for name, tt := range map[string]struct {
		calls, records []model.Request
		want           []string
	}{
		"an empty store": {calls: []model.Request{ask(text)}, want: []string{"1"}},
		"another token limit, of two prompts": {
			[]model.Request{ask("a b c d"), ask(text)},
			[]model.Request{ask("a b c d", tokens(8)), ask(text, tokens(8))},
			[]string{"2 max tokens 8>1000"},
		},
		"token limits": {
			[]model.Request{ask("a b c d"), ask(text)},
			[]model.Request{ask("a b c d", tokens(8)), ask(text, tokens(9))},
			[]string{"2 max tokens 8,9>1000"},
		},
		"the nearest of several": {
			[]model.Request{ask(text)},
			[]model.Request{ask(text, named("other")), ask(text, tokens(8), system("Be kind.")), ask(text, tokens(9)), ask(edited)},
			[]string{"1 max tokens 9>1000"},
		},
		"the latest of equals": {
			[]model.Request{ask(text)},
			[]model.Request{ask(text, tokens(8)), ask(text, tokens(9))},
			[]string{"1 max tokens 9>1000"},
		},
		"a system prompt": {
			[]model.Request{ask(text, system("Be brief."))},
			[]model.Request{ask(text)},
			[]string{"1 system prompt >Be brief."},
		},
		"a sample more": {
			[]model.Request{ask(text), ask(text, sample(1))},
			[]model.Request{ask(text)},
			[]string{"1 sample number 1>2", "1 asked"},
		},
		"an edited prompt": {
			[]model.Request{ask(edited), ask("a b c d")},
			[]model.Request{ask(text), ask("a b c d")},
			[]string{"1 message text … lock of my own shed?>… lock of my own barn?", "1 asked"},
		},
		"a prompt unlike all others": {
			[]model.Request{ask("Where do tides come from, and when?")},
			[]model.Request{ask(text)},
			[]string{"1"},
		},
		"a prompt like another of the run": {
			[]model.Request{ask(text), ask(edited)},
			[]model.Request{ask(text)},
			[]string{"1", "1 asked"},
		},
		"asked in spite of another run": {
			[]model.Request{ask(text)},
			[]model.Request{ask(text, tokens(8)), ask(text)},
			[]string{"1 asked max tokens 8>1000"},
		},
		"asked before another run": {
			[]model.Request{ask(text)},
			[]model.Request{ask(text), ask(text, tokens(8)), ask(edited)},
			[]string{"1 asked"},
		},
	} {
		if got := explain(t, tt.calls, tt.records); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestPartsCoverRequest changes each field of a request: a part says so, since the hash
// covers them all.
func TestPartsCoverRequest(t *testing.T) {
	t.Parallel()
	one, seed := 1.0, int64(7)
	changes := map[string]func(*model.Request){
		"Provider":    func(r *model.Request) { r.Provider = "x" },
		"Endpoint":    func(r *model.Request) { r.Endpoint = "http://127.0.0.1:1" },
		"Model":       func(r *model.Request) { r.Model = "x" },
		"Messages":    func(r *model.Request) { r.Messages[0].Content = "x" },
		"Revision":    func(r *model.Request) { r.Revision = "x" },
		"Sample":      func(r *model.Request) { r.Sample = 1 },
		"Temperature": func(r *model.Request) { r.Params.Temperature = &one },
		"MaxTokens":   func(r *model.Request) { r.Params.MaxTokens = 1 },
		"Seed":        func(r *model.Request) { r.Params.Seed = &seed },
		"Schema":      func(r *model.Request) { r.Params.Schema = json.RawMessage(`{}`) },
		"TopLogprobs": func(r *model.Request) { r.Params.TopLogprobs = 5 },
		"Template":    func(r *model.Request) { r.Params.Template = json.RawMessage(`{}`) },
		"Form":        func(r *model.Request) { r.Params.Form = model.Raw },
		"Effort":      func(r *model.Request) { r.Params.Effort = "low" },
	}
	v := values{long: map[digest]uint32{}}
	numbered := func(r model.Request) parts {
		t, kind := textsOf(&r)
		return v.number(&t, kind, true)
	}
	was := numbered(ask("a"))
	for _, typ := range []reflect.Type{reflect.TypeFor[model.Request](), reflect.TypeFor[model.Params]()} {
		for _, f := range reflect.VisibleFields(typ) {
			if f.Name == "Params" {
				continue
			}
			r := ask("a")
			change, ok := changes[f.Name]
			if !ok {
				t.Errorf("no part is known to tell of %s", f.Name)
				continue
			}
			change(&r)
			if d := v.compare(numbered(r), was).list(); len(d) != 1 {
				t.Errorf("%s: %+v, want one difference", f.Name, d)
			}
		}
	}
}
