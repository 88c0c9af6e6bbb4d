package report

import (
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// noRate is the code of the warning that rates are withheld.
const noRate = "no_rate"

// withheld says by reason why a rate is withheld, and what helps.
var withheld = []struct{ since, help string }{
	score.Unjudged: {"too many answers are unjudged", "The page of answers says why, and so does the rationale in a file of verdicts."},
	score.CutShort: {"the token limit cut too many answers before their first word", "Raise the limit of output tokens (max_tokens)."},
	score.NoText:   {"too many are no answers", ""},

	score.NotReached: {"too many calls failed", "The prompts that have answers are not a random sample; the same command asks the others again."},
}

// noRates adds who has no rate.
func (all *warnings) noRates(r score.Result) {
	for run, j := range r.Judged() {
		if !j.Withheld {
			continue
		}
		who, why := nameOf(run), withheld[j.Why()]
		if len(r.Judges()) > 1 {
			who += " by " + table.Name(j.Judge, j.Simulated)
		}
		all.add(noRate, "No rate, since "+why.since, who, why.help, run.Keys(j.Judge))
	}
}
