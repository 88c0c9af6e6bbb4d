package logs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Masker replaces what identifies people in texts: mail addresses, phone numbers, payment
// cards, bank accounts (IBAN), IP addresses, keys and passwords, and names that the user
// lists. It looks at the characters that a text stands for: letters and digits of other
// widths and scripts are read as plain ones, and those that nobody sees are left out. What
// is no value stays as it was written. The same value
// gets the same mask, so who is meant twice stays recognizable; values are numbered in the
// order in which they come first. A masked text is not anonymous: what is said in it can
// still tell whom it is about. A Masker is not safe for concurrent use.
type Masker struct {
	listed  []string
	names   *regexp.Regexp
	numbers map[string]int
	counts  map[string]int
}

// NewMasker makes a Masker that also masks names, as whole words in any case.
func NewMasker(names []string) *Masker {
	m := &Masker{numbers: map[string]int{}, counts: map[string]int{}}
	m.add(names)
	return m
}

// leastName is how many letters a part of a person's name has at least to be masked alone.
const leastName = 3

// AddPeople masks people's names too: the whole name, and each of its words of three letters
// or more.
func (m *Masker) AddPeople(names []string) {
	for _, name := range names {
		m.add([]string{name})
		m.add(slices.DeleteFunc(strings.Fields(name), func(w string) bool { return utf8.RuneCountInString(w) < leastName }))
	}
}

func (m *Masker) add(names []string) {
	for _, name := range names {
		name, _ = plain(name)
		if words := strings.Fields(name); len(words) > 0 {
			m.listed = append(m.listed, strings.ReplaceAll(regexp.QuoteMeta(strings.Join(words, " ")), " ", `\s+`))
		}
	}
	// The longest is tried first: Ana Maria before Ana.
	slices.SortFunc(m.listed, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	m.listed = slices.Compact(m.listed)
	m.names = nil
}

// rule finds values of a kind. find looks for a value at byte i of a text, where one of the
// bytes of first stands, or from there on if first is nil. It gives where the value begins, not
// before least, and where it ends. If both are the same, it is none, and none begins before
// that place.
type rule struct {
	kind  string
	first *set
	find  func(text string, i, least int) (from, to int)
}

// rules are tried in this order: a number of a card or account must not be taken for a
// phone's.
var rules = []rule{
	{"key", setOf(letters + digits + "-:="), key},
	{"mail", setOf(" \n@%&-_|*#([{<\xe2\xe3\xe5\xe8\xea"), mail},
	{"IBAN", setOf(letters), iban},
	{"card", setOf(digits), card},
	{"IP", setOf(digits + "abcdefABCDEF:"), address},
	{"phone", setOf(digits + "+("), phone},
}

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// set has bytes.
type set [256]bool

func setOf(bytes string) *set {
	var s set
	for i := range len(bytes) {
		s[bytes[i]] = true
	}
	return &s
}

// run is how many bytes at the beginning of a text are in the set.
func (s *set) run(text string) int {
	for i := range len(text) {
		if !s[text[i]] {
			return i
		}
	}
	return len(text)
}

// value is a value in a text.
type value struct {
	from, to int
	mask     string
}

// Text masks a text. A nil Masker leaves it as it is.
func (m *Masker) Text(text string) string {
	if m == nil {
		return text
	}
	read, at := plain(text)
	var all []value
	rules := rules
	if len(m.listed) > 0 {
		rules = append(slices.Clip(rules), rule{"name", nil, m.name})
	}
	for _, r := range rules {
		least, known := 0, len(all)
		for i := 0; i < len(read); i++ {
			if r.first != nil && !r.first[read[i]] {
				continue
			}
			from, to := r.find(read, i, least)
			if from < to {
				all = append(all, value{from, to, m.mask(r.kind, read[from:to])})
				least = to
			}
			i = max(i, to-1)
		}
		if len(all) > known {
			hidden := []byte(read) // what one rule found, no other finds
			for _, v := range all[known:] {
				clear(hidden[v.from:v.to])
			}
			read = string(hidden)
		}
	}
	slices.SortFunc(all, func(a, b value) int { return a.from - b.from })
	var out strings.Builder
	end := 0
	for _, p := range all {
		from, to := p.from, p.to
		if at != nil {
			// The whole of a character that is read as several.
			for to < len(read) && at[to] == at[to-1] {
				to++
			}
			from, to = at[from], at[to]
		}
		if from >= end {
			out.WriteString(text[end:from] + p.mask)
			end = to
		}
	}
	return out.String() + text[end:]
}

// name finds the names that are listed.
func (m *Masker) name(text string, i, _ int) (from, to int) {
	if m.names == nil {
		m.names = regexp.MustCompile(`(?i)` + strings.Join(m.listed, "|"))
	}
	at := m.names.FindStringIndex(text[i:])
	if at == nil {
		return len(text), len(text)
	}
	from, to = i+at[0], i+at[1]
	if alone(text, from, to) {
		return from, to
	}
	_, size := utf8.DecodeRuneInString(text[from:])
	return from + size, from + size
}

// Values is the number of different values that were masked.
func (m *Masker) Values() int { return len(m.numbers) }

// mask numbers a value, however it is written.
func (m *Masker) mask(kind, value string) string {
	if kind == "mail" {
		value = pattern("spelledDot").ReplaceAllString(pattern("spelledAt").ReplaceAllString(value, "@"), ".")
	}
	id := kind + " " + strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -/()\r\n\t", r) && kind != "key" || kind == "phone" && r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, value)
	if m.numbers[id] == 0 {
		m.counts[kind]++
		m.numbers[id] = m.counts[kind]
	}
	return fmt.Sprintf("[%s %d]", kind, m.numbers[id])
}

// plain gives the characters that a text stands for, and for each byte of them, and their
// end, where in the text it is from; nil where the text is the same.
func plain(text string) (read string, at []int) {
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return text, nil
	}
	out, at := make([]byte, 0, len(text)), make([]int, 0, len(text)+1)
	var room []byte
	for i, n := 0, 0; i < len(text); i += n {
		if n = 1; text[i] < utf8.RuneSelf && (i+1 == len(text) || text[i+1] < utf8.RuneSelf) {
			out = append(out, text[i])
		} else {
			n = max(1, norm.NFKC.NextBoundaryInString(text[i:], true))
			room = norm.NFKC.AppendString(room[:0], text[i:i+n])
			for _, r := range string(room) {
				if r = seen(r); r >= 0 {
					out = utf8.AppendRune(out, r)
				}
			}
		}
		for len(at) < len(out) {
			at = append(at, i)
		}
	}
	return string(out), append(at, len(text))
}

