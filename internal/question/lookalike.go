package question

import (
	_ "embed"
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/orbench/orbench/internal/untrusted"
)

// A model that copies a text may clean it up: it writes plain letters instead of
// full-width ones, drops invisible characters and resolves entities. A disguised marker
// in the text is then a plain one in the reply. So the test is not whether the text
// contains the marker, but whether any reading of it does.

// disguised reports whether a reader may find the word in a text at the start of a word.
// Its letters may be other characters that look like them or stand for them; invisible
// characters, punctuation or spaces may stand in between; or they may be written as
// entities, escapes or HTML tags. word is in lower case.
func disguised(word, text string) bool {
	if tagged := tagText(text); tagged != "" && spells(word, tagged) {
		return true
	}
	// The result can again contain something to resolve, such as &amp;#86;.
	for range 4 {
		before := text
		text = unescape(html.UnescapeString(decomposed(text)))
		if text == before {
			break
		}
	}
	if spells(word, text) {
		return true
	}
	return strings.Contains(text, "<") && spells(word, withoutTags(text))
}

// decomposed replaces compatible characters, such as those of full width, by plain
// letters, with their marks as separate characters. It drops characters that show
// nothing.
func decomposed(s string) string {
	if foreign(s) < 0 {
		return s
	}
	var b strings.Builder
	for i := foreign(s); i >= 0; i = foreign(s) {
		b.WriteString(s[:i])
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.Is(ideographs, r):
			b.WriteString(s[i : i+size])
		case !ignorable(r):
			d := norm.NFKD.PropertiesString(s[i:]).Decomposition()
			if d == nil {
				b.WriteString(s[i : i+size])
			}
			b.Write(d)
		}
		s = s[i+size:]
	}
	b.WriteString(s)
	return b.String()
}

// foreign returns the index of the first byte that is not ASCII, or -1.
func foreign(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return i
		}
	}
	return -1
}

// ideographs are scripts that are common in texts and have nothing like a Latin letter,
// so their characters need no look-up.
var ideographs = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x3400, Hi: 0x9FFF, Stride: 1}, {Lo: 0xAC00, Hi: 0xD7A3, Stride: 1}}}

// ignorable reports whether a character shows nothing. It is Unicode's
// Default_Ignorable_Code_Point, derived as in DerivedCoreProperties.txt.
func ignorable(r rune) bool {
	if !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf) {
		return false
	}
	annotates, joins := 0xFFF9 <= r && r <= 0xFFFB, 0x13430 <= r && r <= 0x1345F // of Egyptian signs
	return !annotates && !joins && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// tagText is the ASCII text that the invisible tag characters of a text spell.
func tagText(s string) string {
	const first, last = 0xE0020, 0xE007E
	if !strings.Contains(s, "\xf3\xa0") {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < first || r > last {
			return -1
		}
		return r - first + ' '
	}, s)
}

// withoutTags removes anything that looks like HTML tags and comments.
func withoutTags(s string) string {
	const longest = 80
	var b strings.Builder
	for {
		before, rest, more := strings.Cut(s, "<")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		end := strings.IndexByte(rest[:min(len(rest), longest)], '>')
		s = rest[end+1:]
	}
}

// unescape resolves the escapes that untrusted.Escape reads.
func unescape(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; ; i++ {
		next := strings.IndexAny(s[i:], `\%`)
		if next < 0 {
			break
		}
		i += next
		if r, size := untrusted.Escape(s[i:]); size > 0 {
			b.WriteString(s[done:i])
			b.WriteRune(r)
			done = i + size
			i = done - 1
		}
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// spells reports whether a text has the word's letters in sequence, at the start of a
// word and within one line, with only characters in between that are neither letters nor
// digits.
func spells(word, text string) bool {
	first := letterOf(rune(word[0]))
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		switch {
		case r >= utf8.RuneSelf:
			r, size = utf8.DecodeRuneInString(text[i:])
		case asciiLetters[r] != first:
			i++
			continue
		}
		if letterOf(r) == first && !inWord(text[:i]) && begins(word, text[i:]) {
			return true
		}
		i += size
	}
	return false
}

// inWord reports whether text after before would continue a word.
func inWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return !isSign(r) // at the start it is RuneError, which is a sign
}

// begins reports whether a text begins with the word; see spells.
func begins(word, text string) bool {
	at, bySign := 0, false
	for _, r := range text {
		l := letterOf(r)
		switch {
		case l == letterOf(rune(word[at])):
			at, bySign = at+1, isSign(r)
			if at == len(word) {
				return true
			}
		case l == '\n':
			return false
		case l == 0 || isSign(r):
		case bySign && l == letterOf(rune(word[at-1])):
			// The sign stood between letters and did not stand for one.
			bySign = false
		default:
			return false
		}
	}
	return false
}

// isSign reports whether a character that stands for a letter may also stand for none.
func isSign(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// other stands for letters and digits that do not look like a Latin letter.
const other = 1

// letterOf gives the lower-case Latin letter that a character looks like or stands for.
// It gives '\n' for a line end, other for letters and digits unlike any, and 0 for
// characters that are neither letters nor digits.
func letterOf(r rune) byte {
	if r < utf8.RuneSelf {
		return asciiLetters[r]
	}
	if unicode.Is(ideographs, r) {
		return other
	}
	if l, ok := lookalikes[r]; ok {
		return l
	}
	lower := unicode.ToLower(r)
	if l, ok := lookalikes[lower]; ok {
		return l
	}
	switch {
	case lower < utf8.RuneSelf:
		return asciiLetters[lower]
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return other
	}
	return 0
}

//go:embed lookalikes.txt
var lookalikeTable string

var asciiLetters, lookalikes = letters()

func letters() (ascii [utf8.RuneSelf]byte, further map[rune]byte) {
	ascii['\n'] = '\n'
	for r := '0'; r <= '9'; r++ {
		ascii[r] = other
	}
	for r := 'a'; r <= 'z'; r++ {
		ascii[r], ascii[unicode.ToUpper(r)] = byte(r), byte(r)
	}
	// Letters that are easily confused, and digits and signs that replace letters.
	for sign, letter := range map[rune]byte{
		'l': 'i', 'L': 'i', '1': 'i', '|': 'i', '!': 'i', '0': 'o', '3': 'e', '4': 'a', '@': 'a', '5': 's', '$': 's', '7': 't', '(': 'c',
	} {
		ascii[sign] = letter
	}
	further = map[rune]byte{}
	for line := range strings.Lines(lookalikeTable) {
		if letter, codes, ok := strings.Cut(strings.TrimSpace(line), " "); ok && len(letter) == 1 && letter != "#" {
			for code := range strings.FieldsSeq(codes) {
				n, err := strconv.ParseUint(code, 16, 32)
				if err != nil {
					panic("question: lookalikes.txt: " + err.Error())
				}
				further[rune(n)] = letter[0]
			}
		}
	}
	return ascii, further
}
