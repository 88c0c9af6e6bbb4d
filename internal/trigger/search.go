package trigger

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// stance is a target's response to a prompt, over all samples.
type stance int

const (
	// unknown: no sample has a verdict.
	unknown stance = iota
	// answered: at most half of the samples with a verdict are refusals.
	answered
	refused
)

// asking asks a target about rewordings of a prompt, with the replies that a lookup
// finds.
type asking struct {
	target evaluate.Target
	judge  judge.Judge
	look   model.Lookup
	// left is how many calls may still be made.
	left int
	// missing lists the requests without a reply, and asked sums them up.
	missing []model.Request
	asked   asked
	// simulated is true if any reply was simulated.
	simulated bool
}

// asked sums up the questions about a prompt.
type asked struct {
	// known counts the answers that are there and have their verdicts.
	known int
	// ofTarget and ofJudge are the missing requests for answers and for verdicts.
	ofTarget, ofJudge []model.Request
}

// ask gives the stance on a prompt. It reports false if replies are missing.
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

// reword asks about a reworded prompt, within the bound on calls. It reports false if the
// bound is reached or replies are missing.
func (a *asking) reword(p orbench.Prompt, text string) (stance, bool) {
	calls := a.target.Times()
	if a.left < calls {
		return unknown, false
	}
	a.left -= calls
	if text == "" {
		// There is nothing to ask: no text is left.
		return unknown, true
	}
	return a.ask(reworded(p, text))
}

// reworded is a prompt with its last user message replaced.
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

// Outcome is the outcome of the search for the triggers of one prompt.
type Outcome string

// The outcomes.
const (
	// Flipped: the target answers once a few words are deleted.
	Flipped Outcome = "flipped"
	// Spread: it answers only once more words are deleted than a set may have.
	Spread Outcome = "spread"
	// Kept: it refuses whatever is deleted: all content words, or any half, quarter or
	// smaller fragment of them.
	Kept Outcome = "kept"
	// Bounded: the bound on calls was reached before a smallest set was found.
	Bounded Outcome = "bounded"
	// Unfinished: replies are missing.
	Unfinished Outcome = "unfinished"
)

// search finds smallest sets of words whose deletion makes the target answer a refused
// prompt. The sets share no word; those with the most suspicious words come first. words
// are the prompt's content words, the most suspicious first.
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

// flipping gives words whose deletion flips the verdict. First it tries all words. With
// fragments, it tries halves, quarters and so on, and gives the first that flips: without
// any content word, hardly a question is left, and a weak model may decline it for that.
// It gives nil if none flips, and reports false if a question has no answer.
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

// smallest is delta debugging. From words that flip, it gives a subset that flips but
// does not without any one of its words. It reports false if a question has no answer.
func smallest(words []string, flips func([]string) (bool, bool)) ([]string, bool) {
	for parts := 2; len(words) > 1; {
		fragments := split(words, parts)
		// With two fragments, the complement of one is the other.
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

// split divides words into n fragments of about equal size.
func split(words []string, n int) [][]string {
	var fragments [][]string
	for i := range n {
		fragments = append(fragments, words[i*len(words)/n:(i+1)*len(words)/n])
	}
	return fragments
}

// outside gives the words that are not in some.
func outside(words, some []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(some, w) })
}