// seen is a character in its plain form, -1 if nobody sees it.
func seen(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector), r == '\u20e3':
		return -1
	case unicode.In(r, unicode.Zl, unicode.Zp):
		return '\n'
	case unicode.IsSpace(r):
		return ' '
	case r == '·', r == '・', r == '٫':
		return '.'
	case r == '٬':
		return ','
	case unicode.Is(unicode.Pd, r), r == '\u2212', r == 'ー': // as in 03ー1234ー5678
		return '-'
	case unicode.IsDigit(r):
		for _, ten := range unicode.Nd.R16 {
			if r <= rune(ten.Hi) {
				return '0' + (r-rune(ten.Lo))%10
			}
		}
	}
	return r
}

// spaced are scripts with spaces between their words.
var spaced = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Telugu, unicode.Armenian, unicode.Georgian,
}

// script is a number for the script of a letter, 0 for one whose words have no spaces
// between them, or that begins words of any. A digit has that of Latin.
func script(r rune) int {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return 1
	case r < utf8.RuneSelf, r >= 0x2e80:
		return 0
	}
	return 1 + slices.IndexFunc(spaced, func(t *unicode.RangeTable) bool { return unicode.Is(t, r) })
}

// joined reports whether something before byte i of a text goes on there as a word.
func joined(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i:])
	s := script(after)
	return s != 0 && s == script(before)
}

// inside reports whether a value that begins at byte i is the end of a word.
func inside(text string, i int) bool {
	return joined(text, i) && (strings.IndexByte(digits, text[i-1]) >= 0 || !pattern("labels").MatchString(before(text, i, 6)))
}

// alone reports whether a value is no part of a longer word.
func alone(text string, from, to int) bool {
	if inside(text, from) {
		return false
	}
	if !joined(text, to) {
		return true
	}
	end := pattern("ending").FindString(clip(text[to:], 24))
	return strings.IndexByte(digits, text[to-1]) >= 0 && strings.Trim(end, "abcdef") != "" // and no number in hex
}

// clip is the beginning of a text.
func clip(text string, n int) string { return text[:min(n, len(text))] }

// before is the end of what stands before byte i of a text.
func before(text string, i, n int) string { return text[max(0, i-n):i] }
