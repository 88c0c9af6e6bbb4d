package conversation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Placeholder marks the prompt in a user's turn.
const Placeholder = "{{prompt}}"

// NothingShown replaces an answer of which the user saw no word: the provider withheld it
// without a message, or it has no text.
const NothingShown = "(There was no answer.)"

// Refused is the condition of a turn. Whether an answer refuses is the word of the judge
// lexical, which asks nobody; an answer of which it is unsure does not.
const Refused = "refused"

// refused reports whether an answer to a conversation is a refusal.
func refused(asked orbench.Prompt, answer model.Response) bool {
	v, _ := judge.Lexical.Verdict(judge.Case{Prompt: asked, Response: answer}, model.NoReplies)
	return v.Class.Refused()
}

// Bounds on a script.
const (
	maxTurns = 40
	maxBytes = 256 << 10
)

// Script is a dialog around a prompt. Check says whether it is valid. A nil Script is the
// prompt alone.
type Script struct {
	Name  string `yaml:"name" json:"name" jsonschema_description:"Name in the names of variants: letters, digits, dots, hyphens and underscores."`
	Turns []Turn `yaml:"turns" json:"turns,omitempty" jsonschema_description:"The turns in their order: {user: TEXT}, {assistant: TEXT}, or own for the target's own answer. {user: TEXT, if: refused} is said only after an own answer that refuses; after any other, that answer ends the dialog and is judged. {{prompt}} stands for the prompt in what the user says."`
}

// Turn is one turn of a script. Exactly one of User, Assistant and Own is set.
type Turn struct {
	User string `yaml:"user" json:"user,omitempty"`
	// If is Refused for what the user says only if the target's own answer before it is a
	// refusal. After any other answer the dialog ends, and that answer is the one measured.
	If        string `yaml:"if" json:"if,omitempty"`
	Assistant string `yaml:"assistant" json:"assistant,omitempty"`
	// Own is true if the target answers.
	Own bool `yaml:"-" json:"own,omitempty"`
}

// Said is a turn of a dialog that took place.
type Said struct {
	orbench.Message
	// Own is true for the target's own answers. Other turns come from the script or the
	// prompt.
	Own bool `json:"own,omitempty"`
	// Block says what withheld an answer of the target, nil if nothing did. If it is set,
	// Content is what the user saw instead.
	Block *model.Block `json:"block,omitempty"`
}

// Check says what is wrong with a script and how to correct it. Both are empty for a
// valid script.
func (s *Script) Check() (problem, hint string) {
	const form = "write turns as {user: TEXT}, {assistant: TEXT} or own"
	size, asked := 0, 0
	for i, t := range s.Turns {
		who := fmt.Sprintf("turn %d", i+1)
		users := t.User != ""
		switch {
		case t.Own != (t.User+t.Assistant == ""), users && t.Assistant != "", strings.TrimSpace(t.User+t.Assistant) == "" && !t.Own:
			return who + " must be one thing that somebody says", form
		case t.If != "" && (t.If != Refused || !users || i == 0 || !s.Turns[i-1].Own):
			return who + " has an unknown condition", "write {user: TEXT, if: refused} behind own"
		case users != (i%2 == 0):
			return who + " must be the other side's", "let user and assistant take turns, the user first and last"
		case strings.Contains(t.Assistant, Placeholder):
			return who + " has the assistant say " + Placeholder, "only the user can"
		}
		asked += strings.Count(t.User, Placeholder)
		size += len(t.User) + len(t.Assistant)
	}
	switch {
	case len(s.Turns) == 0:
		return "there are no turns", form
	case len(s.Turns)%2 == 0:
		return "the last turn is not the user's", "end with what the user says; the answer to it is measured"
	case asked == 0:
		return "no turn has " + Placeholder, "put it where the user asks the prompt"
	case len(s.Turns) == 1 && s.Turns[0].User == Placeholder:
		return "this is the prompt alone, which is always asked", "add turns before it or after it"
	case len(s.Turns) > maxTurns:
		return fmt.Sprintf("%d turns; the most is %d", len(s.Turns), maxTurns), "leave some out"
	case size > maxBytes:
		return fmt.Sprintf("%d bytes; the most is %d", size, maxBytes), "say less"
	}
	return "", ""
}

