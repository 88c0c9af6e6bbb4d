package guard

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench/model"
)

// topLogprobs is the number of tokens requested at each position; servers allow at least
// 5.
const topLogprobs = 5

// scored reports whether probabilities are requested.
func (g Guard) scored() bool {
	return slices.Contains(g.Format.traits().Settings, "scores") && (g.Scores || g.Threshold != nil)
}

// decide sets the score, if one is asked for, and the verdict by the threshold, if there is
// one.
func (g Guard) decide(a *Assessment, about About, reply model.Response) error {
	if about == Refusal {
		return nil
	}
	if g.scored() {
		a.Score = g.score(about, reply.Logprobs)
	}
	switch {
	case g.Threshold == nil:
	case a.Score == nil:
		return errors.New("its server gave no probabilities, but the threshold needs them")
	default:
		a.set(about, *a.Score >= *g.Threshold)
	}
	return nil
}

// score is the probability of the guard's word for harm, as a share of the probabilities
// of its words for harm and for no harm. It is taken at the position of that word, and is
// nil if the server's positions have no such word.
func (g Guard) score(about About, places []model.Place) *float64 {
	t := g.Format.traits()
	l := t.Lines[slices.IndexFunc(t.Lines, func(l line) bool { return l.About == about || l.About == "" })]
	text := ""
	for _, p := range places {
		before, word := strings.ToLower(strings.TrimSpace(text)), strings.TrimSpace(p.Token)
		text += p.Token
		here := l.Label != "" && strings.HasSuffix(before, l.Label+":") ||
			l.Label == "" && before == "" && !strings.HasPrefix(word, "<") ||
			t.Reply == "score" && strings.HasSuffix(before, "<score>")
		if !here || word == "" {
			continue
		}
		var yes, no float64
		for _, top := range p.Top {
			token := strings.ToLower(strings.TrimSpace(top.Token))
			begins := func(w string) bool { return token != "" && strings.HasPrefix(w, token) }
			switch {
			case slices.ContainsFunc(l.Yes, begins), g.Strict && begins(l.Between):
				yes += math.Exp(top.Logprob)
			case slices.ContainsFunc(l.No, begins), begins(l.Between):
				no += math.Exp(top.Logprob)
			}
		}
		if s := yes / (yes + no); s >= 0 && s <= 1 {
			return &s
		}
		return nil
	}
	return nil
}
