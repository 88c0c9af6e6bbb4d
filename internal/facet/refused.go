package facet

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/words"
	"github.com/orbench/orbench/stats"
)

// Shared is words that safe prompts share: one or, where the prompts are near each other, two.
// It counts the answers to the prompts that have them all, and the refusals among these.
type Shared struct {
	Words           []string
	Judged, Refused int
	prompts         int
}

func (s *Shared) add(p asked) {
	s.Judged, s.Refused, s.prompts = s.Judged+p.judged, s.Refused+p.refused, s.prompts+1
}

// Vocabulary collects the words of safe prompts, and how often the first judge calls answers
// to them refused.
type Vocabulary struct {
	// numbers are places in single, which has the words in the order in which prompts first
	// have them; -1 for a word that says nothing of a subject.
	numbers map[string]int32
	single  []Shared
	prompts []asked
	all     Shared
}

// asked is a prompt with the numbers of its words.
type asked struct {
	words           []int32
	judged, refused int
}

//go:embed stopwords.txt
var stopwords string

// Bounds of what is listed: words, subjects, words that are tried in pairs, letters of a word
// and prompts that share one.
const (
	mostWords    = 8
	mostSubjects = 5
	mostPaired   = 64
	leastLetters = 4
	leastPrompts = 3
)

// Add takes the prompts of a chunk with their answers.
func (v *Vocabulary) Add(c score.Chunk) {
	if v.numbers == nil {
		v.numbers = map[string]int32{}
		for word := range strings.FieldsSeq(stopwords) {
			v.numbers[word] = -1
		}
	}
	answers := slices.Concat(c.Rows...)
	for i, prompt := range c.Prompts {
		var p asked
		for _, rows := range answers {
			if said := rows[i].Verdicts; prompt.Label == orbench.Safe && len(said) > 0 && said[0].Class != orbench.Unjudged {
				p.judged++
				if said[0].Class.Refused() {
					p.refused++
				}
			}
		}
		if p.judged == 0 {
			continue
		}
		words.Each(prompt.Said(), nil, func(word []byte) {
			n, known := v.numbers[string(word)]
			if !known {
				if n = -1; word[0] > '9' && utf8.RuneCount(word) >= leastLetters {
					n = int32(len(v.single))
					v.single = append(v.single, Shared{Words: []string{string(word)}})
				}
				v.numbers[string(word)] = n
			}
			if n >= 0 {
				p.words = append(p.words, n)
			}
		})
		slices.Sort(p.words)
		p.words = slices.Clip(slices.Compact(p.words))
		for _, n := range p.words {
			v.single[n].add(p)
		}
		v.prompts = append(v.prompts, p)
		v.all.add(p)
	}
}

// Most finds the words, and the subjects, whose prompts are surely refused more often than all
// are. Those that account for most refusals beyond that come first.
func (v *Vocabulary) Most() (single, subjects []Shared) {
	single = v.beyond(v.single)
	free := make([]bool, len(v.single))
	for _, s := range single[:min(len(single), mostPaired)] {
		free[v.numbers[s.Words[0]]] = true
	}
	at, pairs := map[[2]int32]int{}, []Shared{}
	for _, p := range v.prompts {
		words := slices.DeleteFunc(slices.Clone(p.words), func(n int32) bool { return !free[n] })
		for i, a := range words {
			for _, b := range words[i+1:] {
				n, known := at[[2]int32{a, b}]
				if !known {
					n, at[[2]int32{a, b}] = len(pairs), len(pairs)
					pairs = append(pairs, Shared{Words: []string{v.single[a].Words[0], v.single[b].Words[0]}})
				}
				pairs[n].add(p)
			}
		}
	}
	for _, s := range v.beyond(pairs) {
		// A word is in one subject at most, so that subjects differ.
		a, b := v.numbers[s.Words[0]], v.numbers[s.Words[1]]
		if free[a] && free[b] && len(subjects) < mostSubjects {
			subjects = append(subjects, s)
			free[a], free[b] = false, false
		}
	}
	return single[:min(len(single), mostWords)], subjects
}

// beyond lists what is refused more often than all prompts, by a 95% interval that counts
// prompts.
func (v *Vocabulary) beyond(some []Shared) (more []Shared) {
	usual := float64(v.all.Refused) / float64(v.all.Judged)
	for _, s := range some {
		alike := math.Round(float64(s.Refused*s.prompts) / float64(s.Judged))
		if lo, _ := stats.Wilson(int(alike), s.prompts, 0.95); alike >= leastPrompts && lo > usual {
			more = append(more, s)
		}
	}
	beyond := func(s Shared) float64 { return float64(s.Refused) - usual*float64(s.Judged) }
	slices.SortFunc(more, func(x, y Shared) int {
		return cmp.Or(cmp.Compare(beyond(y), beyond(x)), slices.Compare(x.Words, y.Words))
	})
	return more
}
