package trigger

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// stance is what a target does with a prompt, over all samples.
type stance int

const (
	// unknown: no sample has a verdict.
	unknown stance = iota
	// answered: at most half of the samples with a verdict are refusals.
	answered
	refused
)

// asking asks a target about wordings of a prompt, with what a lookup finds.
type asking struct {
	target evaluate.Target
	judge  judge.Judge
	look   model.Lookup
	// left is how many calls may still be made.
	left int
	// missing has the requests whose replies a question lacked, and asked sums them up.
	missing []model.Request
	asked   asked
	// simulated is true when any reply was.
	simulated bool
}

// asked sums up what was asked about a prompt.
type asked struct {
	// known counts the answers that are there, with their verdicts.
	known int
	// ofTarget and ofJudge are the requests that are lacking for answers and for verdicts.
	ofTarget, ofJudge []model.Request
}

// ask gives the stance on a prompt. It reports false when replies are lacking.
func (a *asking) ask(p orbench.Prompt) (stance, bool) {
	declined, judged, before := 0, 0, len(a.missing)
	for _, one := range a.target.Each() {
		var row score.AnswerRow
		missing := one.Judged(p, a.judge, &row)(a.look)
		a.missing = append(a.missing, missing...)
		switch {
		case len(missing) == 0:
			a.asked.known++
		case row.Status == score.Unanswered:
			a.asked.ofTarget = append(a.asked.ofTarget, missing...)
		default:
			a.asked.ofJudge = append(a.asked.ofJudge, missing...)
		}
		a.simulated = a.simulated || row.Simulated
		if len(row.Verdicts) == 1 && row.Verdicts[0].Class != orbench.Unjudged {
			judged++
			if row.Verdicts[0].Class.Refused() {
				declined++
			}
		}
	}
	switch {
	case len(a.missing) > before:
		return unknown, false
	case judged == 0:
		return unknown, true
	case 2*declined > judged:
		return refused, true
	}
	return answered, true
}

// reword asks about a prompt in other words, within the bound on calls. It reports
// false when that is exhausted or replies are lacking.
func (a *asking) reword(p orbench.Prompt, text string) (stance, bool) {
	calls := a.target.Times()
	if a.left < calls {
		return unknown, false
	}
	a.left -= calls
	if text == "" {
		// Nothing is left to ask.
		return unknown, true
	}
	return a.ask(reworded(p, text))
}

// reworded is a prompt with another last user message.
func reworded(p orbench.Prompt, text string) orbench.Prompt {
	p.Messages = slices.Clone(p.Messages)
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if p.Messages[i].Role == orbench.User {
			p.Messages[i].Content = text
			break
		}
	}
	p.ID = orbench.PromptIDOf(p.Messages)
	return p
}

// Outcome is what the search for the triggers of one prompt came to.
type Outcome string

// The outcomes.
const (
	// Flipped: the target answers without a few words.
	Flipped Outcome = "flipped"
	// Spread: it answers only without more words than a set may have.
	Spread Outcome = "spread"
	// Kept: it refuses whatever is deleted: every content word, or any half, quarter or
	// smaller fragment of them.
	Kept Outcome = "kept"
	// Bounded: the calls were exhausted before a smallest set was found.
	Bounded Outcome = "bounded"
	// Unfinished: replies are lacking.
	Unfinished Outcome = "unfinished"
)

// search finds smallest sets of words without which a refused prompt is answered:
// sets that share no word, those that hold suspects first. words are its content
// words, the most suspicious first.
func (a *asking) search(p orbench.Prompt, words []string) (sets [][]string, outcome Outcome) {
	flips := func(set []string) (bool, bool) {
		s, ok := a.reword(p, without(p.Text(), set))
		return s == answered, ok
	}
	outcome = Kept
	for len(words) > 0 {
		set, ok := flipping(words, len(sets) == 0, flips)
		if ok && set == nil {
			break
		}
		if ok {
			set, ok = smallest(set, flips)
		}
		if !ok {
			if len(sets) == 0 {
				outcome = Bounded
			}
			break
		}
		if len(set) <= maxSet {
			outcome = Flipped
			sets = append(sets, slices.Sorted(slices.Values(set)))
		} else if outcome == Kept {
			outcome = Spread
		}
		words = outside(words, set)
	}
	if len(a.missing) > 0 {
		return nil, Unfinished
	}
	return sets, outcome
}

// flipping gives words that flip: all of them, or with fragments the first of their
// halves, quarters and so on, since what is left without any content word is hardly a
// question, which a weak model declines for that. It is nil where none does, and
// reports false when a question has no answer.
func flipping(words []string, fragments bool, flips func([]string) (bool, bool)) ([]string, bool) {
	for parts := 1; ; parts = min(2*parts, len(words)) {
		for _, fragment := range split(words, parts) {
			if flip, ok := flips(fragment); !ok || flip {
				return fragment, ok
			}
		}
		if !fragments || parts == len(words) {
			return nil, true
		}
	}
}

// smallest is delta debugging: a subset that flips, and that does not without any
// one of its words, of words that flip. It reports false when a question has no
// answer.
func smallest(words []string, flips func([]string) (bool, bool)) ([]string, bool) {
	for parts := 2; len(words) > 1; {
		fragments := split(words, parts)
		// A fragment alone, or all but a fragment, which of two is the other one.
		tries := slices.Clone(fragments)
		if parts > 2 {
			for _, fragment := range fragments {
				tries = append(tries, outside(words, fragment))
			}
		}
		reduced := false
		for i, try := range tries {
			flip, ok := flips(try)
			if !ok {
				return nil, false
			}
			if flip {
				if words, reduced = try, true; i < len(fragments) {
					parts = 2
				} else {
					parts--
				}
				break
			}
		}
		if !reduced {
			if parts >= len(words) {
				break
			}
			parts *= 2
		}
		parts = min(parts, len(words))
	}
	return words, true
}

// split parts words into n fragments of about one size.
func split(words []string, n int) [][]string {
	var fragments [][]string
	for i := range n {
		fragments = append(fragments, words[i*len(words)/n:(i+1)*len(words)/n])
	}
	return fragments
}

// outside gives the words that are not among some.
func outside(words, some []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(some, w) })
}
