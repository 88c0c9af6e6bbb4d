package similar

import (
	"math"
	"slices"
)

// bleuOrder is the longest run of words that BLEU counts.
const bleuOrder = 4

// bleuEpsilon replaces the number of matches of an order that has none.
const bleuEpsilon = 0.1

// SelfBLEU is the mean BLEU score of each text with all the others as its
// references (Zhu et al. 2018): 0 when no two texts share a word, 1 when every
// text has a twin. Lower means more varied. It rises with the number of texts,
// so compare collections by samples of one size.
//
// BLEU is the sentence score of Papineni et al. (2002) on the words of Normalize, for runs
// of one to four words with equal weights. If no run of an order matches, the number of
// matches counts as 0.1 (method 1 of Chen and Cherry 2014, as in NLTK). A text that shares
// no word scores 0. A text with fewer words than the order counts as having one run of it.
// The brevity penalty uses the reference of the closest length, the shorter of two.
//
// Of more texts than most, so many are drawn at random: the same ones for the same seed. A
// negative number means all. Texts without words are left out before. SelfBLEU also
// returns the number n of texts that were compared; the score is 0 for fewer than
// two.
func SelfBLEU(texts []string, most int, seed uint64) (score float64, n int) {
	var drawn []string
	for _, t := range texts {
		if Normalize(t) != "" {
			drawn = append(drawn, t)
		}
	}
	if most > 0 {
		drawn = Sample(drawn, most, seed)
	}
	if len(drawn) < 2 {
		return 0, len(drawn)
	}

	c := bleuCounts{most: map[run]twoMost{}}
	var v vocabulary
	sentences := make([][]uint32, len(drawn))
	for i, t := range drawn {
		sentences[i] = v.add(nil, t)
		c.add(i, sentences[i])
	}
	slices.Sort(c.lengths)
	sum := 0.0
	for i, s := range sentences {
		sum += c.score(i, s)
	}
	return sum / float64(len(sentences)), len(sentences)
}

// run is one to four words, followed by zeros.
type run [bleuOrder]uint32

// twoMost has the two highest counts of a run within one text, and the text with the
// highest. So the highest count among all texts but one is known for every text.
type twoMost struct{ first, second, text int }

// bleuCounts holds what all texts share as references.
type bleuCounts struct {
	most    map[run]twoMost
	lengths []int
}

// runsOf counts the runs of n words in a sentence.
func runsOf(sentence []uint32, n int) map[run]int {
	counts := map[run]int{}
	for i := 0; i+n <= len(sentence); i++ {
		var g run
		copy(g[:], sentence[i:i+n])
		counts[g]++
	}
	return counts
}

func (c *bleuCounts) add(text int, sentence []uint32) {
	c.lengths = append(c.lengths, len(sentence))
	for n := 1; n <= bleuOrder; n++ {
		for g, count := range runsOf(sentence, n) {
			m := c.most[g]
			switch {
			case count > m.first:
				m = twoMost{first: count, second: m.first, text: text}
			case count > m.second:
				m.second = count
			}
			c.most[g] = m
		}
	}
}

// score is the BLEU score of a text against all the others.
func (c *bleuCounts) score(text int, sentence []uint32) float64 {
	logs := 0.0
	for n := 1; n <= bleuOrder; n++ {
		matches := 0
		for g, count := range runsOf(sentence, n) {
			m := c.most[g]
			if m.text == text {
				matches += min(count, m.second)
			} else {
				matches += min(count, m.first)
			}
		}
		if matches == 0 && n == 1 {
			return 0
		}
		precision := float64(matches)
		if matches == 0 {
			precision = bleuEpsilon
		}
		logs += math.Log(precision / float64(max(1, len(sentence)-n+1)))
	}
	penalty := 1.0
	if r := c.closest(len(sentence)); r > len(sentence) {
		penalty = math.Exp(1 - float64(r)/float64(len(sentence)))
	}
	return penalty * math.Exp(logs/bleuOrder)
}

// closest is the length closest to n among those of all texts except one of n words.
func (c *bleuCounts) closest(n int) int {
	at, _ := slices.BinarySearch(c.lengths, n)
	// at is the position of the first text of n words, which may be the one to leave out.
	// So the others start before and after it.
	switch {
	case at == 0:
		return c.lengths[1]
	case at == len(c.lengths)-1:
		return c.lengths[at-1]
	case c.lengths[at+1]-n < n-c.lengths[at-1]:
		return c.lengths[at+1]
	default:
		return c.lengths[at-1]
	}
}
