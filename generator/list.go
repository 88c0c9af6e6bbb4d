package generator

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench/model"
)

// List reads the items of a reply that was asked for a list. cut says that the
// token limit ended the reply; then an item that may be incomplete is left out.
//
// Models do not always keep to the form they were asked for, so all the usual
// ones are known. A reply is read in one form only, the first of these that it
// holds an item in:
//
//  1. JSON: a list, or an object or lines of objects, whose strings are the items;
//     of an object only the fields whose name says so ("prompt", "text", "1")
//  2. double brackets [[…]], on one line or over several
//  3. guillemets «…» or ‹…›
//  4. single brackets […], where a line holds nothing else
//  5. numbered lines: 1. or 1) or (1) or 1: or #1 or "Prompt 1:", also several on
//     one line; a heading that ends in a colon is no item
//  6. lines with a bullet
//  7. lines in quotation marks
//
// Introductions, remarks and fences of code are left out. A paragraph in none of
// the forms is no item, and a list that a refusal introduces is none of forms 5
// to 7, so a refusal yields nothing. Items come as one line each: without quotes,
// Markdown, control characters and double spaces around or in them, and never
// empty. Thinking before the answer is not read.
func List(reply string, cut bool) []string {
	reply, _ = model.CutThinking(reply)
	reply = unfence(strings.ToValidUTF8(reply, "\uFFFD"))
	if items := jsonItems(reply, cut); len(items) > 0 {
		return items
	}
	if items := clean(doubleBracketed(reply, cut)); len(items) > 0 {
		return items
	}
	for _, marks := range [][2]rune{{'«', '»'}, {'‹', '›'}} {
		if items := clean(enclosed(reply, marks[0], marks[1])); len(items) > 0 {
			return items
		}
	}
	lines := strings.Split(reply, "\n")
	if items := clean(bracketed(lines)); len(items) > 0 {
		return items
	}
	for _, marker := range []func(string) (string, int, bool){numbered, bulleted} {
		if items := clean(listed(lines, marker, cut)); len(items) > 0 {
			return items
		}
	}
	return clean(quoted(lines))
}

// unfence parts a reply into lines of one kind and takes the fences of code
// blocks off, with the name of a language.
func unfence(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n").Replace(s)
	if !strings.Contains(s, "```") {
		return s
	}
	parts := strings.Split(s, "```")
	for i := 1; i < len(parts); i += 2 {
		for _, language := range []string{"json", "text", "markdown", "python", "plaintext", "md", "txt"} {
			if rest, ok := strings.CutPrefix(parts[i], language); ok && (rest == "" || rest[0] == '\n' || rest[0] == ' ') {
				parts[i] = rest
				break
			}
		}
	}
	return strings.Join(parts, "\n")
}

