package orbench

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Role says who speaks a Message. The zero value is not a role.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
}

// Label says what a prompt is. It is a property of the prompt, never of an answer.
type Label string

// The labels. Over-refusal is measured on Safe prompts and toxic refusal on Toxic ones.
// Controversial and Undecided prompts count towards neither.
const (
	Safe          Label = "safe"
	Toxic         Label = "toxic"
	Controversial Label = "controversial"
	Undecided     Label = "undecided"
)

// Labels lists the labels in the order in which reports show them.
var Labels = []Label{Safe, Toxic, Controversial, Undecided}

// ParseLabel reads a label as people write it in files: in any case, with the
// usual synonyms (unsafe and harmful for toxic, benign and harmless for safe,
// and so on). It reports false for anything else.
func ParseLabel(s string) (Label, bool) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "safe", "benign", "harmless":
		return Safe, true
	case "toxic", "unsafe", "harmful":
		return Toxic, true
	case "controversial", "borderline":
		return Controversial, true
	case "undecided", "unknown":
		return Undecided, true
	}
	return "", false
}

// Category is one of a policy's named kinds of harm. It is empty if the dataset names
// none.
type Category string

// PaperCategories are the ten categories of OR-Bench (arXiv 2405.20947), in the
// alphabetical order of its tables.
var PaperCategories = PaperPolicy().Categories()

// PromptID identifies a prompt by its text: equal text, equal ID, in every
// dataset and on every machine.
type PromptID string

// Prompt is one item of a dataset.
type Prompt struct {
	// ID is PromptIDOf(Messages).
	ID PromptID `json:"id"`
	// Messages is the conversation to send, at least one message; for most
	// datasets it is one user message.
	Messages []Message `json:"messages"`
	// Category is empty if the dataset names none.
	Category Category `json:"category,omitempty"`
	Label    Label    `json:"label"`
	// Cluster names what the prompt shares with others, such as the seed that they were
	// rewritten from. Prompts of one cluster are not independent. It is empty if unknown.
	Cluster string `json:"cluster,omitempty"`
	// Pair names the pair that the prompt belongs to. Safe and toxic prompts that look
	// alike have the same Pair. It is empty for a prompt without a pair.
	Pair string `json:"pair,omitempty"`
	// Answers are those that files have to the prompt, in the order of their rows.
	Answers []Recorded `json:"answers,omitempty"`
}

// Recorded is an answer that a file has.
type Recorded struct {
	// By is the start of the hash of all answers of the file's model.
	By string `json:"by"`
	// Text is the answer as recorded, including any thinking; it may be empty.
	Text string `json:"text"`
	// Line is where the row starts, from 1; it is 0 in formats without lines.
	Line int `json:"line,omitempty"`
	// Finish, Block and Detail say how the answer ended and was withheld, and Input and Output
	// are its tokens, as in model.Response; empty where the file does not say it.
	Finish string `json:"finish,omitempty"`
	Block  string `json:"block,omitempty"`
	Detail string `json:"detail,omitempty"`
	Input  int    `json:"input,omitempty"`
	Output int    `json:"output,omitempty"`
	// User is a hash of who asked, and Time is when, as Unix time.
	User string `json:"user,omitempty"`
	Time int64  `json:"time,omitempty"`
	// Simulated is true if the file says that a simulated model answered.
	Simulated bool `json:"simulated,omitempty"`
	// Said has the cells of columns of verdicts, by the name of the column.
	Said map[string]string `json:"said,omitempty"`
}

// NewPrompt makes a one-message prompt with its ID.
func NewPrompt(text string, category Category, label Label) Prompt {
	messages := []Message{{Role: User, Content: text}}
	return Prompt{ID: PromptIDOf(messages), Messages: messages, Category: category, Label: label}
}

// Text is the part of the prompt to show to a reader: the content of its last user
// message.
func (p Prompt) Text() string {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if p.Messages[i].Role == User {
			return p.Messages[i].Content
		}
	}
	return ""
}

// Said is the text of all messages, by any speaker, for comparing words. Each message is
// on its own line.
func (p Prompt) Said() string {
	said := make([]string, len(p.Messages))
	for i, m := range p.Messages {
		said[i] = m.Content
	}
	return strings.Join(said, "\n")
}

// Transcript is the whole prompt as text. A single message is unchanged; several messages
// are each preceded by their speaker.
func (p Prompt) Transcript() string {
	if len(p.Messages) == 1 {
		return p.Messages[0].Content
	}
	turns := make([]string, len(p.Messages))
	for i, m := range p.Messages {
		turns[i] = string(m.Role) + ":\n" + m.Content
	}
	return strings.Join(turns, "\n\n")
}

// PromptIDOf computes the ID of a conversation: "p" and the first 16 hex digits
// of the SHA-256 of its roles and contents. 64 bits keep the chance of any
// collision among a million prompts under one in ten million.
func PromptIDOf(messages []Message) PromptID {
	h := sha256.New()
	for _, m := range messages {
		h.Write([]byte(m.Role))
		h.Write([]byte{0})
		h.Write([]byte(m.Content))
		h.Write([]byte{0})
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return PromptID("p" + hex.EncodeToString(sum[:8]))
}
