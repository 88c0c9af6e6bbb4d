package similar

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Normalize removes what does not matter to similarity. It lowers the case, drops
// apostrophes, and replaces every other run of characters that are not letters, marks or
// digits by one space, with none at the ends. In scripts written without spaces every
// letter becomes a word.
func Normalize(text string) string {
	return string(appendNormal(make([]byte, 0, len(text)), text))
}

// appendNormal appends the normalized text.
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

// vocabulary numbers words from 1, in the order in which they arrive. Its zero value is
// empty.
type vocabulary struct {
	numbers map[string]uint32
	normal  []byte // room for a text
}

// add appends the numbers of a text's normalized words.
func (v *vocabulary) add(numbers []uint32, text string) []uint32 {
	if v.numbers == nil {
		v.numbers = map[string]uint32{}
	}
	v.normal = appendNormal(v.normal[:0], text)
	for rest := v.normal; len(rest) > 0; {
		var word []byte
		word, rest, _ = bytes.Cut(rest, []byte{' '})
		number, ok := v.numbers[string(word)]
		if !ok {
			number = uint32(len(v.numbers) + 1)
			v.numbers[string(word)] = number
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// DistinctN is the number of distinct runs of n words in all texts together, divided by
// the number of runs (distinct-n, Li et al. 2016). It is 1 if none occurs twice and near
// 0 if all texts say the same. It is 0 if no text has n words. It falls as a collection
// grows, so compare collections of one size. It panics unless n is positive.
func DistinctN(texts []string, n int) float64 {
	if n < 1 {
		panic("similar: runs of fewer than one word")
	}
	// runs[k] numbers the runs of k+1 words that begin a run of n. The key is the number
	// of the run without its last word, and that word.
	runs := make([]map[[2]uint32]uint32, n)
	for k := range runs {
		runs[k] = map[[2]uint32]uint32{}
	}
	var v vocabulary
	var words []uint32
	total := 0
	for _, t := range texts {
		words = v.add(words[:0], t)
		for ; len(words) >= n; words = words[1:] {
			total++
			run := uint32(0)
			for k, word := range words[:n] {
				next, ok := runs[k][[2]uint32{run, word}]
				if !ok {
					next = uint32(len(runs[k]) + 1)
					runs[k][[2]uint32{run, word}] = next
				}
				run = next
			}
		}
	}
	if total == 0 {
		return 0
	}
	return float64(len(runs[n-1])) / float64(total)
}
