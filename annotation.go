package orbench

import (
	"cmp"
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

// How says how a person came to a label.
type How string

// The ways to a label.
const (
	// Blind labels were made without a judge's verdict or another person's label in sight.
	Blind How = ""
	// Settled labels end a dispute between people, by somebody who saw what they said.
	Settled How = "settled"
	// Sighted labels were made with a judge's verdict in sight. They correct no rate.
	Sighted How = "sighted"
	// Chosen labels are of answers that a filter or another person chose. They correct no
	// rate, since nobody knows what such answers represent.
	Chosen How = "chosen"
	// Again labels are of answers that the person has labeled before, asked once more
	// without their first label in sight. They say how often a reader errs.
	Again How = "again"
)

// Annotation is a person's label for an answer or a prompt. Without a person, it notes
// that the subject was drawn for labeling. Annotations never change: a person's latest
// annotation of a subject is the one that counts.
type Annotation struct {
	Subject Subject `json:"subject"`
	// Class is the person's label for an answer. Unjudged withdraws an earlier label, or
	// means that nobody has looked yet.
	Class Class `json:"class,omitempty"`
	// Label is the person's label for a prompt; it stands in place of Class.
	Label Label `json:"label,omitempty"`
	// Undecided means that the person looked at an answer and cannot decide. Class is then
	// Unjudged.
	Undecided bool `json:"undecided,omitempty"`
	How       How  `json:"how,omitempty"`
	// By names the person. It is empty for a drawing.
	By string `json:"by,omitempty"`
	// At is the time of the annotation, in UTC.
	At time.Time `json:"at"`
	// Note is the person's comment, usually empty.
	Note string `json:"note,omitempty"`
	// Design names the drawing that chose the subject. Chance is the probability that it
	// or an earlier drawing chose the subject, above 0 and at most 1. Both are empty for
	// a subject that was not drawn by chance.
	Design string  `json:"design,omitempty"`
	Chance float64 `json:"chance,omitempty"`
	// Plan is set in place of a label: it was kept before the first one. Subject is then
	// its hash.
	Plan *LabelPlan `json:"plan,omitempty"`
	// Skipped means, in place of a label, that the person leaves the subject for later; Note
	// says why.
	Skipped bool `json:"skipped,omitempty"`
	// For names, in place of a label, another person whom By asks to label the subject.
	For string `json:"for,omitempty"`
	// Kin says, in place of a label, whether two runs asked one model. Subject is then that
	// of the Kin.
	Kin *Kin `json:"kin,omitempty"`
	// RateSeen means that the person had looked at the rate before giving the label.
	RateSeen bool `json:"rate_seen,omitempty"`
}

// Kin says whether two runs asked one model, such as two checkpoints of it. Nobody but the
// user knows: servers give other weights the same name.
type Kin struct {
	Sides    [2]KinSide `json:"sides"`
	OneModel bool       `json:"one_model"`
}

// KinSide is a model as a run asked it, with its provider.
type KinSide struct {
	Run   string `json:"run"`
	Model string `json:"model"`
}

// Annotation notes the kin of two models, in either order, at a time.
func (k Kin) Annotation(at time.Time) Annotation {
	if a, b := k.Sides[0], k.Sides[1]; cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Model, b.Model)) > 0 {
		k.Sides = [2]KinSide{b, a}
	}
	b, err := json.Marshal(k.Sides)
	if err != nil {
		panic(err) // no field can fail to be written
	}
	return Annotation{Subject: sha256.Sum256(b), Kin: &k, At: at.UTC()}
}

// LabelPlan says how answers will be labeled. It is kept before the first label, so that
// nobody can choose it by its result.
type LabelPlan struct {
	// Designs are the drawings that it is for, as in Annotation.Design.
	Designs []string `json:"designs"`
	// Classes are those that people may give. Size is the number of answers to draw, by
	// Seed. People are those who label, and Stop says when they stop.
	Classes []Class  `json:"classes"`
	Size    int      `json:"size"`
	Seed    uint64   `json:"seed"`
	People  []string `json:"people"`
	Stop    string   `json:"stop"`
}

// Hash is the hash of the plan's content.
func (p LabelPlan) Hash() Subject {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // no field can fail to be written
	}
	return sha256.Sum256(b)
}

// ID is the hash of the annotation's content. A store keeps each ID once.
func (a Annotation) ID() [sha256.Size]byte {
	a.At = a.At.UTC()
	b, err := json.Marshal(a)
	if err != nil {
		panic(err) // no field can fail to be written
	}
	return sha256.Sum256(b)
}
