package weights

import (
	"math"
	"slices"
)

// The check of one model.
const (
	// Prompts are asked at most, each Times times, for at most Tokens tokens.
	Prompts, Times, Tokens = 20, 2, 64
	// sure is the chance of as many odd answers with the same weights, at most, from which
	// they are other weights, and doubtful that from which one is warned.
	sure, doubtful = .0009, .05
	// early is the median of shared tokens under which answers of one model hardly part.
	early = 16
)

// Answers are three to one prompt: the stored one and two new ones.
type Answers struct {
	Stored string
	New    [Times]string
	// TokenBytes is about how many bytes a token has.
	TokenBytes float64
}

// odd reports whether the stored answer is the odd one out: the new ones share a strictly
// longer beginning with each other than it does with either. Of three answers of one model
// each is as likely to be that, whatever noise parts them, so it happens to a third at most.
// tokens is about how long a beginning the stored answer shares.
func (a Answers) odd() (odd bool, tokens float64) {
	own := max(shared(a.Stored, a.New[0]), shared(a.Stored, a.New[1]))
	return shared(a.New[0], a.New[1]) > own, float64(own) / a.TokenBytes
}

// shared is how many bytes two texts begin with alike.
func shared(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Decision is what a check comes to.
type Decision string

// The decisions. They are kept with a run.
const (
	// Same: nothing tells the weights from those that made the stored answers.
	Same Decision = "same"
	// Doubtful: more stored answers are odd than chance lets expect, but too few, or they part
	// late, as they do on another program or machine.
	Doubtful Decision = "doubtful"
	// Other: other weights.
	Other Decision = "other"
	// Unknown: too few prompts to tell.
	Unknown Decision = "unknown"
)

// Outcome is a check of one model.
type Outcome struct {
	Decision Decision
	// Prompts were compared, and the stored answers of Odd of them are the odd ones out.
	Prompts, Odd int
	// Shared is the median of how many tokens the stored answers share with the nearer of the
	// new ones.
	Shared float64
}

// Decide compares answers.
func Decide(all []Answers) Outcome {
	o := Outcome{Prompts: len(all), Decision: Unknown}
	if math.Pow(1./3, float64(len(all))) > sure {
		return o
	}
	var lengths []float64
	for _, a := range all {
		odd, tokens := a.odd()
		if odd {
			o.Odd++
		}
		lengths = append(lengths, tokens)
	}
	slices.Sort(lengths)
	o.Shared = (lengths[(len(lengths)-1)/2] + lengths[len(lengths)/2]) / 2
	switch p := chance(o.Odd, len(all)); {
	case p <= sure && o.Shared < early:
		o.Decision = Other
	case p <= doubtful:
		o.Decision = Doubtful
	default:
		o.Decision = Same
	}
	return o
}

// chance is that of k or more of n where each has one of a third: the tail of the binomial
// distribution.
func chance(k, n int) float64 {
	const p = 1. / 3
	tail, term := 0., math.Pow(1-p, float64(n))
	for i := range n + 1 {
		if i >= k {
			tail += term
		}
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
	}
	return tail
}
