package evaluate_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// scripted answers as the prompt's last word says, one letter for each sample
// and then one for temperature 0: R refuses, A answers, U is cut before its
// first word and so cannot be judged, F fails.
func scripted() *provider {
	return &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		text := r.Messages[len(r.Messages)-1].Content
		script := text[strings.LastIndexByte(text, ' ')+1:]
		at := r.Sample
		if *r.Params.Temperature == 0 {
			at = len(script) - 1
		}
		switch script[at] {
		case 'R':
			return model.Response{Text: "I'm sorry, but I can't help with that.", Finish: model.Stop}, nil
		case 'U':
			return model.Response{Finish: model.Length}, nil
		case 'F':
			return model.Response{}, &model.Error{Kind: model.Invalid, Message: "as the script says"}
		}
		return model.Response{Text: "Sure. First open the lid, then lift it.", Finish: model.Stop}, nil
	}}
}

// sampledTargets are a target at temperature 0 and the same one asked several times
// at 0.7, as experiments name them.
func sampledTargets(samples int) []evaluate.Target {
	cold, warm := 0.0, 0.7
	greedy := target("p", "m")
	greedy.Params.Temperature = &cold
	sampled := target("p", "m")
	sampled.Params.Temperature = &warm
	sampled.Name, sampled.Base, sampled.Samples = "p/m [temperature 0.7]", greedy.Name, samples
	return []evaluate.Target{greedy, sampled}
}

// scripts makes a dataset of safe prompts with a script each, in two categories.
func scripts(t *testing.T, all ...string) *dataset.Dataset {
	t.Helper()
	var rows []line
	for i, script := range all {
		rows = append(rows, line{fmt.Sprintf("prompt %d %s", i, script), []orbench.Category{"privacy", "hate"}[i%2], orbench.Safe})
	}
	return newDataset(t, "scripts", rows)
}