// doubleBracketed finds what stands in double brackets. Models forget a closing
// bracket now and then: an item also ends where the next one's brackets begin, at
// a single closing bracket that ends its line, and, unless the reply was cut, at
// the end of the line when nothing else ends it.
func doubleBracketed(s string, cut bool) []string {
	var items []string
	at := strings.Index(s, "[[")
	for at >= 0 {
		start := at + len(s[at:]) - len(strings.TrimLeft(s[at:], "["))
		end, next := closeBracket(s, start)
		switch {
		case end >= 0:
			items = append(items, s[start:end])
		case next >= 0:
			items = append(items, firstLine(s[start:next]))
		case !cut:
			items = append(items, firstLine(s[start:]))
		}
		if next < 0 {
			break
		}
		at = next
	}
	return items
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// closeBracket finds the end of the item that starts at start, or -1, and where
// the brackets of the next item begin, or -1.
func closeBracket(s string, start int) (end, next int) {
	// follows gives the next item's brackets, from at on.
	follows := func(at int) int {
		if i := strings.Index(s[at:], "[["); i >= 0 {
			return at + i
		}
		return -1
	}
	depth := 0
	for i := start; i < len(s); i++ {
		switch s[i] {
		case '\n':
			rest := strings.TrimLeft(s[i:], " \t\n-*•.()0123456789")
			if strings.HasPrefix(rest, "[[") {
				return -1, len(s) - len(rest)
			}
			// The blanks were looked at; there is no bracket among them.
			i = len(s) - len(rest) - 1
		case '[':
			if strings.HasPrefix(s[i:], "[[") {
				return -1, i
			}
			depth++
		case ']':
			if depth > 0 {
				depth--
				continue
			}
			rest := strings.TrimLeft(s[i:], "]")
			if len(s)-len(rest) > i+1 {
				return i, follows(len(s) - len(rest))
			}
			switch rest = strings.TrimLeft(rest, " \t,;"); {
			case rest == "" || rest[0] == '\n':
				return i, follows(len(s) - len(rest))
			case rest[0] == '[':
				// A list of single brackets within one pair, or a bracket forgotten.
				return i, len(s) - len(rest)
			}
		}
	}
	return -1, -1
}

// enclosed finds what stands between two marks. What is left open is no item.
func enclosed(s string, left, right rune) []string {
	var items []string
	for {
		_, rest, ok := strings.Cut(s, string(left))
		if !ok {
			return items
		}
		item, rest, ok := strings.Cut(rest, string(right))
		if !ok {
			return items
		}
		if i := strings.LastIndex(item, string(left)); i >= 0 {
			item = item[i+len(string(left)):]
		}
		items = append(items, item)
		s = rest
	}
}

// bracketed finds what stands in single brackets on lines that hold nothing else
// than a marker, brackets and what parts them.
func bracketed(lines []string) []string {
	var items []string
	for _, line := range lines {
		items = append(items, bracketedLine(line)...)
	}
	return items
}

func bracketedLine(line string) []string {
	rest := strings.TrimSpace(line)
	for _, marker := range []func(string) (string, int, bool){numbered, bulleted} {
		if text, _, ok := marker(rest); ok && strings.HasPrefix(text, "[") {
			rest = text
		}
	}
	var items []string
	for rest != "" {
		if rest[0] != '[' {
			return nil
		}
		depth, end := 0, -1
		for i := 0; i < len(rest) && end < 0; i++ {
			switch rest[i] {
			case '[':
				depth++
			case ']':
				if depth--; depth == 0 {
					end = i
				}
			}
		}
		if end < 0 {
			return nil
		}
		items = append(items, pythonList(rest[1:end])...)
		rest = strings.TrimLeft(rest[end+1:], " \t,;.")
	}
	return items
}

// pythonList parts a list of strings in single quotation marks, which is no
// JSON; another text comes back whole.
func pythonList(s string) []string {
	inner := strings.TrimSpace(s)
	if len(inner) > 1 && inner[0] == '\'' && inner[len(inner)-1] == '\'' {
		return strings.Split(inner[1:len(inner)-1], "', '")
	}
	return []string{s}
}

// quoted finds the lines in quotation marks, with several on a line.
func quoted(lines []string) []string {
	var items []string
	for i, line := range lines {
		rest := strings.TrimSpace(line)
		if i == 0 && refuses(rest) {
			return nil
		}
		var here []string
		for rest != "" {
			inner, after, ok := cutQuoted(rest)
			if !ok {
				here = nil
				break
			}
			here = append(here, inner)
			rest = strings.TrimLeft(after, " \t,;")
		}
		items = append(items, here...)
	}
	return items
}

// quotes are the pairs of quotation marks.
var quotes = [][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"'", "'"}, {"‘", "’"}, {"`", "`"}}

// cutQuoted takes the text in quotation marks from the beginning of s. A mark
// inside a word, as in "don't", does not close.
func cutQuoted(s string) (inner, after string, ok bool) {
	for _, q := range quotes {
		rest, ok := strings.CutPrefix(s, q[0])
		if !ok {
			continue
		}
		for from := 0; ; {
			i := strings.Index(rest[from:], q[1])
			if i < 0 {
				return "", "", false
			}
			inner, after = rest[:from+i], rest[from+i+len(q[1]):]
			if next, _ := utf8.DecodeRuneInString(after); after == "" || strings.ContainsRune(" \t,;.)-–—:", next) {
				return inner, after, true
			}
			from += i + len(q[1])
		}
	}
	return "", "", false
}

// clean makes items of what stood in a form, and leaves out what is empty.
func clean(raw []string) []string {
	var items []string
	for _, s := range raw {
		if s = cleanItem(s); s != "" {
			items = append(items, s)
		}
	}
	return items
}

// peelings bounds how many layers of marks are taken off an item.
const peelings = 4

// cleanItem makes one plain line of an item: "" when no letter or digit is in it.
func cleanItem(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), r == '\u200b', r == '\ufeff', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	for range peelings {
		before := s
		s = strings.TrimSpace(peel(s))
		if s == before {
			break
		}
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return s
}

// peel takes one layer off an item: a list marker, Markdown's emphasis, or
// quotation marks, with a remark behind them.
func peel(s string) string {
	if text, _, ok := numbered(s); ok {
		return text
	}
	if text, _, ok := bulleted(s); ok {
		return text
	}
	for _, m := range []string{"**", "__", "*", "_", "`"} {
		if len(s) > 2*len(m) && strings.HasPrefix(s, m) && strings.HasSuffix(s, m) && !strings.Contains(s[len(m):len(s)-len(m)], m) {
			return s[len(m) : len(s)-len(m)]
		}
	}
	inner, after, ok := cutQuoted(s)
	if !ok {
		return s
	}
	after = strings.TrimSpace(after)
	if after == "" || strings.ContainsRune(",;.", rune(after[0])) && len(after) == 1 {
		return inner
	}
	for _, dash := range []string{"-", "–", "—", "("} {
		if strings.HasPrefix(after, dash) {
			return inner
		}
	}
	return s
}
