package generator

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// listed finds the items of a list whose lines begin with a marker: numbers or
// bullets. A line without one goes on with the item above it, until a blank line
// or a remark. Nothing is read from a list that a refusal introduces.
func listed(lines []string, marker func(string) (text string, number int, ok bool), cut bool) []string {
	var items []string
	numbers := map[int]bool{} // those that begin a line
	for _, line := range lines {
		if _, n, ok := marker(line); ok {
			numbers[n] = true
		}
	}
	open := false // whether the last item may go on
	for _, line := range lines {
		text, n, ok := marker(line)
		switch {
		case ok:
			parts := inline(text, n, numbers)
			items = append(items, parts...)
			open = true
		case len(items) == 0 && refuses(strings.TrimSpace(line)):
			return nil
		case strings.TrimSpace(line) == "" || isMarked(line) || remarkIn(line) != "":
			open = false
		case open && len(items[len(items)-1]) < longestItem:
			items[len(items)-1] += " " + strings.TrimSpace(line)
		}
	}
	if cut && open && len(items) > 0 && !ends(items[len(items)-1]) {
		items = items[:len(items)-1]
	}
	kept := items[:0]
	for _, item := range items {
		if !strings.HasSuffix(strings.TrimRight(item, "*_ "), ":") {
			kept = append(kept, item)
		}
	}
	return kept
}

// longestItem is the length in bytes from which an item does not go on, since it
// is no prompt any more.
const longestItem = 4096

// isMarked reports whether a line begins with any marker.
func isMarked(line string) bool {
	_, _, number := numbered(line)
	_, _, bullet := bulleted(line)
	return number || bullet
}

// ends reports whether an item ends as a sentence does.
func ends(item string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(item, "*_ "))
	return strings.ContainsRune(`.?!"”»`, last)
}

// inline parts a line that holds several numbered items: behind item n, the
// number n+1 with a full stop or a bracket starts the next, unless that number
// begins a line of its own. Behind a bullet (n is 0) a further "•" does.
func inline(text string, n int, numbers map[int]bool) []string {
	if n == 0 {
		return strings.Split(text, " • ")
	}
	var items []string
	for !numbers[n+1] {
		at, behind := findNumber(text, n+1)
		if at < 0 {
			break
		}
		items = append(items, strings.TrimSuffix(text[:at], " "))
		text = text[behind:]
		n++
	}
	return append(items, text)
}

// findNumber finds a number with a full stop or a bracket inside a line: where
// the text before it ends and the text behind it begins, or -1.
func findNumber(text string, n int) (at, behind int) {
	number := strconv.Itoa(n)
	for from := 0; ; {
		i := strings.Index(text[from:], number)
		if i < 0 {
			return -1, -1
		}
		at, behind = from+i-1, from+i+len(number)
		begins := at > 0 && (text[at] == ' ' || text[at] == '(' && text[at-1] == ' ')
		rest := text[behind:]
		if begins && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
			return at, behind + 2
		}
		from = behind
	}
}

// labels are the words that may stand before a number.
var labels = []string{"prompt", "rewrite", "rewritten prompt", "request", "new request", "item", "example", "question", "seed", "no."}

// mostDigits is how long the number of an item may be; a year begins no item.
const mostDigits = 3

// numbered takes the number off a line: 1. 1) (1) 1: 1] 1 - #1 "Prompt 1:", with
// Markdown around it.
func numbered(line string) (text string, number int, ok bool) {
	s := strings.TrimLeft(line, " \t*_#>([")
	for _, l := range labels {
		if len(s) > len(l) && strings.EqualFold(s[:len(l)], l) {
			s = strings.TrimLeft(s[len(l):], " #")
			break
		}
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits == 0 || digits > mostDigits {
		return "", 0, false
	}
	number, _ = strconv.Atoi(s[:digits])
	rest := strings.TrimLeft(s[digits:], "*_")
	switch {
	case number == 0 || rest == "":
		return "", 0, false
	case strings.ContainsRune(".):]", rune(rest[0])):
		rest = strings.TrimLeft(rest, ".):]")
		if rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return "", 0, false // 1.5 litres, 10:30
		}
	case strings.HasPrefix(rest, " - "), strings.HasPrefix(rest, " – "), strings.HasPrefix(rest, " — "):
		rest = strings.TrimLeft(rest, " -–—")
	case rest[0] == ' ' && strings.HasPrefix(strings.TrimSpace(line), "#"+s[:digits]):
	default:
		return "", 0, false
	}
	return closeEmphasis(line, rest), number, true
}

// closeEmphasis takes off the Markdown that was opened before a marker and
// closes behind it, or around the whole line.
func closeEmphasis(line, text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(strings.TrimLeft(line, " \t#>("), "**") {
		if rest, ok := strings.CutPrefix(text, "**"); ok {
			return strings.TrimSpace(rest)
		}
		return strings.TrimSuffix(text, "**")
	}
	return text
}

// bullets begin the lines of a list.
var bullets = []string{"-", "*", "•", "–", "—", "·", "◦", "▪", "‣", "+", "●", "○"}

// bulleted takes the bullet off a line, with a box to tick. Its number is 0.
func bulleted(line string) (text string, number int, ok bool) {
	s := strings.TrimLeft(line, " \t>")
	for _, b := range bullets {
		rest, ok := strings.CutPrefix(s, b)
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' && b[0] < utf8.RuneSelf {
			continue
		}
		rest = strings.TrimSpace(rest)
		for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
			rest = strings.TrimPrefix(rest, box)
		}
		return rest, 0, rest != ""
	}
	return "", 0, false
}
