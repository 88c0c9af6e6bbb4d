package defense

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/question"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/refusal"
)

// The question to a translator, version 1. A version that has been used is never
// edited: a better wording becomes the next version, in a new file.
//
//go:embed prompts/translate-v1.txt
var translatePrompt string

// The possible last lines of a translator's reply.
const (
	translated = "translated"
	declined   = "declined"
)

// statusMarker announces that line.
const statusMarker = "status"

// translation puts a conversation into another language before anything else sees it, as
// if its user had written in that language.
type translation struct {
	name     string
	language string
	model    question.Model
}

// TranslateStep is the step that has a model translate into a language. The model is
// written as provider/model: "translate:fr@openai/gpt-4o".
func TranslateStep(language, translator string) string {
	return translate + ":" + language + "@" + translator
}

// IsLanguage reports whether s can name a language: up to 40 letters, digits,
// spaces and hyphens, such as "fr", "zh-Hant" and "Brazilian Portuguese".
func IsLanguage(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != ' ' && r != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 40 && s == strings.Join(strings.Fields(s), " ")
}

// apply gives the translated prompt. System prompts stay as they are. If a message cannot
// be translated, the finding is Failed and there is no prompt.
func (tr *translation) apply(p orbench.Prompt, look model.Lookup) (orbench.Prompt, Finding, []model.Request) {
	messages := slices.Clone(p.Messages)
	var missing []model.Request
	var failed error
	for i, m := range messages {
		if m.Role == orbench.System {
			continue
		}
		text, lacks, err := tr.translate(m.Content, look)
		missing = append(missing, lacks...)
		if failed == nil {
			failed = err
		}
		messages[i].Content = text
	}
	switch {
	case len(missing) > 0:
		return orbench.Prompt{}, Finding{}, missing
	case failed != nil:
		return orbench.Prompt{}, Finding{Step: tr.name, Decision: Failed, Why: failed.Error()}, nil
	}
	p.Messages = messages
	p.ID = orbench.PromptIDOf(messages)
	return p, Finding{Step: tr.name, Decision: Reworded, Why: p.Transcript()}, nil
}

// translate gives the translation of one message. With missing requests there is none
// yet; with an error there will be none.
func (tr *translation) translate(text string, look model.Lookup) (translation string, missing []model.Request, err error) {
	if strings.TrimSpace(text) == "" {
		return text, nil, nil
	}
	posed := tr.pose(text)
	no := false
	missing, err = question.Ask(posed.Request, look, func(reply string) error {
		status, words, err := posed.Read(reply)
		no = status == declined
		switch {
		case err != nil || no:
			return err
		case words == "":
			return errors.New("there is no translation before its last line")
		case strings.Contains(words, posed.Fence):
			return errors.New("it repeats the lines around the message")
		}
		translation = words
		return nil
	})
	// A translator may decline in words and mark that as the translation.
	if no || translation != "" && refusal.Detect(text, translation).Class == orbench.Refusal && refusal.Detect("", text).Class != orbench.Refusal {
		return "", nil, fmt.Errorf("%s declined to translate it", tr.model.Ref)
	}
	if err != nil {
		err = fmt.Errorf("it is not translated: %w", err)
	}
	return translation, missing, err
}

// pose asks for the translation of a message.
func (tr *translation) pose(text string) question.Posed {
	return tr.model.Pose(question.Question{
		Text: translatePrompt, Word: statusMarker, Choices: []string{translated, declined}, Placeholders: []string{"language", tr.language},
	}, "text", text)
}

// echo is a reply that repeats a message after its language, for planning.
func (tr *translation) echo(text string) (model.Request, model.Response) {
	posed := tr.pose(text)
	return posed.Request, model.Response{Text: tr.language + ": " + text + "\n" + posed.Marker + ": " + translated, Finish: model.Stop}
}
