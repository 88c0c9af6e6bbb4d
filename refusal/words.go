package refusal

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// A scanner divides text into words and the marks between them, without copying. It folds
// words as it reads them: lower case, no accents, one kind of apostrophe. A word is
// identified by the hash of its folded bytes.
type scanner struct {
	text string
	pos  int
	// lineStart is true while only white space and list marks have been read on the line.
	lineStart bool

	// The rest is the token that next read: its place and, for a word, the hash of its
	// folded bytes.
	start, end int
	hash       uint64
	// stem is the hash of the word without an English possessive ending. For other words
	// it equals hash.
	stem uint64
	// prefix is the hash of the word's first letters. It is the same for most forms of a
	// word.
	prefix uint64
	// runes is the length of a word.
	runes int
}

// prefixLetters is the number of letters in a word's prefix. With it, kill and killing
// differ, but poison, poisons and poisoning do not.
const prefixLetters = 5

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	// tokenStop ends a sentence: a full stop or the like, or a line break.
	tokenStop
	// tokenItem opens a list item: a dash, a bullet, a number with a stop.
	tokenItem
	// tokenFence opens or closes a block of code.
	tokenFence
	// tokenQuote opens or closes a quotation.
	tokenQuote
	// tokenBroken is a fragment of text left by a wrong decoding.
	tokenBroken
	// tokenOther is a mark without meaning here, such as a comma.
	tokenOther
)

// FNV-1a, 64 bits.
const (
	hashSeed  = 14695981039346656037
	hashPrime = 1099511628211
)

func hashWord(folded string) uint64 {
	h := uint64(hashSeed)
	for i := range len(folded) {
		h = (h ^ uint64(folded[i])) * hashPrime
	}
	return h
}

// elision reports whether a word is one that French and Italian join to the next word with
// an apostrophe. Each is a word of its own. English contractions stay whole.
func elision(h uint64, runes int) bool {
	return runes <= 5 && slices.Contains(elisionHashes[:], h)
}

var elisionHashes = [...]uint64{
	hashWord("l"), hashWord("d"), hashWord("j"), hashWord("n"), hashWord("s"), hashWord("c"),
	hashWord("m"), hashWord("t"), hashWord("qu"), hashWord("un"), hashWord("all"), hashWord("dell"),
	hashWord("nell"), hashWord("sull"), hashWord("dall"), hashWord("quest"), hashWord("puisqu"), hashWord("lorsqu"),
}

// next reads one token and gives its kind.
func (s *scanner) next() tokenKind {
	text := s.text
	for s.pos < len(text) {
		start := s.pos
		c := text[start]
		switch {
		case c == ' ':
			s.pos++
		case letterByte[c] != 0:
			if s.lineStart && '0' <= c && c <= '9' {
				if end := listNumber(text, start); end > 0 {
					s.pos = end
					return s.mark(tokenItem, start, end)
				}
			}
			s.lineStart = false
			// Most words are plain letters followed by a blank or a mark. Read them on a
			// fast path.
			h, prefix, i := uint64(hashSeed), uint64(0), start
			for ; i < len(text) && letterByte[text[i]] != 0; i++ {
				h = (h ^ uint64(letterByte[text[i]])) * hashPrime
				if i-start < prefixLetters {
					prefix = h
				}
			}
			if i == len(text) || text[i] >= utf8.RuneSelf || text[i] == '\'' {
				s.word()
				return tokenWord
			}
			s.start, s.end, s.pos = start, i, i
			s.hash, s.stem, s.prefix, s.runes = h, h, prefix, i-start
			return tokenWord
		case c == '\n':
			s.pos++
			s.lineStart = true
			return s.mark(tokenStop, start, s.pos)
		case c == '\t' || c == '\r':
			s.pos++
		case c == '.' || c == '!' || c == '?':
			s.pos++
			if s.pos == len(s.text) || endsSentence(s.text[s.pos]) {
				return s.mark(tokenStop, start, s.pos)
			}
		case c == '-' || c == '*' || c == '+':
			s.pos++
			if s.lineStart && s.pos < len(s.text) && s.text[s.pos] == ' ' {
				return s.mark(tokenItem, start, s.pos)
			}
		case c == '`' && s.lineStart && len(s.text)-start >= 3 && s.text[start:start+3] == "```":
			s.pos += 3
			return s.mark(tokenFence, start, s.pos)
		case c == '"':
			s.pos++
			s.lineStart = false
			return s.mark(tokenQuote, start, s.pos)
		case c < utf8.RuneSelf:
			s.pos++
			if c != '#' && c != '_' && c != '>' {
				s.lineStart = false
			}
			if c < ' ' {
				return s.mark(tokenBroken, start, s.pos)
			}
			return s.mark(tokenOther, start, s.pos)
		default:
			r, size := utf8.DecodeRuneInString(s.text[start:])
			// Unicode calls the modifier apostrophe a letter, but it begins no word here.
			if isLetter(r) && r != 'ʼ' {
				if n := brokenAt(s.text[start:]); n > 0 {
					s.pos += n
					return s.mark(tokenBroken, start, s.pos)
				}
				s.lineStart = false
				s.word()
				return tokenWord
			}
			s.pos += size
			switch {
			case r == utf8.RuneError:
				return s.mark(tokenBroken, start, s.pos)
			case r == '。' || r == '！' || r == '？' || r == '…':
				return s.mark(tokenStop, start, s.pos)
			case r == '•' || r == '●' || r == '–' && s.lineStart:
				return s.mark(tokenItem, start, s.pos)
			case r == '“' || r == '”' || r == '«' || r == '»' || r == '„' || r == '「' || r == '」':
				s.lineStart = false
				return s.mark(tokenQuote, start, s.pos)
			case unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' || r == '\ufe0f':
			default:
				s.lineStart = false
				return s.mark(tokenOther, start, s.pos)
			}
		}
	}
	return s.mark(tokenEnd, s.pos, s.pos)
}

