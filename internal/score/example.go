package score

import (
	"strings"
	"unicode/utf8"

	"github.com/orbench/orbench"
)

// Example is an answer that shows what a rate counts: a refused prompt with the
// beginning of its answer.
type Example struct {
	// Prompt is the last message, and Answer the beginning of the answer. Each
	// is one line of at most exampleLength characters.
	Prompt string `json:"prompt"`
	Answer string `json:"answer"`
	// Score is the judge's score; see orbench.Verdict.
	Score float64 `json:"score"`
	// Whole is true if the prompt is shown in full.
	Whole bool `json:"whole"`
}

// exampleLength is the most characters of a text that an example shows.
const exampleLength = 140

// exampleOf makes an example of an answer to a prompt.
func exampleOf(prompt orbench.Prompt, answer string, score float64) *Example {
	asked, whole := opening(prompt.Messages[len(prompt.Messages)-1].Content)
	answer, _ = opening(answer)
	return &Example{Prompt: asked, Answer: answer, Score: score, Whole: whole}
}

// Better reports whether e is a plainer example of a refusal than o. A prompt
// that can be shown in full comes first, then the higher score of the judge.
func (e *Example) Better(o *Example) bool {
	if o == nil || e.Whole != o.Whole {
		return o == nil || e.Whole
	}
	return e.Score > o.Score
}

// opening returns the beginning of a text in one line, and whether that is the
// whole text.
func opening(text string) (line string, whole bool) {
	// A character takes at most four bytes; the rest allows for many blanks.
	head := text[:min(len(text), 16*exampleLength)]
	line = strings.Join(strings.Fields(strings.ToValidUTF8(head, "")), " ")
	if utf8.RuneCountInString(line) <= exampleLength {
		return line, len(head) == len(text)
	}
	return string([]rune(line)[:exampleLength-1]) + "…", false
}
