package words

import (
	"unicode"
	"unicode/utf8"
)

// OfPrompt stands before a word of a search that is looked for in prompts alone.
const OfPrompt = "prompt:"

// longestWord is how many bytes of a word count.
const longestWord = 64

// Each passes the words of a text to each, in lower case and in a buffer that is used again.
// A word is letters and digits in a row. In scripts without spaces each letter is a word.
func Each(text string, buffer []byte, each func(word []byte)) []byte {
	word := buffer[:0]
	end := func() {
		if len(word) > 0 {
			each(word[:min(len(word), longestWord)])
			word = word[:0]
		}
	}
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			switch {
			case 'a' <= b && b <= 'z', '0' <= b && b <= '9':
				word = append(word, b)
			case 'A' <= b && b <= 'Z':
				word = append(word, b+'a'-'A')
			default:
				end()
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			end()
			word = utf8.AppendRune(word, r)
			end()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			word = utf8.AppendRune(word, unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return word
}
