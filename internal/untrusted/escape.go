package untrusted

import (
	"strconv"
	"strings"
	"unicode"
)

// Escape reads the escape that a text begins with, as JSON and programs write them,
// \u0056, \u{56}, \U00000056 and \x56, or as addresses do, %56: the character and the
// escape's length in bytes, 0 for none.
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