// sampledRun fills and derives.
func sampledRun(t *testing.T, r *evaluate.Run) (score.Result, []score.AnswerRow) {
	t.Helper()
	m := newStore(t)
	// Scripted failures are not an error of the run.
	_ = providers{"p": scripted()}.fillRun(t, r, m, fill.LiveConfig{Attempts: 1})
	var rows []score.AnswerRow
	result, err := r.DeriveTo(t.Context(), m, evaluate.Sinks{
		Row: func(row score.AnswerRow) error { rows = append(rows, row); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return result, rows
}

// The figures are computed by hand, and the intervals by the functions of
// package stats, which have their own tests.
func TestPropensity(t *testing.T) {
	t.Parallel()
	r := &evaluate.Run{
		Targets: sampledTargets(4), Judges: newJudges(t, "lexical"),
		Datasets: []*dataset.Dataset{scripts(
			t,
			"AAAAA", // never refused
			"RRRRR", // always
			"ARAAA", // 1/4, answered greedily
			"RRRAA", // 3/4, answered greedily: only the samples refuse
			"AAARR", // 1/4, refused greedily: only the greedy answer refuses
			"RRAAA", // half
			"RUUAR", // 1/2 of the judged
			"RAAAU", // 1/4, no greedy verdict
			"UUUUA", // nothing judged
			"AAAAR", "AAAAR", "AAAAR", "RRRRA", "RRRRA", "RRRRA",
		)},
	}
	result, rows := sampledRun(t, r)
	run := result.Runs[1]
	j := run.Judges[0]
	if run.Target != "p/m [temperature 0.7]" || run.Samples != 4 || j.Judge != "lexical" || run.Label != orbench.Safe || j.Unjudged != 6 {
		t.Errorf("%+v", run)
	}
	if never, sometimes, always := repeated(&result, &run, "lexical"); always != 4 || sometimes != 5 || never != 4 {
		t.Errorf("always %g, sometimes %g, never %g", always, sometimes, never)
	}
	// (0 + 1 + 1/4 + 3/4 + 1/4 + 1/2 + 1/2 + 1/4 + 3*0 + 3*1) / 14
	near(t, "mean", *j.Rate.Value, 6.5/14)
	mean, _ := stats.MeanRate(clusters([2]int{0, 4}, [2]int{4, 4}, [2]int{1, 4}, [2]int{3, 4}, [2]int{1, 4}, [2]int{2, 4}, [2]int{1, 2}, [2]int{1, 4},
		[2]int{0, 4}, [2]int{0, 4}, [2]int{0, 4}, [2]int{4, 4}, [2]int{4, 4}, [2]int{4, 4}), 0.95)
	near(t, "lower end", j.Rate.Sampling.Lo, mean.Lo)
	near(t, "upper end", j.Rate.Sampling.Hi, mean.Hi)

	if row := rows[15*2]; row.Variant != run.Target || row.Sample != 2 || rows[0].Variant != "" {
		t.Errorf("the second sample's row says %q, sample %d; that at temperature 0 %q", row.Variant, row.Sample, rows[0].Variant)
	}
}

// repeated counts the prompts of a run that are never, sometimes and always refused.
func repeated(r *score.Result, run *score.RunResult, judge string) (never, sometimes, always float64) {
	k := func(m figure.Measure) float64 { return find(r.Figures, m, run.Keys(judge)).Count() }
	return k(figure.NeverRefused), k(figure.SometimesRefused), k(figure.AlwaysRefused)
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-12 {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

func TestPropensityMissingAndWithheld(t *testing.T) {
	t.Parallel()
	r := &evaluate.Run{
		Targets: sampledTargets(3)[1:], Judges: newJudges(t, "lexical"),
		Datasets: []*dataset.Dataset{scripts(t, "AFRA", "RRRA", "AAAA", "UUUA")},
	}
	result, _ := sampledRun(t, r)
	got := result.Runs[0].Judges[0]
	never, sometimes, always := repeated(&result, &result.Runs[0], "lexical")
	if result.Runs[0].Failed != 1 || got.Unjudged != 3 || always+sometimes+never != 2 {
		t.Errorf("%+v", got)
	}
	// Three of eleven answers are unjudged, more than a tenth.
	if !got.Withheld || got.Rate.Value != nil {
		t.Errorf("rates in spite of too many unjudged answers: %+v", got)
	}
}

// TestPropensityTwin counts from the rows what Derive counts chunk by chunk,
// over several chunks, labels and judges.
func TestPropensityTwin(t *testing.T) {
	t.Parallel()
	const seed, samples = 7, 3
	random := rand.New(rand.NewPCG(seed, 0))
	var rows []line
	for i := range 700 {
		script := make([]byte, samples+1)
		for k := range script {
			script[k] = "RRRRRRRAAAAAAAAAAAAAAAUF"[random.IntN(24)]
		}
		label := []orbench.Label{orbench.Safe, orbench.Toxic}[random.IntN(2)]
		rows = append(rows, line{fmt.Sprintf("prompt %d %s", i, script), "privacy", label})
	}
	r := &evaluate.Run{
		Targets: sampledTargets(samples), Judges: newJudges(t, "lexical", "paper-keywords"),
		Datasets: []*dataset.Dataset{newDataset(t, "many", rows), newDataset(t, "few", rows[:300])},
	}
	result, derived := sampledRun(t, r)
	for run, j := range result.Judged() {
		if run.Samples == 0 {
			continue
		}
		var unjudged, missing int
		counts := map[orbench.PromptID]*stats.Cluster{}
		for _, row := range derived {
			if row.Variant == "" || row.Dataset != run.Dataset || row.Prompt.Label != run.Label {
				continue
			}
			if counts[row.Prompt.ID] == nil {
				counts[row.Prompt.ID] = &stats.Cluster{}
			}
			i := slices.IndexFunc(row.Verdicts, func(v score.JudgeVerdict) bool { return v.Judge == j.Judge })
			switch {
			case i < 0:
				missing++
			case row.Verdicts[i].Class == orbench.Unjudged:
				unjudged++
			default:
				counts[row.Prompt.ID].N++
				if row.Verdicts[i].Class.Refused() {
					counts[row.Prompt.ID].Sum++
				}
			}
		}
		complete, never, always, sum, with := 0, 0, 0, 0.0, 0
		for c := range maps.Values(counts) {
			if c.N == samples {
				complete++
				switch c.Sum {
				case 0:
					never++
				case samples:
					always++
				}
			}
			if c.N > 0 {
				with++
				sum += float64(c.Sum) / float64(c.N)
			}
		}
		n, some, all := repeated(&result, run, j.Judge)
		got := []int{j.Unjudged, run.Failed + run.Unanswered, int(n), int(all), int(n + some + all)}
		if want := []int{unjudged, missing, never, always, complete}; !slices.Equal(got, want) {
			t.Errorf("seed %d, %s %s %s: %v, want %v", seed, run.Dataset, run.Label, j.Judge, got, want)
		}
		near(t, "mean", *j.Rate.Value, sum/float64(with))
	}
}

// find returns the figure of a measure with these keys; nil if there is none.
func find(all []figure.Figure, m figure.Measure, of figure.Keys) *figure.Figure {
	for f := range figure.Of(all, m) {
		if f.Keys == of {
			return f
		}
	}
	return nil
}
