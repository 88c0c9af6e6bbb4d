package sim

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

//go:embed lexicon.txt
var lexiconText string

// group is one of the lexicon's kinds of entry.
type group int

const (
	grave group = iota
	bad
	touchy
	victim
	purpose
	demand
	asking
	calm
	deed   // counts where a person follows closely
	person // counts by what stands before it alone
	groups // how many there are
)

var groupNames = [groups]string{"grave", "bad", "touchy", "victim", "purpose", "demand", "asking", "calm", "deed", "person"}

// reach is the largest distance in words at which a person after a deed counts as its
// object.
const reach = 4

// weights gives what the first hit of a group and each further one add to the log-odds of
// alarm; most is how many hits count. They were set by hand so that the personas spread
// over the starter set as published models spread over OR-Bench; nothing was fitted to a
// published prompt.
var weights = [groups]struct {
	first, further float64
	most           int
}{
	grave:   {2.6, 1.0, 3},
	bad:     {1.5, 0.6, 3},
	touchy:  {1.0, 0.35, 3},
	victim:  {0.9, 0.4, 2},
	purpose: {1.1, 0.5, 2},
	demand:  {0.7, 0, 1},
	asking:  {-0.6, 0, 1},
	calm:    {-0.8, -0.4, 3},
	deed:    {1.6, 0, 1},
}

// bias is the log-odds of alarm to which the weights are added, and bland the log-odds for
// a prompt without a single word of harm.
const (
	bias  = -3.2
	bland = -9
)

// lexicon finds the entries of lexicon.txt in a text. It is read-only once read.
type lexicon struct {
	exact, prefix map[string]groupSet
	// longestPrefix is the length of the longest key of prefix, in bytes.
	longestPrefix int
}

// groupSet has a bit for each group.
type groupSet uint16

func (s groupSet) has(g group) bool { return s>>g&1 == 1 }

// maxRead is how much of a prompt is read, in bytes, so that a prompt of many
// megabytes costs no more than a long one.
const maxRead = 64 << 10

// longest is the number of words in the lexicon's longest phrase.
const longest = 5

// builtIn is the lexicon that all models use.
var builtIn = sync.OnceValue(func() *lexicon { return newLexicon(lexiconText) })

func newLexicon(text string) *lexicon {
	l := &lexicon{exact: map[string]groupSet{}, prefix: map[string]groupSet{}}
	lists, _ := readLists(text, ",")
	for g, name := range groupNames {
		for _, entry := range lists[name] {
			entry, isPrefix := strings.CutSuffix(entry, "*")
			entry = strings.Join(tokens(entry), " ")
			into := l.exact
			if isPrefix {
				into = l.prefix
				l.longestPrefix = max(l.longestPrefix, len(entry))
			}
			into[entry] |= 1 << g
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
func (l *lexicon) hits(text string) (n [groups]int) {
	words := tokens(text)
	begins, lastDeed := true, -reach-1
	for i := range words {
		phrase, opener, openerLen := "", group(-1), 0
		for size := 1; size <= longest && i+size <= len(words); size++ {
			if size == 1 {
				phrase = words[i]
			} else {
				phrase += " " + words[i+size-1]
			}
			found := l.groupsOf(phrase)
			if found == 0 {
				continue
			}
			for g := range groups {
				switch {
				case !found.has(g):
				case g == deed:
					lastDeed = i
				case g == person:
					if i-lastDeed <= reach {
						n[deed]++
					}
				case g != demand && g != asking:
					n[g]++
				case begins && size > openerLen:
					opener, openerLen = g, size
				}
			}
		}
		if openerLen > 0 {
			n[opener]++
		}
		begins = words[i] == "."
	}
	return n
}

// groupsOf gives the groups of a phrase: those of the phrase itself and of the
// entries with * that it begins with.
func (l *lexicon) groupsOf(phrase string) groupSet {
	found := l.exact[phrase]
	// An entry with * may end in the phrase's last word only, since a phrase of
	// fewer words has been looked up already.
	last := strings.LastIndexByte(phrase, ' ') + 1
	for end := min(len(phrase), l.longestPrefix); end > last; end-- {
		found |= l.prefix[phrase[:end]]
	}
	return found
}

// alarm is that of the built-in lexicon.
func alarm(text string) float64 { return builtIn().alarm(text) }

// alarm reads a prompt and gives the log-odds that something is wrong with it:
// scary words, people they are aimed at, and a demand rather than a question
// raise it, and innocent company lowers it.
func (l *lexicon) alarm(text string) float64 {
	n := l.hits(text[:min(len(text), maxRead)])
	harm := n[grave] + n[bad] + n[deed]
	if harm+n[touchy] == 0 {
		return bland
	}
	z := bias
	for g, w := range weights {
		count := min(n[g], w.most)
		if group(g) == victim && harm == 0 {
			// A neighbor is no victim before something bad is said.
			count = 0
		}
		if count > 0 {
			z += w.first + float64(count-1)*w.further
		}
	}
	return z
}
