package interchange_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// newStore opens a store in a file of its own, closed at the end of the test.
func newStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "m.db"))
	if err != nil {
		t.Fatal(err)
	}
	m := store.New(s)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// newJudges makes judges from their specs.
func newJudges(t testing.TB, specs ...string) []judge.Judge {
	t.Helper()
	var judges []judge.Judge
	for _, s := range specs {
		j, err := judge.Parse(s, judge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		judges = append(judges, j)
	}
	return judges
}

// provider is a model that keeps the requests it was sent.
type provider struct {
	ask model.Func

	mu   sync.Mutex
	sent []model.Request
}

func (p *provider) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	p.mu.Lock()
	p.sent = append(p.sent, r)
	p.mu.Unlock()
	return p.ask(ctx, r)
}

// requests gives what was sent so far and forgets it.
func (p *provider) requests() []model.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent
	p.sent = nil
	return sent
}

// verdict is a judge's reply to a question of package judge, whose last line
// shows the form that is wanted.
func verdict(r model.Request, class orbench.PaperClass) model.Response {
	question := r.Messages[len(r.Messages)-1].Content
	last := question[strings.LastIndex(question, "\n")+1:]
	marker, _, _ := strings.Cut(last, ":")
	return model.Response{Text: "The reply decides.\n\n" + marker + ": " + string(class), Finish: model.Stop}
}

// judging gives the same verdict on every answer.
func judging(class orbench.PaperClass) *provider {
	return &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		return verdict(r, class), nil
	}}
}