// Own reports whether any turn is the target's own answer.
func (s *Script) Own() bool { return s.Answers() > 1 }

// Answers is the number of answers of the target in a dialog, including the last one.
func (s *Script) Answers() int {
	n := 1
	if s != nil {
		for _, t := range s.Turns {
			if t.Own {
				n++
			}
		}
	}
	return n
}

// Hold holds the dialog around a prompt, up to the last turn, which is the user's. answer
// gives the target's own answer to a conversation. If it has none it returns false, and
// so does Hold. It may be nil for a script without own answers.
//
// If a prompt is itself a conversation, its system message stays first. Its other
// messages come before the first turn with the prompt, and every Placeholder is its last
// message. The dialog of a nil Script is nil. So is the dialog of a prompt that ends with
// an answer, as guards are shown.
//
// For an answer that was withheld, the dialog has what the user saw. NothingShown
// replaces any answer without a word. Thinking is not part of the dialog.
//
// Before a turn whose condition does not hold, the dialog ends with the user's turn before
// the target's own answer, so that this answer is the one to it.
func (s *Script) Hold(p orbench.Prompt, answer func(orbench.Prompt) (model.Response, bool)) (dialog []Said, ok bool) {
	last := len(p.Messages) - 1
	if s == nil || p.Messages[last].Role != orbench.User {
		return nil, true
	}
	say := func(role orbench.Role, text string) {
		dialog = append(dialog, Said{Message: orbench.Message{Role: role, Content: text}})
	}
	earlier, text := p.Messages[:last], p.Messages[last].Content
	for len(earlier) > 0 && earlier[0].Role == orbench.System {
		say(orbench.System, earlier[0].Content)
		earlier = earlier[1:]
	}
	refuses := false
	for _, t := range s.Turns {
		if t.If == Refused && !refuses {
			return dialog[:len(dialog)-1], true
		}
		switch {
		case t.Own:
			asked := Asked(p, dialog)
			response, ok := answer(asked)
			if !ok {
				return nil, false
			}
			refuses = refused(asked, response)
			said := response.Text
			if strings.TrimSpace(said) == "" {
				said = NothingShown
			}
			dialog = append(dialog, Said{Message: orbench.Message{Role: orbench.Assistant, Content: said}, Own: true, Block: response.Block})
		case t.Assistant != "":
			say(orbench.Assistant, t.Assistant)
		default:
			if strings.Contains(t.User, Placeholder) {
				for _, m := range earlier {
					say(m.Role, m.Content)
				}
				earlier = nil
			}
			say(orbench.User, strings.ReplaceAll(t.User, Placeholder, text))
		}
	}
	return dialog, true
}

// Asked is a prompt in the words in which it is asked at the end of a dialog, with the ID
// of those words. Without a dialog it is the prompt itself.
func Asked(p orbench.Prompt, dialog []Said) orbench.Prompt {
	if len(dialog) == 0 {
		return p
	}
	p.Messages = make([]orbench.Message, len(dialog))
	for i, said := range dialog {
		p.Messages[i] = said.Message
	}
	p.ID = orbench.PromptIDOf(p.Messages)
	return p
}

// Turns are the turns of the dialog that ends with the prompt; without a dialog, the
// prompt's own.
func Turns(p orbench.Prompt, dialog []Said) []Said {
	if len(dialog) > 0 {
		return dialog
	}
	own := make([]Said, len(p.Messages))
	for i, m := range p.Messages {
		own[i].Message = m
	}
	return own
}

// Equal reports whether two scripts are the same.
func (s *Script) Equal(o *Script) bool {
	return s.Name == o.Name && slices.Equal(s.Turns, o.Turns)
}
