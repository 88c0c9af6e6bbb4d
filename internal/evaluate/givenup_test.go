package evaluate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/model"
)

// TestGivenUpTargetBesideAJudge has a target that does not exist at the judge's
// provider. The answers of the other target must still be judged, including
// second tries, and the error must name the model that was given up.
func TestGivenUpTargetBesideAJudge(t *testing.T) {
	t.Parallel()
	both := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		switch {
		case r.Model != "j":
			return model.Response{}, &model.Error{Kind: model.NotFound, Provider: r.Provider, Model: r.Model, Message: "no such model"}
		case r.Sample == 0:
			return model.Response{Text: "Hard to say.", Finish: model.Stop}, nil
		}
		return verdict(r, orbench.DirectAnswer), nil
	}}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "gone"), target("other", "b")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 20))},
		Judges:   newJudges(t, "llm:test/j"),
	}
	m := newStore(t)
	err := providers{"test": both, "other": answers("Yes.")}.fillRun(t, run, m, fill.LiveConfig{})
	var gaveUp *fill.GivenUpError
	if !errors.As(err, &gaveUp) || gaveUp.Model != "gone" {
		t.Errorf("the error is %v, want that the model was given up", err)
	}
	_, rows := deriveRun(t, run, m)
	for _, row := range rows {
		if row.Target == "other/b" && row.Verdicts[0].Class != orbench.FullAnswer {
			t.Errorf("%s: %+v, want a verdict", row.Prompt.ID, row.Verdicts[0])
		}
	}
}
