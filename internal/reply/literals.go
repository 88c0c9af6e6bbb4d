package reply

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// finder finds which of some expressions a text may match. It goes through the text once and looks
// for strings of which every match has one, since nearly every answer is looked at and few match.
type finder struct {
	// count is how many expressions there are, and others are those that have no such strings. These
	// match no long text that begins with a letter, but for the word error.
	count  int
	others found
	// by has the strings by their first three bytes, and starts says where there are some.
	by     [1 << 12][]literal
	starts [1 << 12]bool
}

// literal is a string of the expression of a number.
type literal struct {
	text string
	of   int
}

// found are the numbers of the expressions that a text may match, a bit each; a finder has at most 512.
type found [8]uint64

func (f *found) add(number int)      { f[number/64] |= 1 << (number % 64) }
func (f *found) has(number int) bool { return f[number/64]&(1<<(number%64)) != 0 }

// long is the length of a long text.
const long = 40

// start is where a finder has the strings that begin with the three bytes of a text from i on.
func start(text string, i int) int {
	return (int(text[i]) ^ int(text[i+1])<<3 ^ int(text[i+2])<<6) & (1<<12 - 1)
}

// matcher makes a function that reports whether a text, in which some were found, matches one of the
// expressions. They are compiled when a text first may match.
func (f *finder) matcher(before string, expressions []string, after string) func(text string, in found) bool {
	first := f.count
	compiled := make([]func() *regexp.Regexp, len(expressions))
	for i, expression := range expressions {
		parsed, err := syntax.Parse(expression, syntax.Perl)
		if err != nil {
			panic("reply: " + err.Error()) // a test reads each
		}
		all := literals(parsed.Simplify())
		if all == nil {
			f.others.add(f.count)
		}
		for _, text := range all {
			at := start(text, 0)
			f.starts[at] = true
			f.by[at] = append(f.by[at], literal{text, f.count})
		}
		compiled[i] = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(before + expression + after) })
		f.count++
	}
	return func(text string, in found) bool {
		for i, expression := range compiled {
			if in.has(first+i) && expression().MatchString(text) {
				return true
			}
		}
		return false
	}
}

// find says which expressions a text may match.
func (f *finder) find(text string) found {
	var in found
	if first, _ := utf8.DecodeRuneInString(text); len(text) < long || !unicode.IsLetter(first) || strings.HasPrefix(text, "error") {
		in = f.others
	}
	for i := range len(text) - 2 {
		at := start(text, i)
		if !f.starts[at] {
			continue
		}
		for _, l := range f.by[at] {
			if strings.HasPrefix(text[i:], l.text) {
				in.add(l.of)
			}
		}
	}
	return in
}

// literals are strings of which every text that an expression matches has one; nil where there
// are none that have three bytes or more. The method is that of the prefilters of RE2
// (github.com/google/re2, prefilter.cc).
func literals(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if s := string(re.Rune); len(s) >= 3 {
			return []string{s}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return literals(re.Sub[0])
	case syntax.OpConcat:
		// The part whose shortest string is the longest tells most.
		var best []string
		longest := 0
		for _, part := range re.Sub {
			all := literals(part)
			if all == nil {
				continue
			}
			if shortest := len(slices.MinFunc(all, func(a, b string) int { return len(a) - len(b) })); shortest > longest {
				best, longest = all, shortest
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, part := range re.Sub {
			of := literals(part)
			if of == nil {
				return nil
			}
			all = append(all, of...)
		}
		return all
	}
	return nil
}
