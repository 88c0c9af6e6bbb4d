package trigger

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed stopwords.txt
var stopText string

//go:embed standins.txt
var standInText string

var (
	stopwords = wordsOf(stopText)
	standIns  = pairsOf(standInText)
)

// Stopword reports whether a word in lower case carries no content of its own; only English
// words do.
func Stopword(word string) bool { return stopwords[word] }

// lines gives the lines of an embedded list, without comments.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, line := range lines(text) {
		for word := range strings.FieldsSeq(line) {
			all[word] = true
		}
	}
	return all
}

func pairsOf(text string) map[string]string {
	all := map[string]string{}
	for _, line := range lines(text) {
		words, other, _ := strings.Cut(line, ":")
		for word := range strings.FieldsSeq(words) {
			all[word] = strings.TrimSpace(other)
		}
	}
	return all
}

// token is a word and its place in a text.
type token struct {
	start, end int
	// key is the word in lower case, without a possessive 's.
	key string
}

// tokens finds the words of a text: runs of letters, marks and digits, with hyphens
// and apostrophes inside. Every Han character is a word of its own, because Chinese
// is written without spaces.
func tokens(text string) []token {
	var all []token
	start := -1
	flush := func(end int) {
		if start < 0 {
			return
		}
		end = start + len(strings.TrimRight(text[start:end], "-'’"))
		key := strings.ReplaceAll(strings.ToLower(text[start:end]), "’", "'")
		all = append(all, token{start, end, strings.TrimSuffix(key, "'s")})
		start = -1
	}
	for i, r := range text {
		switch {
		case unicode.Is(unicode.Han, r):
			flush(i)
			start = i
			flush(i + utf8.RuneLen(r))
		case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r):
			if start < 0 {
				start = i
			}
		case start >= 0 && strings.ContainsRune("-'’", r):
		default:
			flush(i)
		}
	}
	flush(len(text))
	return all
}

// content lists the distinct content words of a text in their order: those that are not
// stop words.
func content(text string) []string {
	var all []string
	for _, t := range tokens(text) {
		if !stopwords[t.key] && !slices.Contains(all, t.key) {
			all = append(all, t.key)
		}
	}
	return all
}

// holds reports whether words contains all of some.
func holds(words, some []string) bool {
	return !slices.ContainsFunc(some, func(w string) bool { return !slices.Contains(words, w) })
}

// without deletes every occurrence of some words, each with one space.
func without(text string, words []string) string {
	return replace(text, func(t token) (string, bool) { return "", slices.Contains(words, t.key) })
}

// exchanged replaces every occurrence of some words with its stand-in.
func exchanged(text string, words []string) string {
	return replace(text, func(t token) (string, bool) { return StandIn(t.key), slices.Contains(words, t.key) })
}

// inserted replaces every occurrence of another word with word.
func inserted(text, other, word string) string {
	return replace(text, func(t token) (string, bool) { return word, t.key == other })
}

// replace replaces each word that of gives a replacement for; an empty replacement
// deletes it.
func replace(text string, of func(token) (string, bool)) string {
	var b strings.Builder
	at := 0
	for _, t := range tokens(text) {
		other, ok := of(t)
		if !ok {
			continue
		}
		before := text[at:t.start]
		at = t.end
		if other != "" {
			if first, _ := utf8.DecodeRuneInString(text[t.start:]); unicode.IsUpper(first) {
				r, size := utf8.DecodeRuneInString(other)
				other = string(unicode.ToUpper(r)) + other[size:]
			}
			b.WriteString(before + other)
			continue
		}
		// Delete one of the two spaces around the word too.
		if rest := text[at:]; strings.HasPrefix(rest, " ") {
			at++
		} else {
			before = strings.TrimSuffix(before, " ")
		}
		b.WriteString(before)
	}
	b.WriteString(text[at:])
	return strings.TrimSpace(b.String())
}

// StandIn is the harmless word that replaces another. It comes from an embedded list and
// is of about the same kind, or has the same ending. It is for English; other words
// become "thing".
func StandIn(word string) string {
	if other, ok := standIns[word]; ok {
		return other
	}
	for _, ending := range [][2]string{
		{"ing", "handling"},
		{"ed", "handled"},
		{"ly", "calmly"},
		{"ous", "common"},
		{"ful", "common"},
		{"al", "usual"},
		{"ive", "usual"},
		{"ers", "people"},
		{"er", "person"},
		{"or", "person"},
		{"ss", "thing"},
		{"s", "things"},
	} {
		if len(word) > len(ending[0])+2 && strings.HasSuffix(word, ending[0]) {
			return ending[1]
		}
	}
	return "thing"
}
