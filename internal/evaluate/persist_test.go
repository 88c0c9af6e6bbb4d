package evaluate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

// The behavior of stubborn: how often it refuses a prompt alone, refuses again
// when pressed, and refuses when pressed after an answer.
const (
	refuses   = 0.6
	persists  = 0.7
	withdraws = 0.15
)

// stubborn is a model with known behavior over turns, fixed for each seed and
// sample.
func stubborn(_ context.Context, r model.Request) (model.Response, error) {
	h := r.Hash()
	chance := rand.New(rand.NewPCG(uint64(h[0])|uint64(h[1])<<8|uint64(h[2])<<16, uint64(*r.Params.Seed))).Float64()
	limit := refuses
	if len(r.Messages) > 1 {
		limit = withdraws
		if strings.Contains(r.Messages[1].Content, "can't") {
			limit = persists
		}
	}
	text := "Here is how: take the one thing, and put it into the other."
	if chance < limit {
		text = "I'm sorry, but I can't help with that."
	}
	return model.Response{Text: text, Finish: model.Stop}, nil
}

// stubbornRun asks a stubborn model of each seed alone and in a dialog.
func stubbornRun(set *dataset.Dataset, seeds, samples int) *evaluate.Run {
	run := &evaluate.Run{Datasets: []*dataset.Dataset{set}, MostUnjudged: 1}
	for seed := range int64(seeds) {
		alone := target("test", "a")
		alone.Name, alone.Params.Seed = fmt.Sprintf("seed %d", seed), &seed
		if samples > 1 {
			temperature := 0.7
			alone.Params.Temperature, alone.Samples = &temperature, samples
		}
		pressed := alone
		pressed.Name, pressed.Base = alone.Name+" [pressed]", alone.Name
		pressed.Turns = &conversation.Script{Name: "pressed", Turns: []conversation.Turn{{User: "{{prompt}}"}, {Own: true}, {User: "Please read my question again."}}}
		run.Targets = append(run.Targets, alone, pressed)
	}
	return run
}

func figuresOf(t *testing.T, run *evaluate.Run) []score.Persistence {
	t.Helper()
	run.Judges = newJudges(t, "lexical")
	m := newStore(t)
	providers{"test": {ask: stubborn}}.mustFill(t, run, m)
	result, err := run.Derive(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	result.Finish()
	return result.Persistence
}

// TestPersistence checks that the measured rates of persisting refusals and
// withdrawn answers lie within the intervals expected for that number of seeds.
func TestPersistence(t *testing.T) {
	t.Parallel()
	seeds, prompts := 8, 30
	switch os.Getenv("ORBENCH_LONG") {
	case "1":
		seeds = 20
	case "2":
		seeds, prompts = 500, 60
	}
	rows := lines("x", 0, prompts)
	for i := range rows {
		rows[i].label = orbench.Safe
	}
	for name, samples := range map[string]int{"single": 1, "sampled": 3} {
		t.Run(name, func(t *testing.T) {
			all := figuresOf(t, stubbornRun(newDataset(t, "one", rows), seeds, samples))
			if len(all) != seeds {
				t.Fatalf("%d figures, want one for each of %d seeds", len(all), seeds)
			}
			held := map[string]int{}
			for _, f := range all {
				if f.Prompts != prompts || f.Pairs != prompts*samples || f.Alone+" [pressed]" != f.Target {
					t.Fatalf("%+v", f)
				}
				last := refuses*persists + (1-refuses)*withdraws
				for what, v := range map[string]struct {
					truth, lo, hi float64
				}{
					"persist":    {persists, f.PersistRate.Interval()[0], f.PersistRate.Interval()[1]},
					"taken back": {1 - persists, f.TakenBackRate.Interval()[0], f.TakenBackRate.Interval()[1]},
					"withdrawn":  {withdraws, f.WithdrawnRate.Interval()[0], f.WithdrawnRate.Interval()[1]},
					"difference": {last - refuses, f.Difference.Lo, f.Difference.Hi},
				} {
					if v.lo <= v.truth && v.truth <= v.hi {
						held[what]++
					}
				}
			}
			for _, what := range []string{"persist", "taken back", "withdrawn", "difference"} {
				n := held[what]
				share, slack := float64(n)/float64(seeds), 3*math.Sqrt(0.95*0.05/float64(seeds))
				t.Logf("%s: within the interval in %d of %d seeds, %.1f%%", what, n, seeds, 100*share)
				if share < 0.95-slack {
					t.Errorf("%s is within the interval in %d of %d seeds", what, n, seeds)
				}
			}
		})
	}
}

// TestPersistenceCounts compares with pairs counted by hand, for prompts some
// of which have no verdict and some of which share clusters.
func TestPersistenceCounts(t *testing.T) {
	t.Parallel()
	text := "prompt,label,seed\n"
	// The verdict on the prompt alone, and then at the end of the dialog.
	for i, script := range []string{"RR", "RA", "RA", "AR", "AA", "AA", "UA", "RU"} {
		text += fmt.Sprintf("%s %d,safe,%d\n", script, i, i/2)
	}
	path := filepath.Join(t.TempDir(), "few.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := stubbornRun(set, 1, 1)
	run.Judges = newJudges(t, "lexical")
	m := newStore(t)
	providers{"test": {ask: func(_ context.Context, r model.Request) (model.Response, error) {
		say := map[byte]string{'R': "I'm sorry, but I can't help with that.", 'A': "Here is how: take the one thing, and put it into the other.", 'U': "ეს არის სრული პასუხი იმის შესახებ, თუ როგორ გავაკეთოთ რაღაც."}
		return model.Response{Text: say[r.Messages[0].Content[min(1, len(r.Messages)-1)]], Finish: model.Stop}, nil
	}}}.mustFill(t, run, m)
	result, _ := deriveRun(t, run, m)
	result.Finish()
	if len(result.Persistence) != 1 {
		t.Fatalf("%+v", result.Persistence)
	}
	f := result.Persistence[0]
	if f.Prompts != 6 || f.Excluded != 2 || f.Pairs != 6 || f.RefusedAlone != 3 || f.RefusedLast != 2 || f.Persisted != 1 || f.ClusteredBy != "seed" || f.Turns != "pressed" {
		t.Errorf("%+v", f)
	}
	near(t, "persist", *f.PersistRate.Share, 1.0/3)
	near(t, "taken back", *f.TakenBackRate.Share, 2.0/3)
	near(t, "withdrawn", *f.WithdrawnRate.Share, 1.0/3)
	near(t, "difference", f.Difference.Value, -1.0/6)
	if f.PersistRate.CI95Clustered == nil || f.LastRate.CI95Clustered == nil {
		t.Error("the clusters are not counted")
	}
}
