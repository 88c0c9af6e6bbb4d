package logs

import (
	"cmp"
	_ "embed"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/orbench/orbench/internal/table"
)

//go:embed stopwords.txt
var stopText string

// stopwords are English words in lower case that carry no content of their own.
var stopwords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(stopText) {
		all[word] = true
	}
	return all
}()

// Cluster is a kind of wrong refusal: those whose messages share a word.
type Cluster struct {
	Word string `json:"word"`
	// Looks counts the looks whose messages have the word and were refused, Wrong those of
	// them that were wrong. A wrong refusal is in one cluster alone.
	Looks int `json:"looks"`
	Wrong int `json:"wrong"`
	// Harm is about how many exchanges of the log its wrong refusals stand for.
	Harm int `json:"harm"`
}

// The bounds of a cluster: how many wrong refusals share its word, and how many times as
// often a message with the word is wrongly refused as any message. Words that all messages
// share, such as "what", stay below.
const (
	mostClusters  = 5
	leastWrong    = 3
	leastLift     = 1.5
	clusterLetter = 4
)

// Clusters divides the wrong refusals among the looks by words that their messages share.
// The word that accounts for most harm comes first, and what it accounts for is left out of
// the next.
func Clusters(looks []Look) []Cluster {
	type item struct {
		words  map[string]bool
		weight float64
		wrong  bool
	}
	var items []item
	var all, wrong float64
	refused := map[string]int{}
	weights := map[string]float64{}
	for _, l := range looks {
		if l.Open() || l.Refused == Unknown || l.Answerable == Unknown {
			continue
		}
		one := item{wordsIn(l.Message), l.weight(), l.Refused == Yes && l.Answerable == Yes}
		items = append(items, one)
		all += one.weight
		if one.wrong {
			wrong += one.weight
		}
		for word := range one.words {
			weights[word] += one.weight
			if l.Refused == Yes {
				refused[word]++
			}
		}
	}
	lift := map[string]float64{}
	for _, it := range items {
		if it.wrong {
			for word := range it.words {
				lift[word] += it.weight / weights[word] * all / wrong
			}
		}
	}
	var clusters []Cluster
	for len(clusters) < mostClusters {
		harm, n := map[string]float64{}, map[string]int{}
		for _, it := range items {
			if it.wrong {
				for word := range it.words {
					harm[word] += it.weight
					n[word]++
				}
			}
		}
		words := slices.SortedFunc(maps.Keys(harm), func(a, b string) int { return cmp.Or(cmp.Compare(harm[b], harm[a]), cmp.Compare(a, b)) })
		at := slices.IndexFunc(words, func(w string) bool { return n[w] >= leastWrong && lift[w] >= leastLift })
		if at < 0 {
			break
		}
		word := words[at]
		clusters = append(clusters, Cluster{Word: word, Looks: refused[word], Wrong: n[word], Harm: int(math.Round(harm[word]))})
		items = slices.DeleteFunc(items, func(it item) bool { return it.wrong && it.words[word] })
	}
	return clusters
}

// wordsIn are the words of a message, without short ones, those without content, numbers and
// masks.
func wordsIn(message string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(message), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len([]rune(word)) >= clusterLetter && !stopwords[word] {
			words[word] = true
		}
	}
	return words
}

// clusters shows the clusters, and how much is in none.
func (w Wrong) clusters() table.Section {
	s := table.Section{Title: "Kinds of wrong refusals, by a word of the message", Left: 1, Header: []string{"word", "labeled", "wrong", "of the log"}}
	for _, c := range w.Clusters {
		s.Add(c.Word, c.Looks, c.Wrong, c.Harm)
	}
	s.Note = "All labeled exchanges here were refused. Each wrong refusal is in one kind, or in none; a word in few exchanges can be chance."
	return s
}
