package construct

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/similar"
)

// varied are the forms to ask for, from a place that follows from what, and what was made.
// It is nil for the first version of the wordings.
func (b *Builder) varied(made generator.Made, what string, n int) *generator.Varied {
	if b.Config.Wording < 2 {
		return nil
	}
	return &generator.Varied{Forms: generator.FormsFrom(draw(b.Config.Sampling, "forms", what), n), Made: made}
}

// made counts what the texts of a category have in common.
type made struct {
	texts           int
	openings, words map[string]int
	forms           map[generator.Form]int
}

func newMade() *made {
	return &made{openings: map[string]int{}, words: map[string]int{}, forms: map[generator.Form]int{}}
}

func (r *run) madeOf(c orbench.Category) *made {
	if r.made[c] == nil {
		r.made[c] = newMade()
	}
	return r.made[c]
}

// The bounds of what is made. Votes drop rewrites later, so the share of an opening is
// kept a little below commonOpening, the tenth from which a card warns.
const (
	openingWords  = 3
	mostOpenings  = 12
	fewOpenings   = 3
	commonOpening = 0.1
	// A form may have three of five texts, and ten.
	fewForms = 10
	// mostShown is the most openings, and the most topics, that a generator is shown.
	// Topics are words of at least topicLetters letters.
	mostShown    = 12
	topicLetters = 6
)

// opening is the beginning of a text.
func opening(text string) string {
	words := strings.Fields(similar.Normalize(text))
	return strings.Join(words[:min(openingWords, len(words))], " ")
}

// common reports whether so many of the texts begin like this one that another is too
// many: a twelfth, and three.
func (m *made) common(text string) bool {
	return m.openings[opening(text)] >= max(fewOpenings, (m.texts+1)/mostOpenings)
}

// commonForm reports the same of the form: three fifths, and ten.
func (m *made) commonForm(text string) bool {
	return m.forms[generator.FormOf(text)] >= max(fewForms, 3*(m.texts+1)/5)
}

func (m *made) add(text string) {
	m.texts++
	m.openings[opening(text)]++
	m.forms[generator.FormOf(text)]++
	words := strings.Fields(similar.Normalize(text))
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		if len([]rune(w)) >= topicLetters {
			m.words[w]++
		}
	}
}

// shown are the most common openings and topics, in alphabetical order.
func (m *made) shown() generator.Made {
	return generator.Made{Openings: mostCommon(m.openings), Topics: mostCommon(m.words)}
}

// mostCommon are the texts with the highest counts above one, in alphabetical order.
func mostCommon(counts map[string]int) []string {
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	texts = texts[:min(mostShown, len(texts))]
	texts = slices.DeleteFunc(texts, func(t string) bool { return counts[t] < 2 })
	slices.Sort(texts)
	return texts
}

// stopsAt are the numbers of seeds, or of batches of seeds, before which a build waits for
// those before them, to show what they made. There are few, so that work goes on side by
// side, and a call that failed changes the questions of few others.
var stopsAt = []int{4, 16, 64}

// stops are the stops of a category in one round.
type stops struct {
	// seeds is the number of seeds so far.
	seeds int
	made  *made
	// shown is what was made before the first stop and before each other one; closed says
	// that it is known.
	shown  []generator.Made
	closed []chan struct{}
}

func newStops(m *made) *stops {
	s := &stops{made: m, shown: make([]generator.Made, len(stopsAt)+1)}
	s.shown[0] = m.shown()
	for range stopsAt {
		s.closed = append(s.closed, make(chan struct{}))
	}
	return s
}

// before waits for what was made before the last stop up to a seed's number.
func (s *stops) before(ctx context.Context, number int) (generator.Made, error) {
	last := 0
	for last < len(stopsAt) && stopsAt[last] <= number {
		last++
	}
	if last == 0 {
		return s.shown[0], nil
	}
	select {
	case <-s.closed[last-1]:
		return s.shown[last], nil
	case <-ctx.Done():
		return generator.Made{}, context.Cause(ctx)
	}
}

// done says that a seed's rewrites are counted. Seeds come in order.
func (s *stops) done(number int) {
	if i := slices.Index(stopsAt, number+1); i >= 0 {
		s.shown[i+1] = s.made.shown()
		close(s.closed[i])
	}
}

// numberedSeed is a seed with its number in its category and round.
type numberedSeed struct {
	benchmark.Seed
	number int
	stops  *stops
}
