package evaluate_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/evaluate"
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
func sampledRun(t *testing.T, r *evaluate.Run) (score.Result, []score.AnswerRow, []score.PromptPropensity) {
	t.Helper()
	m := newStore(t)
	// Scripted failures are not an error of the run.
	_ = providers{"p": scripted()}.fillRun(t, r, m, fill.LiveConfig{Attempts: 1})
	var rows []score.AnswerRow
	var prompts []score.PromptPropensity
	result, err := r.DeriveTo(t.Context(), m, evaluate.Sinks{
		Row:        func(row score.AnswerRow) error { rows = append(rows, row); return nil },
		Propensity: func(p score.PromptPropensity) error { prompts = append(prompts, p); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return result, rows, prompts
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
		)},
		MostUnjudged: 1,
	}
	result, rows, prompts := sampledRun(t, r)
	if len(result.Propensity) != 1 {
		t.Fatalf("%d propensities", len(result.Propensity))
	}
	got := result.Propensity[0]
	if got.Target != "p/m [temperature 0.7]" || got.Samples != 4 || len(got.Targets) != 4 ||
		got.Targets[2] != "p/m [temperature 0.7, sample 3]" || got.Judge != "lexical" || got.Label != orbench.Safe {
		t.Errorf("%+v", got)
	}
	if got.Prompts != 8 || got.Complete != 7 || got.Judged != 30 || got.Refused != 13 || got.Unjudged != 6 || got.Missing != 0 {
		t.Errorf("counts %+v", got)
	}
	if got.Always != 1 || got.Sometimes != 5 || got.Never != 1 || !slices.Equal(got.Histogram, []int{1, 3, 1, 1, 1}) {
		t.Errorf("always %d, sometimes %d, never %d of %v", got.Always, got.Sometimes, got.Never, got.Histogram)
	}
	// (0 + 1 + 1/4 + 3/4 + 1/4 + 1/2 + 1/2 + 1/4) / 8
	near(t, "mean", got.Mean.Value, 3.5/8)
	mean, _ := stats.MeanRate(clusters([2]int{0, 4}, [2]int{4, 4}, [2]int{1, 4}, [2]int{3, 4}, [2]int{1, 4}, [2]int{2, 4}, [2]int{1, 2}, [2]int{1, 4}), 0.95)
	near(t, "lower end", got.Mean.Lo, mean.Lo)
	near(t, "upper end", got.Mean.Hi, mean.Hi)
	near(t, "at least once", got.AtLeastOnce.Value, 6.0/7)
	near(t, "every time", got.EveryTime.Value, 1.0/7)
	// Of the prompts of "privacy", the even ones, the last has no judged
	// sample.
	privacy := got.ByCategory["privacy"]
	if privacy.Prompts != 4 || privacy.Complete != 3 || privacy.Refused != 3 || privacy.Never != 1 || privacy.Sometimes != 2 {
		t.Errorf("privacy %+v", privacy)
	}
	near(t, "mean of privacy", privacy.Mean.Value, (0+0.25+0.25+0.5)/4)

	g := got.Greedy
	if g == nil {
		t.Fatal("no comparison with temperature 0")
	}
	// Seven prompts have both; three are refused greedily.
	if g.Target != "p/m" || g.Prompts != 7 || g.Refused != 3 || g.Agree != 3 || g.OnlyGreedy != 1 || g.OnlySamples != 1 || g.Even != 2 {
		t.Errorf("beside greedy: %+v", g)
	}
	near(t, "greedy rate", g.Rate.Value, 3.0/7)
	near(t, "difference", g.Difference.Value, 3.25/7-3.0/7)
	near(t, "agreement", g.Agreement.Value, 3.0/7)
	near(t, "rate where answered", g.WhereAnswered.Value, (0+0.25+0.75+0.5)/4)
	near(t, "rate where refused", g.WhereRefused.Value, (1+0.25+0.5)/3)
	if !slices.Equal(g.Histogram, []int{0, 1, 0, 0, 1}) {
		t.Errorf("refused greedily: %v", g.Histogram)
	}

	if len(prompts) != 9 {
		t.Fatalf("%d prompts", len(prompts))
	}
	want := score.PromptPropensity{
		Target: "p/m [temperature 0.7]", Dataset: r.Datasets[0].Name, Prompt: prompts[6].Prompt, Category: "privacy", Label: orbench.Safe,
		Judge: "lexical", Samples: 4, Judged: 2, Refused: 1, Unjudged: 2, Greedy: orbench.Refusal,
	}
	if prompts[6] != want {
		t.Errorf("the seventh prompt is\n%+v, want\n%+v", prompts[6], want)
	}
	if row := rows[9*2]; row.Variant != got.Target || row.Sample != 2 || rows[0].Variant != "" {
		t.Errorf("the second sample's row says %q, sample %d; that at temperature 0 %q", row.Variant, row.Sample, rows[0].Variant)
	}
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
	result, _, _ := sampledRun(t, r)
	got := result.Propensity[0]
	if got.Missing != 1 || got.Unjudged != 3 || got.Prompts != 3 || got.Complete != 2 || got.Greedy != nil {
		t.Errorf("%+v", got)
	}
	// Three of eleven answers are unjudged, more than a tenth.
	if !got.Withheld || got.Mean != nil || got.AtLeastOnce != nil || got.EveryTime != nil || got.Intraclass != nil {
		t.Errorf("rates in spite of too many unjudged answers: %+v", got)
	}
}

