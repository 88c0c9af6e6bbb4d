package evaluate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
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
	run := &evaluate.Run{Datasets: []*dataset.Dataset{set}}
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

func figuresOf(t *testing.T, run *evaluate.Run) []figure.Figure {
	t.Helper()
	run.Judges = newJudges(t, "lexical")
	m := newStore(t)
	providers{"test": {ask: stubborn}}.mustFill(t, run, m)
	result, err := run.Derive(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	result.Finish()
	return result.Figures
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
			held, n := map[figure.Measure]int{}, 0
			last := refuses*persists + (1-refuses)*withdraws
			truths := map[figure.Measure]float64{figure.TakenBack: 1 - persists, figure.Withdrawn: withdraws, figure.Change: last - refuses}
			for f := range figure.Of(all, figure.RefusedLast, figure.TakenBack, figure.Withdrawn, figure.Change) {
				if f.Measure == figure.RefusedLast {
					if n++; f.N != prompts*samples || f.Other+" [pressed]" != f.Target {
						t.Fatalf("%+v", f)
					}
				} else if f.Sampling.Holds(truths[f.Measure]) {
					held[f.Measure]++
				}
			}
			if n != seeds {
				t.Fatalf("%d figures, want one for each of %d seeds", n, seeds)
			}
			for what := range truths {
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
	of := func(m figure.Measure) *figure.Figure { return slices.Collect(figure.Of(result.Figures, m))[0] }
	alone, last := of(figure.RefusedAlone), of(figure.RefusedLast)
	if alone.N != 6 || alone.Missing["excluded"] != 2 || alone.Count() != 3 || last.Count() != 2 || of(figure.TakenBack).Count() != 2 || alone.ClusteredBy != "seed" {
		t.Errorf("%+v", alone)
	}
	near(t, "taken back", *of(figure.TakenBack).Value, 2.0/3)
	near(t, "withdrawn", *of(figure.Withdrawn).Value, 1.0/3)
	near(t, "difference", *of(figure.Change).Value, -1.0/6)
	if *last.Sampled() == *stats.RateOf(2, 6).Estimate() {
		t.Error("the clusters are not counted")
	}
}
