package reply

import (
	"slices"
	"strings"
	"unicode"

	"github.com/orbench/orbench/model"
)

// end is an entry of ends.json: words for how an answer ended, and for what withheld it, as
// providers, gateways and tools write them, with underscores for spaces and hyphens. The first
// entry counts.
type end struct {
	As model.Finish `json:"as"`
	// Words are whole words, Within what stands in others, such as in "content_filter: SAFETY".
	Words  []string `json:"words"`
	Within []string `json:"within"`
	Entry
}

var ends = load[end]("ends.json")

// End says how an answer ended, from the word for it. It is empty for an empty word.
func End(word string) (model.Finish, *model.Block) {
	lower := strings.ToLower(strings.Trim(word, `[]"' `))
	if lower == "" || lower == "null" || lower == "none" {
		return "", nil
	}
	lower = strings.NewReplacer(" ", "_", "-", "_").Replace(lower)
	last := lower[strings.LastIndexByte(lower, '.')+1:]
	within := func(w string) bool { return strings.Contains(lower, w) }
	i := slices.IndexFunc(ends(), func(e end) bool {
		return slices.Contains(e.Words, lower) || slices.Contains(e.Words, last) || slices.ContainsFunc(e.Within, within)
	})
	if i < 0 {
		return model.OtherFinish, nil
	}
	if ends()[i].As == model.Blocked {
		return model.Blocked, &model.Block{Kind: model.OutputFilter, Detail: word}
	}
	return ends()[i].As, nil
}

// IsValue reports whether a text is a value, and not a mark of a missing one.
func IsValue(text string) bool { return Missing(text, model.Response{Finish: model.Stop}) == "" }

// Missing says why a response has no answer; empty for one that has, or whose token limit cut it.
func Missing(text string, response model.Response) string {
	trimmed := strings.Trim(text, " \t\n\r\v\f\u00a0\u200b\ufeff")
	switch {
	case response.Finish == model.Called:
		return "a call of a tool"
	case response.Finish == model.Broken:
		return "it broke off"
	case trimmed == "" && response.Finish == model.Length:
		return ""
	case trimmed == "" && strings.TrimSpace(response.Thinking) != "":
		return "reasoning alone"
	case trimmed == "":
		return "no text"
	case !strings.ContainsFunc(trimmed, func(r rune) bool { return r != '\ufffd' && r != '█' && !unicode.IsPunct(r) && !unicode.IsSpace(r) }):
		return "no words"
	case len(trimmed) > longest && !strings.HasPrefix(strings.ToLower(trimmed[:9]), "traceback") && trimmed[0] != '<' || len(trimmed) > 16*longest:
		return ""
	}
	lower := strings.ToLower(trimmed)
	t := noAnswers()
	in, fault := t.texts.find(lower), len(lower) < 250 && failing(lower)
	// An ordinary sentence has words that faults do not have.
	ordinary := func() bool {
		return !strings.ContainsAny(trimmed, "{}[]<>_=/`\"\n") && !strings.Contains(" "+trimmed, " '") && strange(trimmed, "error")
	}
	for i := range t.blocks {
		n := &t.blocks[i]
		says := fault && n.Sentence && n.Texts == nil || n.texts(lower, in) && (!n.Sentence || !ordinary())
		if says && !n.not(lower) {
			return n.Name
		}
	}
	return ""
}
