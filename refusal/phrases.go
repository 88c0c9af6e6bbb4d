package refusal

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed phrases/*.txt
var phraseFiles embed.FS

// hasPhrases reports whether there are phrases of the language with a code.
func hasPhrases(code string) bool {
	_, err := phraseFiles.Open("phrases/" + code + ".txt")
	return err == nil
}

// A phrase is one parsed line of a table.
type phrase struct {
	places  []phrasePlace
	meaning meaning
}

// A phrasePlace has the numbers of the words of which one may stand there, and the
// texts of several words that may stand there instead.
type phrasePlace struct {
	words    []uint16
	texts    [][]uint16
	optional bool
}

// A table is what the tables of phrases say, words by their numbers, from 1 on.
type table struct {
	numbers map[string]uint16
	phrases []phrase
	skip    []string
	alias   map[string][]string
}

func newTable() *table {
	return &table{numbers: map[string]uint16{}, alias: map[string][]string{}}
}

// number gives a word its number.
func (t *table) number(word string) uint16 {
	n, ok := t.numbers[word]
	if !ok {
		n = uint16(len(t.numbers) + 1)
		t.numbers[word] = n
	}
	return n
}

// parseTable reads a phrase table. Its format is explained in phrases/en.txt.
func parseTable(name, text string, t *table) error {
	classes := map[string]phrasePlace{}
	section := meaning{kind: kinds}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = foldWord(strings.TrimSpace(line))
		if line == "" {
			continue
		}
		fail := func(problem string) error {
			return fmt.Errorf("%s:%d: %s", name, i+1, problem)
		}
		if head, rest, ok := strings.Cut(line, ":"); ok {
			what, arg, _ := strings.Cut(head, " ")
			switch what {
			case "class":
				class := classes[arg]
				for _, w := range strings.Fields(rest) {
					if problem := t.alternative(&class, classes, w); problem != "" {
						return fail(problem)
					}
				}
				classes[arg] = class
			case "skip":
				t.skip = append(t.skip, strings.Fields(rest)...)
			case "alias":
				t.alias[arg] = strings.Fields(rest)
				for _, w := range t.alias[arg] {
					t.number(w)
				}
			default:
				return fail("unknown word before the colon: " + what)
			}
			continue
		}
		if inner, ok := strings.CutPrefix(line, "["); ok {
			fields := strings.Fields(strings.TrimSuffix(inner, "]"))
			k := slices.Index(kindNames, fields[0])
			if k < 0 {
				return fail("unknown kind " + fields[0])
			}
			section = meaning{kind: kind(k)}
			if len(fields) > 1 {
				r := slices.Index(reasonNames[:], fields[1])
				if r < 0 {
					return fail("unknown reason " + fields[1])
				}
				section.reason = uint8(r)
			}
			continue
		}
		if section.kind == kinds {
			return fail("a phrase stands before the first [kind]")
		}
		p := phrase{meaning: section}
		line, p.meaning.own = strings.CutPrefix(line, "@ ")
		for _, field := range strings.Fields(line) {
			var place phrasePlace
			field, place.optional = strings.CutSuffix(field, "?")
			for alt := range strings.SplitSeq(field, "|") {
				if problem := t.alternative(&place, classes, alt); problem != "" {
					return fail(problem)
				}
			}
			p.places = append(p.places, place)
		}
		t.phrases = append(t.phrases, p)
	}
	return nil
}

// alternative adds what may stand at a place: all of a class, a word, or a text of Chinese
// characters, syllables and the like, which are a word each. It says what is wrong with it.
func (t *table) alternative(place *phrasePlace, classes map[string]phrasePlace, alt string) (problem string) {
	if inner, ok := strings.CutPrefix(alt, "<"); ok {
		class, ok := classes[strings.TrimSuffix(inner, ">")]
		if !ok {
			return "unknown class " + alt
		}
		place.words, place.texts = append(place.words, class.words...), append(place.texts, class.texts...)
		return ""
	}
	if alt == "" {
		return "nothing stands beside a |"
	}
	if chars := []rune(alt); !isIdeograph(chars[0]) || len(chars) == 1 {
		place.words = append(place.words, t.number(alt))
		return ""
	}
	var text []uint16
	s := scanner{text: alt}
	for kind := s.next(); kind != tokenEnd; kind = s.next() {
		if kind == tokenWord {
			text = append(text, t.number(alt[s.start:s.end]))
		}
	}
	place.texts = append(place.texts, text)
	return ""
}

// check refuses words that are used in two ways, of which one would be lost.
func (t *table) check(symbols []uint16) error {
	for _, w := range t.skip {
		if symbols[t.numbers[w]] != 0 || t.alias[w] != nil {
			return fmt.Errorf("%q is skipped, so no phrase can have it", w)
		}
	}
	for _, w := range slices.Sorted(maps.Keys(t.alias)) {
		if len(t.alias[w]) > maxAlias {
			return fmt.Errorf("%q is read as %d words, want %d or fewer", w, len(t.alias[w]), maxAlias)
		}
		if symbols[t.numbers[w]] != 0 {
			return fmt.Errorf("%q is read as other words, so no phrase can have it", w)
		}
	}
	return nil
}
