package untrusted

import (
	"strconv"
	"strings"
	"unicode"
)

// Escape reads the escape at the start of a text, in the form of JSON and programs
// (\u0056, \u{56}, \U00000056, \x56) or of addresses (%56). It gives the character and
// the escape's length in bytes, 0 if there is none.
func Escape(s string) (r rune, size int) {
	start, digits, end := 0, 0, 0
	switch {
	case strings.HasPrefix(s, "%"):
		start, digits = 1, 2
	case strings.HasPrefix(s, `\x`):
		start, digits = 2, 2
	case strings.HasPrefix(s, `\u{`):
		start, digits, end = 3, strings.IndexByte(s[3:min(len(s), 11)], '}'), 1
	case strings.HasPrefix(s, `\u`):
		start, digits = 2, 4
	case strings.HasPrefix(s, `\U`):
		start, digits = 2, 8
	}
	if digits < 1 || len(s) < start+digits {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[start:start+digits], 16, 32)
	if err != nil || n > unicode.MaxRune {
		return 0, 0
	}
	return rune(n), start + digits + end
}