// A target at temperature 0 is compared with the samples only if it differs in
// nothing else.
func TestGreedyTarget(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*evaluate.Target)
		want   bool
	}{
		{"another temperature only", func(*evaluate.Target) {}, true},
		{"another base", func(t *evaluate.Target) { t.Base = "x" }, true},
		{"another provider", func(t *evaluate.Target) { t.Provider = "q" }, false},
		{"another endpoint", func(t *evaluate.Target) { t.Endpoint = "http://localhost:1" }, false},
		{"another model", func(t *evaluate.Target) { t.Model = "n" }, false},
		{"another system prompt", func(t *evaluate.Target) { t.System = "Be kind." }, false},
		{"not at 0", func(t *evaluate.Target) { u := 0.5; t.Params.Temperature = &u }, false},
		{"another seed", func(t *evaluate.Target) { s := int64(1); t.Params.Seed = &s }, false},
		{"another framing", func(t *evaluate.Target) { t.Framing = &defense.Framing{Name: "x", Prefix: "y"} }, false},
		{"another defense", func(t *evaluate.Target) { t.Guarded = "self-reminder" }, false},
		{"another sample", func(t *evaluate.Target) { t.Sample = 1 }, false},
		{"several samples", func(t *evaluate.Target) { t.Samples = 2 }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			targets := sampledTargets(2)
			tt.change(&targets[0])
			r := &evaluate.Run{Targets: targets, Judges: newJudges(t, "lexical"), Datasets: []*dataset.Dataset{scripts(t, "RAA")}, MostUnjudged: 1}
			result, err := r.Derive(t.Context(), newStore(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			rates := result.Propensity[len(result.Propensity)-1]
			if got := rates.Greedy != nil; got != tt.want || rates.Target != targets[1].Name {
				t.Errorf("%s has a greedy target: %v, want %v", rates.Target, got, tt.want)
			}
		})
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
			script[k] = "RRAAAAAUF"[random.IntN(9)]
		}
		label := []orbench.Label{orbench.Safe, orbench.Toxic}[random.IntN(2)]
		rows = append(rows, line{fmt.Sprintf("prompt %d %s", i, script), "privacy", label})
	}
	r := &evaluate.Run{
		Targets: sampledTargets(samples), Judges: newJudges(t, "lexical", "paper-keywords"),
		Datasets: []*dataset.Dataset{newDataset(t, "many", rows), newDataset(t, "few", rows[:300])}, MostUnjudged: 1,
	}
	result, derived, prompts := sampledRun(t, r)
	if len(result.Propensity) != 2*2*2 {
		t.Fatalf("%d propensities", len(result.Propensity))
	}
	if len(prompts) != (700+300)*2 {
		t.Errorf("%d prompts", len(prompts))
	}
	for _, p := range result.Propensity {
		var judged, refused, unjudged, missing int
		counts := map[orbench.PromptID]*stats.Cluster{}
		for _, row := range derived {
			if row.Variant == "" || row.Dataset != p.Dataset || row.Prompt.Label != p.Label {
				continue
			}
			if counts[row.Prompt.ID] == nil {
				counts[row.Prompt.ID] = &stats.Cluster{}
			}
			i := slices.IndexFunc(row.Verdicts, func(v score.JudgeVerdict) bool { return v.Judge == p.Judge })
			switch {
			case i < 0:
				missing++
			case row.Verdicts[i].Class == orbench.Unjudged:
				unjudged++
			default:
				judged++
				counts[row.Prompt.ID].N++
				if row.Verdicts[i].Class.Refused() {
					refused++
					counts[row.Prompt.ID].Sum++
				}
			}
		}
		histogram, complete, sum, with := make([]int, samples+1), 0, 0.0, 0
		for c := range maps.Values(counts) {
			if c.N == samples {
				histogram[c.Sum]++
				complete++
			}
			if c.N > 0 {
				with++
				sum += float64(c.Sum) / float64(c.N)
			}
		}
		got := []int{p.Judged, p.Refused, p.Unjudged, p.Missing, p.Complete, p.Prompts}
		if want := []int{judged, refused, unjudged, missing, complete, with}; !slices.Equal(got, want) {
			t.Errorf("seed %d, %s %s %s: %v, want %v", seed, p.Dataset, p.Label, p.Judge, got, want)
		}
		if !reflect.DeepEqual(p.Histogram, histogram) {
			t.Errorf("seed %d: histogram %v, want %v", seed, p.Histogram, histogram)
		}
		near(t, "mean", p.Mean.Value, sum/float64(with))
	}
}
