package untrusted

import "strings"

// Marks counts the marks of JSON in a text, such as commas, that are outside of its strings.
func Marks(text []byte, marks string) (n int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && strings.IndexByte(marks, c) >= 0:
			n++
		}
	}
	return n
}
