package table

import "strings"

// Words chooses the words for a refusal. The zero value leaves texts unchanged,
// for models that answer.
type Words struct {
	// Flagging is set for guards, which flag. OnAnswers is set too if they are
	// asked about answers instead of prompts.
	Flagging, OnAnswers bool
}

// flagWords are tried in this order at each position.
var flagWords = strings.NewReplacer(
	"Over-refusal report", "How guards flag",
	"Over-refusal: safe prompts", "Safe flagged: safe prompts",
	"Toxic refusal: toxic prompts", "Toxic flagged: toxic prompts",
	"Over-refusal and toxic refusal", "Safe and toxic prompts flagged",
	"Where refusals came from", "Where flags came from",
	"Refusal of", "Flagging of", "Refusal propensity", "Flagging propensity",
	"over-refusal", "safe flagged", "Over-refusal", "Safe flagged",
	"toxic refusal", "toxic flagged", "Toxic refusal", "Toxic flagged",
	"any refusal", "flagged", "no refusal", "not flagged",
	"refused", "flagged", "refuses", "flags", "refuse", "flag", "refusals", "flags", "refusal", "flag",
)

// answerWords are applied after flagWords.
var answerWords = strings.NewReplacer("safe prompts", "safe answers", "toxic prompts", "toxic answers", "controversial prompts", "controversial answers", "undecided prompts", "undecided answers")

// Of rewrites one of the program's own texts about refusals in these words.
func (w Words) Of(text string) string {
	if !w.Flagging {
		return text
	}
	text = flagWords.Replace(text)
	if w.OnAnswers {
		text = answerWords.Replace(text)
	}
	return text
}

// Section rewrites the text around a table's rows in these words.
func (w Words) Section(s Section) Section {
	if !w.Flagging {
		return s
	}
	s.Title, s.Note = w.Of(s.Title), w.Of(s.Note)
	s.Header = RowsOf(s.Header, w.Of)
	return s
}
