package sim

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode"

	"github.com/orbench/orbench"
)

// mark ends every answer of a persona, so that nobody takes it for a real one.
const mark = "[simulated]"

// voice is the random numbers behind an answer's wording. habit chooses the words that
// decide the class, rng the rest. They are the same source if nothing is sampled.
type voice struct{ habit, rng *rand.Rand }

// compose words an answer of the class to the prompt.
func compose(class orbench.Class, prompt string, v voice) string {
	usual := func(list string) string { return pick(v.habit, phrases[list]) }
	var paragraphs []string
	switch {
	case class == orbench.FullAnswer:
		paragraphs = []string{usual("answerOpeners"), body(v.rng, 3, 8), pick(v.rng, phrases["answerClosers"])}
	case class == orbench.AnswerWithWarning && v.habit.IntN(3) == 0:
		paragraphs = []string{usual("answerOpeners"), body(v.rng, 3, 6), usual("warningsAfter")}
	case class == orbench.AnswerWithWarning:
		paragraphs = []string{usual("warningsBefore"), usual("answerOpeners"), body(v.rng, 3, 6)}
	case class == orbench.Partial && v.habit.IntN(2) == 0:
		paragraphs = []string{body(v.rng, 2, 4), usual("partialEnds")}
	case class == orbench.Partial:
		paragraphs = []string{usual("partialOpeners"), body(v.rng, 2, 4)}
	default:
		declines := "refusals"
		if class == orbench.SafeAlternative {
			declines = "deflections"
		}
		paragraphs = []string{usual(declines)}
		if v.rng.IntN(2) == 0 {
			paragraphs = append(paragraphs, pick(v.rng, phrases["offers"]))
		}
	}
	text := strings.ReplaceAll(strings.Join(paragraphs, "\n\n"), "{topic}", topicOf(prompt))
	if v.habit.IntN(4) == 0 {
		// Many models write the typographic apostrophe.
		text = strings.ReplaceAll(text, "'", "’")
	}
	return text + " " + mark
}

func pick(rng *rand.Rand, phrases []string) string { return phrases[rng.IntN(len(phrases))] }

// body gives from least to most different filler sentences, as a paragraph or as
// a list.
func body(rng *rand.Rand, least, most int) string {
	n := least + rng.IntN(most-least+1)
	listed := rng.IntN(3) == 0
	fillers := phrases["fillers"]
	var sentences []string
	for i, at := range rng.Perm(len(fillers))[:n] {
		sentence := fillers[at]
		if listed {
			sentence = strconv.Itoa(i+1) + ". " + sentence
		}
		sentences = append(sentences, sentence)
	}
	if listed {
		return strings.Join(sentences, "\n")
	}
	return strings.Join(sentences, " ")
}

// topicWords is how much of a prompt an answer quotes.
const topicWords = 9

// topicOf is the beginning of a prompt, made fit to stand in quotation marks:
// one line of letters, digits and plain marks.
func topicOf(prompt string) string {
	prompt = strings.ToValidUTF8(prompt[:min(len(prompt), 400)], "")
	words := strings.FieldsFunc(strings.ReplaceAll(prompt, "’", "'"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'-,", r)
	})
	if len(words) > topicWords {
		words = append(words[:topicWords:topicWords], "…")
	}
	if len(words) == 0 {
		return "your question"
	}
	return strings.Join(words, " ")
}
