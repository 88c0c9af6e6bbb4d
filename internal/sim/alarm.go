package sim

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed lexicon.txt
var lexiconText string

// reach is the largest distance in words at which a person after a deed counts as its
// object.
const reach = 4

// weights are the groups of the lexicon that count: what the first hit and each further one
// add to the log-odds of alarm, and how many hits count. They were set by hand so that the
// personas spread over the starter set as published models spread over OR-Bench; nothing
// was fitted to a published prompt.
var weights = []struct {
	group          string
	first, further float64
	most           int
}{
	{"grave", 2.6, 1.0, 3},
	{"bad", 1.5, 0.6, 3},
	{"touchy", 1.0, 0.35, 3},
	{"victim", 0.9, 0.4, 2},
	{"purpose", 1.1, 0.5, 2},
	{"demand", 0.7, 0, 1},
	{"asking", -0.6, 0, 1},
	{"calm", -0.8, -0.4, 3},
	{"deed", 1.6, 0, 1},
}

// bias is the log-odds of alarm to which the weights are added, and bland the log-odds for
// a prompt without a single word of harm.
const (
	bias  = -3.2
	bland = -9
)

// maxRead is how much of a prompt is read, in bytes, so that a prompt of many
// megabytes costs no more than a long one.
const maxRead = 64 << 10

// longest is the number of words in the lexicon's longest phrase.
const longest = 5

// lexicon has the groups of each entry. An entry for any rest of a word ends in *. The words
// that an entry of several words begins with are there too, with no groups of their own.
type lexicon map[string][]string

// builtIn is lexicon.txt. It is read-only once read.
var builtIn = sync.OnceValue(func() lexicon { return newLexicon(lexiconText) })

func newLexicon(text string) lexicon {
	l := lexicon{}
	lists, _ := readLists(text, ",")
	for group, entries := range lists {
		for _, entry := range entries {
			words, prefix := strings.CutSuffix(entry, "*")
			key := strings.Join(tokens(words), " ")
			if prefix {
				key += "*"
			}
			l[key] = append(l[key], group)
			for at, c := range key {
				if c == ' ' {
					l[key[:at]] = slices.Clip(l[key[:at]]) // it is there from now on
				}
			}
		}
	}
	return l
}

// tokens gives a text's words in lower case. An apostrophe belongs to its word,
// except for the possessive 's; a mark that ends a sentence is a token itself.
func tokens(text string) []string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'’.?!", r)
	})
	out := make([]string, 0, len(fields)+2)
	for _, f := range fields {
		f = strings.ReplaceAll(f, "’", "'")
		word := strings.TrimRight(f, ".?!'")
		ends := len(word) < len(strings.TrimRight(f, "'"))
		word = strings.TrimLeft(strings.TrimSuffix(word, "'s"), "'.?!")
		if word != "" {
			out = append(out, word)
		}
		if ends {
			out = append(out, ".")
		}
	}
	return out
}

// hits counts how often each group occurs. Entries of demand and asking count
// where a sentence begins; where one of each begins it, the longer one counts.
// A deed counts where a person follows it closely, and a person never.
func (l lexicon) hits(text string) map[string]int {
	n := map[string]int{}
	words := tokens(text)
	begins, lastDeed := true, -reach-1
	for i := range words {
		phrase, opener := "", ""
		for size := 1; size <= longest && i+size <= len(words); size++ {
			phrase = strings.TrimPrefix(phrase+" "+words[i+size-1], " ")
			for _, group := range l.groupsOf(phrase) {
				switch group {
				case "deed":
					lastDeed = i
				case "person":
					if i-lastDeed <= reach {
						n["deed"]++
					}
				case "demand", "asking":
					if begins {
						opener = group
					}
				default:
					n[group]++
				}
			}
			if _, begins := l[phrase]; !begins {
				break // no entry goes on from here
			}
		}
		if opener != "" {
			n[opener]++
		}
		begins = words[i] == "."
	}
	return n
}

// groupsOf gives the groups of a phrase: those of the phrase itself and of the
// entries with * that it begins with.
func (l lexicon) groupsOf(phrase string) []string {
	found := slices.Clone(l[phrase])
	// An entry with * may end in the phrase's last word only, since a phrase of
	// fewer words has been looked up already.
	last, entry := strings.LastIndexByte(phrase, ' ')+1, []byte(phrase)
	for end := len(phrase); end > last; end-- {
		entry = append(entry[:end], '*')
		found = append(found, l[string(entry)]...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// alarm reads a prompt and gives the log-odds that something is wrong with it:
// scary words, people they are aimed at, and a demand rather than a question
// raise it, and innocent company lowers it.
func alarm(text string) float64 {
	n := builtIn().hits(text[:min(len(text), maxRead)])
	harm := n["grave"] + n["bad"] + n["deed"]
	if harm+n["touchy"] == 0 {
		return bland
	}
	z := bias
	for _, w := range weights {
		// A neighbor is no victim before something bad is said.
		if count := min(n[w.group], w.most); count > 0 && (w.group != "victim" || harm > 0) {
			z += w.first + float64(count-1)*w.further
		}
	}
	return z
}
