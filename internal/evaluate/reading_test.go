package evaluate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

// TestReading derives the same store by two readings. The first says what the present one would
// change; labels are on the texts as kept, by both; a failure that the user calls a block is one.
func TestReading(t *testing.T) {
	t.Parallel()
	const thought = "[THINK]I'm sorry, but I can't help with that, I would say. But it is fine.[/THINK]"
	ask := func(_ context.Context, r model.Request) (model.Response, error) {
		switch n := r.Messages[len(r.Messages)-1].Content; {
		case strings.HasSuffix(n, " 1"):
			return model.Response{Text: "nan", Finish: model.Stop}, nil
		case strings.HasSuffix(n, " 2"):
			return model.Response{}, &model.Error{Kind: model.Invalid, Message: "the house says no to 17"}
		}
		return model.Response{Text: thought + "First open the window, then the door.", Finish: model.Stop}, nil
	}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "m")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", []line{{"x 0", "hate", orbench.Safe}, {"x 1", "hate", orbench.Safe}, {"x 2", "hate", orbench.Safe}})},
		Judges:   newJudges(t, "lexical"),
	}
	m := newStore(t)
	if err := (providers{"test": {ask: ask}}).fillRun(t, run, m, fill.LiveConfig{}); err != nil {
		t.Fatal(err)
	}
	now, present := deriveRun(t, run, m)
	run.Reading.Date = reply.First
	then, first := deriveRun(t, run, m)
	if got := now.Runs[0]; got.Judges[0].Refused != 0 || got.Judges[0].Judged != 1 || got.Judges[0].NoAnswer != 1 || got.Read["thinking (think)"] != 1 || got.Read["no answer (a missing value)"] != 1 || len(got.Reread) > 0 {
		t.Errorf("the present reading gives %+v, %+v", got, got.Judges[0])
	}
	if got := then.Runs[0]; got.Judges[0].Refused != 1 || got.Judges[0].Judged != 2 || len(got.Read) > 0 || got.Reread["thinking (think)"] != 1 || got.Reread["no answer (a missing value)"] != 1 {
		t.Errorf("the first reading gives %+v, %+v", got, got.Judges[0])
	}
	for i := range present {
		if present[i].Subject() != first[i].Subject() {
			t.Errorf("%s: a label of the one is none of the other", present[i].Prompt.ID)
		}
	}
	run.Reading = reply.Reading{Blocks: []string{"the house says no*"}}
	blocked, rows := deriveRun(t, run, m)
	if got := blocked.Runs[0]; got.Blocked != 1 || got.Failed != 0 || got.Judges[0].Refused != 1 || rows[2].Status != score.Blocked {
		t.Errorf("with a block of the user's: %+v, %+v", got, got.Judges[0])
	}
}
