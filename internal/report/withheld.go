package report

import (
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/score"
)

// noRates lists who has no rate, by the reason why it is withheld.
type noRates [score.NotReached + 1][]string

// add adds who, once, if the rate by a judge is withheld.
func (n *noRates) add(j score.JudgeResult, who string) {
	if j.Withheld && !slices.Contains(n[j.Why()], who) {
		n[j.Why()] = append(n[j.Why()], who)
	}
}

// lines say who has no rate, why, and what helps.
func (n noRates) lines() (lines []string) {
	for why, text := range []struct{ since, help string }{
		score.Unjudged: {"too many answers are unjudged", "The page of answers says why, and so does the rationale in a file of verdicts."},
		score.CutShort: {"the token limit cut too many answers before their first word", "Raise the limit of output tokens (max_tokens)."},
		score.NoText:   {"too many are no answers", ""},

		score.NotReached: {"too many calls failed", "The prompts that have answers are not a random sample; the same command asks the others again."},
	} {
		if who := n[why]; len(who) > 0 {
			lines = append(lines, "No rate, since "+text.since+": "+strings.Join(who, ", ")+strings.TrimSpace(". "+text.help))
		}
	}
	return lines
}
