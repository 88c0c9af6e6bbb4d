package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/telemetry"
	"github.com/orbench/orbench/internal/telemetry/telemetrytest"
	"github.com/orbench/orbench/model"
)

// TestEvaluated has verdicts told on the spans of their answers: one of each, no verdict on
// an older answer, and none on a span where a server gave one ID to two answers. More come
// than are sent together.
func TestEvaluated(t *testing.T) {
	c := telemetrytest.New()
	defer c.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	told := telemetry.New(telemetry.Options{Getenv: os.Getenv, Log: slog.New(slog.DiscardHandler)})
	ask := func(id string) model.Response {
		m := told.Model(model.Func(func(context.Context, model.Request) (model.Response, error) {
			return model.Response{Text: "Yes.", Finish: model.Stop, ID: id}, nil
		}), telemetry.Server{})
		r, err := m.Ask(t.Context(), model.Request{Model: "of-" + id})
		if err != nil {
			t.Fatal(err)
		}
		r.Made = time.Now()
		return r
	}
	own, _, twice := ask("own"), ask("twice"), ask("twice")
	old := own
	old.Made = time.Now().Add(-time.Hour)
	const n = 600
	for range n {
		told.Evaluated(t.Context(), own, "lexical", orbench.Verdict{Class: orbench.Refusal, Score: 0.9, Rationale: "It says no."})
	}
	told.Evaluated(t.Context(), twice, "lexical", orbench.Verdict{Class: orbench.FullAnswer})
	told.Evaluated(t.Context(), own, "llm:x/y", orbench.Verdict{Rationale: "no reply"})
	told.Evaluated(t.Context(), old, "lexical", orbench.Verdict{Class: orbench.Refusal})
	told.Close()
	lines := c.Lines()
	for text, want := range map[string]int{
		"event gen_ai.evaluation.result{": n + 2,
		"gen_ai.evaluation.score.label=refusal gen_ai.evaluation.score.value=0.9 gen_ai.response.id=own": n,
		`on "chat of-own"`:   n + 1,
		`on "chat of-twice"`: 0,
		"error.type=unjudged gen_ai.evaluation.name=llm:x/y gen_ai.response.id=own": 1,
		"It says no": 0,
	} {
		if got := strings.Count(lines, text); got != want {
			t.Errorf("%d times %q, want %d", got, text, want)
		}
	}
}

// TestEvaluationsDropped has a collector that takes no logs: it is said, with the number.
func TestEvaluationsDropped(t *testing.T) {
	c := telemetrytest.New()
	defer c.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", c.URL+"/nowhere")
	var logged bytes.Buffer
	told := telemetry.New(telemetry.Options{Getenv: os.Getenv, Log: slog.New(slog.NewTextHandler(&logged, nil))})
	for range 600 {
		told.Evaluated(t.Context(), model.Response{Made: time.Now()}, "lexical", orbench.Verdict{Class: orbench.Refusal})
	}
	told.Close()
	if log := logged.String(); !strings.Contains(log, `msg="evaluations were dropped" dropped=600 of=600`) || !strings.Contains(log, "set OTEL_LOGS_EXPORTER=none") {
		t.Error(log)
	}
}
