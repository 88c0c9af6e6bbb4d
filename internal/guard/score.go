package guard

import (
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench/model"
)

// topLogprobs is the number of tokens requested at each position; servers allow at least
// 5.
const topLogprobs = 5

// scored reports whether probabilities are requested.
func (g Guard) scored() bool { return g.Format.words() && (g.Scores || g.Threshold != nil) }

// score is the probability of the guard's word for harm, as a share of the probabilities
// of its words for harm and for no harm. It is taken at the position of that word, and is
// nil if the server's positions have no such word.
func (g Guard) score(about About, places []model.Place) *float64 {
	l := g.harmLine(about)
	before, harm, none := "", []string{l.Yes}, []string{l.No}
	if l.Label != "" {
		before = l.Label + ":"
	}
	if g.Strict {
		harm = append(harm, l.Between)
	} else {
		none = append(none, l.Between)
	}
	text := ""
	for _, p := range places {
		said := strings.ToLower(strings.TrimSpace(text))
		text += p.Token
		// Granite Guardian may put its word between tags.
		scored := g.Format.traits().Reply == "score" && strings.HasSuffix(said, "<score>")
		if word := strings.TrimSpace(p.Token); word == "" || strings.HasPrefix(word, "<") && before == "" || !scored && (before == "" && said != "" || !strings.HasSuffix(said, before)) {
			continue
		}
		var yes, no float64
		for _, t := range p.Top {
			switch word := strings.ToLower(strings.TrimSpace(t.Token)); {
			case begins(word, harm):
				yes += math.Exp(t.Logprob)
			case begins(word, none):
				no += math.Exp(t.Logprob)
			}
		}
		if s := yes / (yes + no); s >= 0 && s <= 1 {
			return &s
		}
		return nil
	}
	return nil
}

// begins reports whether a token is one of the words, or the beginning of one.
func begins(token string, words []string) bool {
	return token != "" && slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, token) })
}

// harmLine is the line with the guard's word on harm.
func (g Guard) harmLine(about About) line {
	lines := g.Format.traits().Lines
	return lines[slices.IndexFunc(lines, func(l line) bool { return l.About == about || l.About == "" })]
}
