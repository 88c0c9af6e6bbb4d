package reply

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/orbench/orbench/model"
)

// end is an entry of ends.yaml.
type end struct {
	As    string   `yaml:"as"`
	Words []string `yaml:"words"`
	Entry `yaml:",inline"`
}

// endings has what each word means, and the words for a block in order.
var endings = sync.OnceValue(func() (all struct {
	of     map[string]string
	blocks []string
},
) {
	all.of = map[string]string{}
	for _, e := range load[end]("ends.yaml")() {
		for _, w := range e.Words {
			if all.of[w] = e.As; e.As == "block" {
				all.blocks = append(all.blocks, w)
			}
		}
	}
	return all
})

// End says how an answer ended, from the word for it. It is empty for an empty word.
func End(word string) (model.Finish, *model.Block) {
	lower := strings.ToLower(strings.Trim(word, `[]"' `))
	lower = strings.NewReplacer(" ", "_", "-", "_").Replace(lower)
	if lower == "" || lower == "null" || lower == "none" {
		return "", nil
	}
	as := endings().of[lower]
	if as == "" {
		as = endings().of[lower[strings.LastIndexByte(lower, '.')+1:]]
	}
	for _, w := range endings().blocks {
		if as == "" && strings.Contains(lower, w) {
			as = "block"
		}
	}
	switch as {
	case "stop":
		return model.Stop, nil
	case "length":
		return model.Length, nil
	case "block":
		return model.Blocked, &model.Block{Kind: model.OutputFilter, Detail: word}
	case "tool":
		return model.Called, nil
	case "broken":
		return model.Broken, nil
	}
	if strings.Contains(lower, "error") {
		return model.Broken, nil
	}
	return model.OtherFinish, nil
}

// noAnswer is an entry of noanswers.yaml.
type noAnswer struct {
	Name  string   `yaml:"name"`
	Texts []string `yaml:"texts"`
	Entry `yaml:",inline"`
	texts *regexp.Regexp
}

var noAnswers = sync.OnceValue(func() []noAnswer {
	all := load[noAnswer]("noanswers.yaml")()
	for i := range all {
		all[i].texts = whole(all[i].Texts)
	}
	return all
})

// failures has one of every longer text that is no answer, as signs has of blocks.
var failures = []string{"error", "fail", "exceeded", "reached", "unavailable", "upstream", "timed out", "timeout", "overloaded", "busy", "loading", "exhausted", "connection", "traceback", "memory", "went wrong", "not found", "not available", "does not exist", "unauthor", "forbidden", "unable to", "could not", "gateway", "retr", "cloudflare", "denied", "moment", "deadline", "disconnected", "no response", "no answer", "empty", "hit", "invalid", "false"}

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
	case !strings.ContainsFunc(trimmed, func(r rune) bool { return !unicode.IsPunct(r) && !unicode.IsSpace(r) }):
		return "no words"
	case len(trimmed) > longest && !begins(trimmed, "traceback", false) && trimmed[0] != '<' || len(trimmed) > 16*longest:
		return ""
	}
	lower := strings.ToLower(trimmed)
	if len(lower) > 40 && !slices.ContainsFunc(failures, func(s string) bool { return strings.Contains(lower, s) }) {
		return ""
	}
	for i := range noAnswers() {
		if noAnswers()[i].texts.MatchString(lower) {
			return noAnswers()[i].Name
		}
	}
	return ""
}
