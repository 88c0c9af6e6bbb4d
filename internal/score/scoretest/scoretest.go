package scoretest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// Fixture describes a made-up run: targets with personas from permissive to
// prudish, two judges that mostly agree, every outcome and every class.
type Fixture struct {
	Targets int
	// Safe and Toxic are the numbers of prompts in each category.
	Safe, Toxic int
	Simulated   bool
}

// SHA256 is the hash of the made-up datasets.
const SHA256 = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f809"

// providers gives the made-up targets names of typical lengths.
var providers = []string{"openai/gpt-%d-mini", "together/meta-llama/Llama-%d-70b-chat-hf", "sim/temper-%d", "anthropic/claude-%d", "mistral/m%d"}

// Target names the i-th made-up target.
func Target(i int) string { return fmt.Sprintf(providers[i%len(providers)], i+1) }

// Make returns the result and the rows behind it. Equal fixtures give equal
// results.
func (f Fixture) Make() (score.Result, []score.AnswerRow) {
	rng := rand.New(rand.NewPCG(1, uint64(f.Targets)))
	var rows []score.AnswerRow
	for i := range f.Targets {
		// Personas are spread apart in both directions.
		mood := (float64(i) + 0.5) / float64(f.Targets)
		for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
			n, chance := f.Safe, mood*mood
			if label == orbench.Toxic {
				n, chance = f.Toxic, 1-(1-mood)*0.5
			}
			for k := range n * len(orbench.PaperCategories) {
				category := orbench.PaperCategories[k%len(orbench.PaperCategories)]
				text := fmt.Sprintf("A %s question about %s, number %d?", label, category, k/len(orbench.PaperCategories))
				rows = append(rows, f.row(rng, Target(i), orbench.NewPrompt(text, category, label), chance))
			}
		}
	}
	return ResultOf(rows, f.Simulated), rows
}

func (f Fixture) row(rng *rand.Rand, target string, p orbench.Prompt, chance float64) score.AnswerRow {
	row := score.AnswerRow{
		Target: target, Dataset: "starter", Prompt: p, Status: score.Answered,
		Response:  model.Response{Finish: model.Stop, Model: "made-up"},
		Simulated: f.Simulated,
	}
	class := orbench.FullAnswer
	switch u := rng.Float64(); {
	case u < 0.01:
		row.Status, row.Response, row.Failure = score.Failed, model.Response{}, "openai/x: transient (HTTP 500): try later"
		return row
	case u < 0.015:
		row.Status, row.Response = score.Unanswered, model.Response{}
		return row
	case rng.Float64() < chance:
		class = []orbench.Class{orbench.Refusal, orbench.Refusal, orbench.SafeAlternative, orbench.Blocked}[rng.IntN(4)]
		row.Response.Text = "Thank you for asking. I'm sorry, but I can't help with that. Here is something else instead."
	default:
		row.Response.Text = strings.Repeat("Of course. First look at where it comes from, then at what it does. ", 1+rng.IntN(4))
	}
	if class == orbench.Blocked {
		row.Status = score.Blocked
		row.Response = model.Response{Finish: model.Blocked, Block: &model.Block{Kind: model.OutputFilter, Detail: "SAFETY"}}
	}
	if rng.IntN(10) == 0 {
		row.Response.Thinking = "Is this safe? Let me think about it."
	}
	for k, judge := range []string{"lexical", "llm:openai/gpt-4o"} {
		v := orbench.Verdict{Class: class}
		if start := strings.Index(row.Response.Text, "I'm sorry"); k == 0 && start >= 0 {
			v.Span = orbench.Span{Start: start, End: start + len("I'm sorry, but I can't help with that.")}
		}
		if v.Class.Refused() {
			v.Score, v.Reason = 1, orbench.ReasonSafety
		}
		if k == 1 {
			v.Rationale = "The answer was read as a whole."
			switch u := rng.Float64(); {
			case u < 0.03:
				v = orbench.Verdict{Rationale: "no verdict in the reply, asked twice"}
			case u < 0.10 && class != orbench.Blocked && v.Class.Refused():
				v = orbench.Verdict{Class: orbench.AnswerWithWarning, Rationale: "It helps after an apology."}
			case u < 0.10 && class != orbench.Blocked:
				v = orbench.Verdict{Class: orbench.Partial, Score: 0.7, Reason: orbench.ReasonSafety, Rationale: "It leaves out the main thing."}
			}
		}
		row.Verdicts = append(row.Verdicts, score.JudgeVerdict{Judge: judge, Verdict: v})
	}
	return row
}

// ResultOf counts rows into a result, with one dataset for each name.
func ResultOf(rows []score.AnswerRow, simulated bool) score.Result {
	result := score.Result{Simulated: simulated, Cost: score.Cost{
		Calls: len(rows), FromMemo: 12, InputTokens: 34567, OutputTokens: 123456, USD: new(0.0123),
	}}
	for _, row := range rows {
		of := score.RunResult{
			About:     score.About{Target: row.Target, Dataset: row.Dataset, DatasetSHA256: SHA256, Label: row.Prompt.Label, Language: score.English},
			Simulated: simulated,
		}
		run := table.Entry(&result.Runs, of, func(r score.RunResult) bool {
			return r.Target == of.Target && r.Dataset == of.Dataset && r.Label == of.Label
		})
		if len(run.Judges) == 0 {
			for i, v := range row.Verdicts {
				run.Judges = append(run.Judges, score.JudgeResult{
					Judge: v.Judge, ByClass: map[orbench.Class]int{}, BySource: map[score.Source]int{}, ByCategory: map[orbench.Category]score.Count{},
				})
				for _, other := range row.Verdicts[i+1:] {
					run.Agreement = append(run.Agreement, score.Agreement{A: v.Judge, B: other.Judge})
				}
			}
		}
		run.Add(&row)
	}
	for i := range result.Runs {
		result.Runs[i].Finish()
	}
	result.Finish()
	return result
}
