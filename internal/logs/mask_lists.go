package logs

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench/internal/untrusted"
)

//go:embed masks.txt
var masksFile string

// masks has what masks.txt lists, by name. It is read when something is first masked, since
// most commands mask nothing.
var masks = sync.OnceValues(func() (map[string]vocabulary, map[string]*regexp.Regexp) {
	words, patterns, err := readMasks(masksFile)
	if err != nil {
		panic(err)
	}
	return words, patterns
})

func list(name string) vocabulary {
	words, _ := masks()
	return words[name]
}

func pattern(name string) *regexp.Regexp {
	_, patterns := masks()
	return patterns[name]
}

var unknownPart = regexp.MustCompile(`\{[a-z][A-Za-z]+\}`)

// readMasks reads words and patterns in the form of masks.txt, which says what it is.
func readMasks(text string) (words map[string]vocabulary, patterns map[string]*regexp.Regexp, err error) {
	words, patterns = map[string]vocabulary{}, map[string]*regexp.Regexp{}
	parts := map[string]string{"keys": untrusted.KeyShapes}
	text, _ = plain(text)
	for n, line := range strings.Split(text, "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		name, value, ok := strings.Cut(rest, " ")
		for part, of := range parts {
			value = strings.ReplaceAll(value, "{"+part+"}", of)
		}
		switch unknown := unknownPart.FindString(value); {
		case line == "" || line[0] == '#':
			continue
		case !ok || unknown != "":
			err = fmt.Errorf("it has no value, or an unknown part %s", unknown)
		case kind == "part":
			parts[name] += value
		case kind == "pattern":
			patterns[name], err = regexp.Compile(value)
		case kind == "words" && words[name] == nil:
			words[name] = vocabulary{}
			fallthrough
		case kind == "words":
			words[name].add(value)
		default:
			err = fmt.Errorf("its kind is %q", kind)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("masks.txt:%d: %w", n+1, err)
		}
	}
	return words, patterns, nil
}

// vocabulary has words by their first letters. After a star a word may go on.
type vocabulary map[rune][]string

// add adds a list of words. ~ stands for a space, hyphen or underscore in a word.
func (v vocabulary) add(list string) {
	for word := range strings.FieldsSeq(list) {
		r, _ := utf8.DecodeRuneInString(word)
		v[r] = append(v[r], lower(strings.ReplaceAll(word, "~", " ")))
	}
}

// last is where the last of the words ends in what context gives, 0 if it has none.
func (v vocabulary) last(context string) (end int) {
	for i, r := range context {
		if v[r] == nil || joined(context, i) {
			continue
		}
		for _, word := range v[r] {
			stem, open := strings.CutSuffix(word, "*")
			if !strings.HasPrefix(context[i:], stem) {
				continue
			}
			to := i + len(stem)
			for open && joined(context, to) {
				_, size := utf8.DecodeRuneInString(context[to:])
				to += size
			}
			if !joined(context, to) {
				end = max(end, to)
			}
		}
	}
	return end
}

// said is what stands before byte i of a text, as a vocabulary has it.
func said(text string, i, n int) string { return lower(before(text, i, n)) }

func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return ' '
		}
		return unicode.ToLower(r)
	}, text)
}

// named reports whether a text ends with one of the words, but for marks.
func (v vocabulary) named(context string) bool {
	end := v.last(context)
	return end > 0 && strings.Trim(context[end:], "\"'` )]") == ""
}

// near reports whether one of the words stands at the end of a text, with at most n bytes and
// no digits behind it.
func (v vocabulary) near(context string, n int) bool {
	end := v.last(context)
	return end > 0 && len(context)-end <= n && !strings.ContainsAny(context[end:], digits)
}