// word reads a word that starts at pos. A Chinese character is a word by itself.
func (s *scanner) word() {
	text, start, i := s.text, s.pos, s.pos
	s.start = start
	h := uint64(hashSeed)
	runes, apostrophe := 0, 0 // apostrophe counts the letters up to and with the last one
	s.stem, s.prefix = 0, 0
	for i < len(text) {
		from := i
		for i < len(text) && letterByte[text[i]] != 0 {
			h = (h ^ uint64(letterByte[text[i]])) * hashPrime
			i++
			if i-start == prefixLetters {
				s.prefix = h
			}
		}
		runes += i - from
		if i == len(text) {
			break
		}
		var size int
		if c := text[i]; c < utf8.RuneSelf {
			if c != '\'' {
				break
			}
			size = 1
		} else {
			r, n := utf8.DecodeRuneInString(text[i:])
			size = n
			if r != '’' && r != 'ʼ' && r != '‘' {
				if unicode.Is(unicode.Mn, r) {
					i += n
					continue
				}
				if isIdeograph(r) {
					if runes == 0 {
						h, runes, i = hashRune(h, r), 1, i+n
					}
					break
				}
				if !isLetter(r) || brokenAt(text[i:]) > 0 {
					break
				}
				h = hashRune(h, r)
				runes++
				i += n
				continue
			}
		}
		// An apostrophe belongs to the word if a letter follows.
		if runes == 0 || !letterAt(text, i+size) {
			break
		}
		if elision(h, runes) {
			s.finish(i, h, runes)
			s.pos = i + size
			return
		}
		s.stem, apostrophe = h, runes+1
		h = (h ^ '\'') * hashPrime
		runes++
		i += size
	}
	// The ending after the apostrophe is a possessive if it is just an s.
	if last := text[max(i, 1)-1]; apostrophe == 0 || runes != apostrophe+1 || last != 's' && last != 'S' {
		s.stem = h
	}
	stem := s.stem
	s.finish(i, h, runes)
	s.stem = stem
	s.pos = i
}

// finish sets the word's hashes.
func (s *scanner) finish(end int, h uint64, runes int) {
	s.end, s.hash, s.stem, s.runes = end, h, h, runes
	if s.prefix == 0 {
		s.prefix = h
	}
}

// foldRune gives the bytes of a letter in lower case and without its accent.
func foldRune(r rune) (buf [utf8.UTFMax]byte, n int) {
	if 0xC0 <= r && r < 0xC0+rune(len(unaccented)) {
		if b := unaccented[r-0xC0]; b != ' ' {
			buf[0], buf[1] = b, 's'
			if r == 'ß' {
				return buf, 2
			}
			return buf, 1
		}
	}
	n = utf8.EncodeRune(buf[:], unicode.ToLower(r))
	return buf, n
}

// hashRune adds a folded letter to a hash.
func hashRune(h uint64, r rune) uint64 {
	buf, n := foldRune(r)
	for _, b := range buf[:n] {
		h = (h ^ uint64(b)) * hashPrime
	}
	return h
}

// unaccented has the base letters of U+00C0 to U+00FF, a space for none.
const unaccented = "aaaaaaaceeeeiiii" + "dnooooo ouuuuy s" + "aaaaaaaceeeeiiii" + "dnooooo ouuuuy y"

// letterByte has the folded form of ASCII letters and digits, 0 for other bytes.
var letterByte = func() (t [256]byte) {
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = c, c
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	return t
}()

// mark makes the token something other than a word.
func (s *scanner) mark(kind tokenKind, start, end int) tokenKind {
	s.start, s.end = start, end
	return kind
}

func isLetter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// isIdeograph reports whether a character is a word by itself: a Chinese character, or a
// Japanese or Korean syllable. Not all words of these two languages are separated.
func isIdeograph(r rune) bool {
	return 0x3400 <= r && r <= 0x9FFF || 0x3041 <= r && r <= 0x30FF || 0xAC00 <= r && r <= 0xD7A3
}

// letterAt reports whether there is a letter at i. An apostrophe before it is then inside
// a word.
func letterAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	if c := s[i]; c < utf8.RuneSelf {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(r)
}

// endsSentence reports whether a full stop before c ends a sentence. It does not in 3.14,
// example.com or e.g.
func endsSentence(c byte) bool {
	switch c {
	case ' ', '\n', '\r', '\t', '"', '\'', ')', '*', '_', '!', '?', '.':
		return true
	}
	return c >= utf8.RuneSelf
}

// listNumber gives the end of a list number such as "3." or "3)" at i, or 0.
func listNumber(s string, i int) int {
	j := i
	for j < len(s) && j < i+3 && '0' <= s[j] && s[j] <= '9' {
		j++
	}
	if j+1 < len(s) && (s[j] == '.' || s[j] == ')') && (s[j+1] == ' ' || s[j+1] == '*') {
		return j + 1
	}
	return 0
}

// brokenAt gives the length of a pair of letters that UTF-8 read as Latin-1 leaves (such
// as Ã©, â€), or 0.
func brokenAt(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r != 'Ã' && r != 'Â' && r != 'â' {
		return 0
	}
	q, m := utf8.DecodeRuneInString(s[n:])
	switch r {
	case 'Ã', 'Â':
		if 0x80 <= q && q <= 0xBF || q == '€' || q == '‚' || q == '„' {
			return n + m
		}
	case 'â':
		if q == '€' || q == 0x80 {
			return n + m
		}
	}
	return 0
}

// wide reports whether the word is written in a script without spaces.
func (s *scanner) wide() bool { return s.text[s.start] >= 0xE3 }
