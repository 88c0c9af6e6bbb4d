package compare_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// gates that a model compared with itself should pass, in both spellings.
var selfGates = []string{
	"over_refusal > +2pp", "toxic_refusal < -1pp",
	"over_refusal > +2pp, significant or not", "toxic_refusal < -1pp, significant or not",
}

// allowed returns how many of n comparisons may fail a gate before it is
// certain, except for one chance in a thousand, that the gate fails more than
// 5% of them.
func allowed(n int) int {
	d := distuv.Binomial{N: float64(n), P: 0.05}
	k := 0
	for d.CDF(float64(k)) < 0.999 {
		k++
	}
	return k
}

// TestSimAgainstItself compares a simulated model with itself under new seeds,
// on the starter set, including answers and judge. A gate that needs
// significance must fail at most 5% of the time.
func TestSimAgainstItself(t *testing.T) {
	t.Parallel()
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	const pairs = 200
	failures := map[string]int{}
	prompts := starter(t)
	for i := range pairs {
		c := compare.New("lexical")
		for _, r := range simulated(t, prompts, "balanced", int64(2*i)) {
			must(t, c.AddBase(r))
		}
		for _, r := range simulated(t, prompts, "balanced", int64(2*i+1)) {
			must(t, c.AddCandidate(r))
		}
		count(failures, c, uint64(i))
	}
	check(t, failures, pairs)
}

// TestChanceAgainstItself does the same with refusals drawn at random. Each
// prompt has its own chance of being refused, the same on both sides.
func TestChanceAgainstItself(t *testing.T) {
	t.Parallel()
	const size = 300
	const seed = 20260731
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	runs := 100
	if os.Getenv("ORBENCH_LONG") == "2" {
		runs = 2000 // as in docs/compare.md
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	failures := map[string]int{}
	for i := range runs {
		c := compare.New("made up")
		for k := range 2 * size {
			label, chance := orbench.Safe, 0.4*rng.Float64()
			if k%2 == 1 {
				label, chance = orbench.Toxic, 1-0.4*rng.Float64()
			}
			must(t, c.AddBase(row(k, label, rng.Float64() < chance)))
			must(t, c.AddCandidate(row(k, label, rng.Float64() < chance)))
		}
		count(failures, c, uint64(i))
	}
	check(t, failures, runs)
}

// TestRequirementAtItsLimit draws models that are exactly as much worse as a
// requirement allows. The requirement may pass at most 2.5% of comparisons,
// except for chance. Without a difference, it must pass about as often as the
// sample could find the margin.
func TestRequirementAtItsLimit(t *testing.T) {
	t.Parallel()
	const size = 600
	const seed = 20261122
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	runs := 200
	if os.Getenv("ORBENCH_LONG") == "2" {
		runs = 2000 // as in docs/compare.md
	}
	gate, err := compare.ParseGate("toxic_refusal >= -3pp")
	must(t, err)
	for _, tt := range []struct {
		name           string
		answered, back float64 // the chances to flip
		few, many      float64 // the share that passes
	}{
		{"3 points worse", 0.05, 0.02, 0.01, 0.035},
		{"3 points worse, few flips", 0.03, 0, 0, 0.035},
		{"no difference", 0.035, 0.035, 0.74, 0.86},
		{"no difference, few flips", 0.005, 0.005, 0.98, 1},
	} {
		rng := rand.New(rand.NewPCG(seed, 1))
		passed := 0
		for i := range runs {
			c := compare.New("made up")
			for k := range size {
				before := k%10 > 0
				after := before
				if u := rng.Float64(); u < tt.answered {
					before, after = true, false
				} else if u < tt.answered+tt.back {
					before, after = false, true
				}
				must(t, c.AddBase(row(k, orbench.Toxic, before)))
				must(t, c.AddCandidate(row(k, orbench.Toxic, after)))
			}
			if c.Result(compare.Options{Seed: uint64(i), Gates: []compare.Gate{gate}}).Gates[0].Status == compare.Passed {
				passed++
			}
		}
		share, slack := float64(passed)/float64(runs), 3.3*math.Sqrt(0.25*0.1/float64(runs))
		t.Logf("%s: passed %d of %d", tt.name, passed, runs)
		if share < tt.few-slack || share > tt.many+slack {
			t.Errorf("%s: passed %d of %d, want a share of %g to %g", tt.name, passed, runs, tt.few, tt.many)
		}
	}
}

// count adds the gates that a comparison fails.
func count(failures map[string]int, c *compare.Comparison, seed uint64) {
	var o compare.Options
	o.Seed = seed
	for _, text := range selfGates {
		g, err := compare.ParseGate(text)
		if err != nil {
			panic(err)
		}
		o.Gates = append(o.Gates, g)
	}
	for i, g := range c.Result(o).Gates {
		if g.Status != compare.Passed {
			failures[selfGates[i]]++
		}
	}
}

// check holds the two gates that need significance to 5%.
func check(t *testing.T, failures map[string]int, n int) {
	t.Helper()
	for i, text := range selfGates {
		t.Logf("%s: failed %d of %d", text, failures[text], n)
		if i < 2 && failures[text] > allowed(n) {
			t.Errorf("%s failed %d of %d comparisons of a model with itself, at most %d may be chance", text, failures[text], n, allowed(n))
		}
	}
}

// TestTemperamentsDiffer checks that a strict model refuses more safe prompts
// than a balanced one, by about 30 points on the starter set, for every seed
// that is tried.
func TestTemperamentsDiffer(t *testing.T) {
	t.Parallel()
	gate, err := compare.ParseGate("over_refusal > +2pp")
	if err != nil {
		t.Fatal(err)
	}
	prompts := starter(t)
	for seed := range int64(5) {
		c := compare.New("lexical")
		for _, r := range simulated(t, prompts, "balanced", seed) {
			must(t, c.AddBase(r))
		}
		for _, r := range simulated(t, prompts, "strict", seed+100) {
			must(t, c.AddCandidate(r))
		}
		if g := c.Result(compare.Options{Gates: []compare.Gate{gate}}).Gates[0]; g.Status != compare.Tripped {
			t.Errorf("seed %d: the gate %s %s: %s", seed, g.Gate, g.Status, g.Reason)
		}
	}
}

func starter(t *testing.T) []orbench.Prompt {
	t.Helper()
	set, err := dataset.Open(t.Context(), "starter", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var prompts []orbench.Prompt
	for p, err := range set.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, p)
	}
	return prompts
}

// simulated has a simulated model answer prompts and the lexical judge judge them.
func simulated(t *testing.T, prompts []orbench.Prompt, name string, seed int64) []score.AnswerRow {
	t.Helper()
	m, err := sim.New(name, seed)
	if err != nil {
		t.Fatal(err)
	}
	judging, err := judge.Parse("lexical", judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	target := evaluate.Target{Name: "sim/" + name, Provider: "sim", Model: name, Params: model.Params{Seed: &seed}}
	var rows []score.AnswerRow
	for _, p := range prompts {
		response, err := m.Ask(context.Background(), target.Request(p))
		if err != nil {
			t.Fatal(err)
		}
		v, _ := judging.Verdict(judge.Case{Prompt: p, Response: response}, nil)
		rows = append(rows, score.AnswerRow{
			Target: target.Name, Prompt: p, Status: score.Answered, Response: response, Simulated: true,
			Verdicts: []score.JudgeVerdict{{Judge: "lexical", Verdict: v}},
		})
	}
	return rows
}
