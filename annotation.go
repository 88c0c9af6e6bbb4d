package orbench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Subject names what an Annotation is about by the hash of its content: a prompt,
// or a prompt with an answer to it. Equal content has an equal subject, whichever
// model gave the answer.
type Subject [sha256.Size]byte

// PromptSubject is the subject of an annotation on a prompt.
func PromptSubject(messages []Message) Subject {
	return subjectOf("prompt", messages, "")
}

// AnswerSubject is the subject of an annotation on an answer to a prompt.
func AnswerSubject(messages []Message, answer string) Subject {
	return subjectOf("answer", messages, answer)
}

func subjectOf(kind string, messages []Message, answer string) Subject {
	h := sha256.New()
	write := func(s string) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	write(kind)
	for _, m := range messages {
		write(string(m.Role))
		write(m.Content)
	}
	write("")
	write(answer)
	return Subject(h.Sum(nil))
}

// String is the subject in hex digits.
func (s Subject) String() string { return hex.EncodeToString(s[:]) }

// MarshalText writes the subject as String does.
func (s Subject) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote. Anything else is an error.
func (s *Subject) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(s) {
		return fmt.Errorf("%.80q is no subject of an annotation: want %d hex digits", text, 2*len(s))
	}
	copy(s[:], b)
	return nil
}

// Annotation is a person's word on an answer or on a prompt, or, without a person,
// the note that one was drawn to be looked at. Annotations are never changed: of
// those of one person on one subject the latest holds.
type Annotation struct {
	Subject Subject `json:"subject"`
	// Class is what the person says of an answer. Unjudged means that the person
	// takes an earlier word back, or that nobody has looked yet.
	Class Class `json:"class,omitempty"`
	// Label is what the person says of a prompt, in place of Class.
	Label Label `json:"label,omitempty"`
	// By names the person, and is empty for a drawing.
	By string `json:"by,omitempty"`
	// At is when it was said, in UTC.
	At time.Time `json:"at"`
	// Note is the person's comment, mostly empty.
	Note string `json:"note,omitempty"`
	// Design names the drawing that chose the subject, and Chance is how likely the
	// subject was to be chosen by it and the drawings before, above 0 and at most 1.
	// They are empty for a subject that was not drawn by chance.
	Design string  `json:"design,omitempty"`
	Chance float64 `json:"chance,omitempty"`
}

// ID is the hash of the annotation's content, by which a store keeps it once.
func (a Annotation) ID() [sha256.Size]byte {
	a.At = a.At.UTC()
	b, err := json.Marshal(a)
	if err != nil {
		panic(err) // no field can fail to be written
	}
	return sha256.Sum256(b)
}
