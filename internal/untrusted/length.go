package untrusted

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Width is the number of terminal columns of a text from Terminal.
func Width(s string) (n int) {
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Shorten makes a text fit into one line of n columns; n is at least 1. It cleans the
// text like Terminal and cuts out the middle of a longer one. The two ends of a model's
// name tell most: the provider, and the size or date.
func Shorten(s string, n int) string {
	s = Terminal(s)
	if Width(s) <= n {
		return s
	}
	runes := []rune(s)
	i, j := 0, len(runes)
	head, tail := 0, 0
	for {
		// Extend the shorter end by a character until the next one does not fit.
		next := runes[i]
		if head > tail {
			next = runes[j-1]
		}
		w := runeWidth(next)
		if head+tail+w+1 > n {
			return string(runes[:i]) + "…" + string(runes[j:])
		}
		if head > tail {
			j, tail = j-1, tail+w
		} else {
			i, head = i+1, head+w
		}
	}
}

// Wrap divides a line from Terminal into lines of at most n columns; n is at least 2. It
// breaks at blanks, and within a word only if the word is longer than a line. Characters
// that join a letter stay with it.
func Wrap(s string, n int) []string {
	var lines []string
	for Width(s) > n {
		// The line ends before the character at end, at the last blank if it has one.
		end, blank, columns := 0, 0, 0
		for i, r := range s {
			if columns += runeWidth(r); columns > n && i > 0 {
				end = i
				if r == ' ' {
					blank = i
				}
				break
			}
			if r == ' ' {
				blank = i
			}
		}
		if strings.TrimSpace(s[:blank]) != "" {
			end = blank
		}
		lines = append(lines, strings.TrimRight(s[:end], " "))
		s = strings.TrimLeft(s[end:], " ")
	}
	return append(lines, s)
}

// Cut ends a text after at most n bytes, at the edge of a character, and reports whether
// there was more. A cut text shares no memory with s, so keeping it does not keep s.
func Cut(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	return strings.Clone(s[:Edge(s, n)]), true
}

// Edge is the start of the character that contains byte i of s, or the end of s if i is
// beyond it.
func Edge(s string, i int) int {
	i = max(0, i)
	if i >= len(s) {
		return len(s)
	}
	// A character has at most four bytes; more continuation bytes are not text.
	for k := range 4 {
		if k <= i && utf8.RuneStart(s[i-k]) {
			return i - k
		}
	}
	return i
}
