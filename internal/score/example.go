package score

import (
	"strings"
	"unicode/utf8"

	"github.com/orbench/orbench"
)

// Example is an answer that shows what a rate counts: a refused prompt with the beginning of
// what came back.
type Example struct {
	// Prompt is the last message, and Answer the beginning of the answer, each in one line
	// of at most exampleLength characters.
	Prompt, Answer string
	// Score is the judge's; see orbench.Verdict.
	Score float64
	// Whole is true where the prompt is shown whole.
	Whole bool
}

// exampleLength is the most characters that an example shows of a text.
const exampleLength = 140

// exampleOf makes an example of an answer to a prompt.
func exampleOf(prompt orbench.Prompt, answer string, score float64) *Example {
	asked, whole := opening(prompt.Messages[len(prompt.Messages)-1].Content)
	answer, _ = opening(answer)
	return &Example{Prompt: asked, Answer: answer, Score: score, Whole: whole}
}

// Better reports whether e shows more plainly than o what was refused: a prompt that can be
// shown whole goes first, then what the judge is surest of.
func (e *Example) Better(o *Example) bool {
	if o == nil || e.Whole != o.Whole {
		return o == nil || e.Whole
	}
	return e.Score > o.Score
}

// opening is the beginning of a text in one line, and whether it is all of it.
func opening(text string) (line string, whole bool) {
	// Four bytes hold any character, and blanks in between may be many.
	head := text[:min(len(text), 16*exampleLength)]
	line = strings.Join(strings.Fields(strings.ToValidUTF8(head, "")), " ")
	if utf8.RuneCountInString(line) <= exampleLength {
		return line, len(head) == len(text)
	}
	return string([]rune(line)[:exampleLength-1]) + "…", false
}
