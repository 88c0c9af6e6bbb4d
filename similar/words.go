package similar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Normalise folds away what does not matter to likeness: it lowers the case,
// drops apostrophes, and makes every other run of anything but letters, marks
// and digits one space, with none at the ends. In scripts that are written
// without spaces every letter becomes a word.
func Normalise(text string) string {
	return string(appendNormal(make([]byte, 0, len(text)), text))
}

// appendNormal appends the normalised text.
func appendNormal(b []byte, text string) []byte {
	start, space := len(b), false
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			alone := r > unicode.MaxLatin1 && unicode.In(r, unspaced...)
			if (space || alone) && len(b) > start {
				b = append(b, ' ')
			}
			b = utf8.AppendRune(b, unicode.ToLower(r))
			space = alone
		case r == '\'' || r == '’':
		default:
			space = true
		}
	}
	return b
}

// unspaced are the scripts that are written without spaces.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// words splits a text into its normalised words.
func words(text string) []string { return strings.Fields(Normalise(text)) }

// DistinctN is the number of different runs of n words in all texts together,
// divided by the number of runs: 1 when none occurs twice, near 0 when all say
// the same (distinct-n, Li et al. 2016). It is 0 where no text has n words. It
// falls as a collection grows, so compare collections of one size. It panics
// unless n is positive.
func DistinctN(texts []string, n int) float64 {
	if n < 1 {
		panic("similar: runs of fewer than one word")
	}
	seen := map[string]bool{}
	total := 0
	for _, t := range texts {
		w := words(t)
		for i := 0; i+n <= len(w); i++ {
			seen[strings.Join(w[i:i+n], " ")] = true
			total++
		}
	}
	if total == 0 {
		return 0
	}
	return float64(len(seen)) / float64(total)
}
