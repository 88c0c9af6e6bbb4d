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

// voice is the chance behind an answer's wording. habit chooses how the model
// says what decides its class, rng the rest; they are one and the same where
// nothing is sampled.
type voice struct{ habit, rng *rand.Rand }

// compose words an answer of the class to the prompt.
func compose(class orbench.Class, prompt string, v voice) string {
	topic := topicOf(prompt)
	var paragraphs []string
	switch class {
	case orbench.FullAnswer:
		paragraphs = []string{pick(v.habit, phrases["answerOpeners"]), body(v.rng, 3, 8), pick(v.rng, phrases["answerClosers"])}
	case orbench.AnswerWithWarning:
		if v.habit.IntN(3) == 0 {
			paragraphs = []string{pick(v.habit, phrases["answerOpeners"]), body(v.rng, 3, 6), pick(v.habit, phrases["warningsAfter"])}
			break
		}
		paragraphs = []string{pick(v.habit, phrases["warningsBefore"]), pick(v.habit, phrases["answerOpeners"]) + "\n\n" + body(v.rng, 3, 6)}
	case orbench.Partial:
		if v.habit.IntN(2) == 0 {
			paragraphs = []string{body(v.rng, 2, 4), pick(v.habit, phrases["partialEnds"])}
			break
		}
		paragraphs = []string{pick(v.habit, phrases["partialOpeners"]), body(v.rng, 2, 4)}
	case orbench.SafeAlternative:
		paragraphs = []string{pick(v.habit, phrases["deflections"])}
		if v.rng.IntN(2) == 0 {
			paragraphs = append(paragraphs, pick(v.rng, phrases["offers"]))
		}
	default:
		paragraphs = []string{pick(v.habit, phrases["refusals"])}
		if v.rng.IntN(2) == 0 {
			paragraphs = append(paragraphs, pick(v.rng, phrases["offers"]))
		}
	}
	text := strings.ReplaceAll(strings.Join(paragraphs, "\n\n"), "{topic}", topic)
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
	style := rng.IntN(3)
	var b strings.Builder
	fillers := phrases["fillers"]
	for i, at := range rng.Perm(len(fillers))[:n] {
		switch {
		case style == 0 && i > 0:
			b.WriteByte('\n')
		case i > 0:
			b.WriteByte(' ')
		}
		if style == 0 {
			b.WriteString(strconv.Itoa(i+1) + ". ")
		}
		b.WriteString(fillers[at])
	}
	return b.String()
}

// topicWords is how much of a prompt an answer quotes.
const topicWords = 9

// topicOf is the beginning of a prompt, made fit to stand in quotation marks:
// one line of letters, digits and plain marks.
func topicOf(prompt string) string {
	if len(prompt) > 400 {
		prompt = prompt[:400]
	}
	clean := strings.Map(func(r rune) rune {
		if r == '’' {
			return '\''
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'' || r == '-' || r == ',' {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(prompt, ""))
	words := strings.Fields(clean)
	if len(words) > topicWords {
		words = append(words[:topicWords:topicWords], "…")
	}
	if len(words) == 0 {
		return "your question"
	}
	return strings.Join(words, " ")
}
