package dataset

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
)

// Bounds on the content of a row.
const (
	// MaxCell is the longest prompt and the longest recorded answer, in bytes.
	MaxCell = rows.MaxCell
	// MaxRow is the longest row of a text file, including everything in it, in bytes.
	MaxRow = rows.MaxRow
	// MaxCategory is the longest name of a category, of a group of answers and of a
	// person's label, in bytes.
	MaxCategory = 200
)

// promptOf checks a row and makes its prompt.
func (in *input) promptOf(r rows.Row) (orbench.Prompt, error) {
	file, columns := in.Name, in.columns
	messages := r.Messages
	if in.recorded != nil {
		var err error
		if messages, err = in.recorded.asked(file, r, r.Cells[in.answersAt+1]); err != nil {
			return orbench.Prompt{}, err
		}
	}
	if messages == nil {
		messages = []orbench.Message{{Role: orbench.User, Content: r.Text}}
	}
	answer, problem, hint := answerIn(r, columns)
	if problem == "" {
		messages = append(messages, answer...)
		problem, hint = checkMessages(messages, columns.Prompt)
	}
	if problem != "" {
		return orbench.Prompt{}, r.Fault(file, problem, hint)
	}
	p := orbench.Prompt{ID: orbench.PromptIDOf(messages), Messages: messages, Label: in.label}
	category, err := cellName(file, r, 0, "category", columns.Category, "category-column")
	if err != nil {
		return orbench.Prompt{}, err
	}
	p.Category = orbench.Category(category)
	if columns.Label != "" {
		var ok bool
		written := r.Cells[1]
		if p.Label, ok = in.meaning(written); !ok {
			problem := fmt.Sprintf("unknown label %s in column %q", untrusted.Quote(written), columns.Label)
			if strings.TrimSpace(written) == "" {
				problem = fmt.Sprintf("no label in column %q", columns.Label)
			}
			return orbench.Prompt{}, r.Fault(file, problem,
				"write safe, toxic, controversial or undecided; or say with `label-values` what its values mean, or name another column with `label-column`")
		}
	}
	if p.Cluster, err = cellName(file, r, 2, "cluster", columns.Cluster, ""); err != nil {
		return orbench.Prompt{}, err
	}
	if p.Pair, err = cellName(file, r, 3, "pair", columns.Pair, ""); err != nil {
		return orbench.Prompt{}, err
	}
	if columns.Cluster != "" || columns.Pair != "" {
		// Prompts of a pair are not independent. A prompt that shares nothing is its own
		// cluster.
		if columns.Cluster == "" {
			p.Cluster = p.Pair
		}
		p.Cluster = cmp.Or(p.Cluster, string(p.ID))
	}
	return p, nil
}

// cellName gives the name in a cell of a row, without surrounding white space; see
// checkName.
func cellName(file string, r rows.Row, cell int, what, column, setting string) (string, error) {
	name := strings.TrimSpace(r.Cells[cell])
	if problem, hint := checkName(name, what, column, setting); problem != "" {
		return "", r.Fault(file, problem, hint)
	}
	return name, nil
}

// answerCell is the index of the answer's cell, after the fields of every layout.
const answerCell = 5

// answerIn gives the answer of a row as the last turn of a conversation, none if there is
// no answer column, or a fault and a hint.
func answerIn(r rows.Row, columns Columns) (turn []orbench.Message, problem, hint string) {
	if columns.Response == "" {
		return nil, "", ""
	}
	text := r.Cells[answerCell]
	switch {
	case strings.TrimSpace(text) == "":
		return nil, fmt.Sprintf("empty answer in column %q", columns.Response), "fill it in or delete the row"
	case len(text) > MaxCell:
		return nil, fmt.Sprintf("the answer has %d bytes; the most is %d", len(text), MaxCell), "cut it or delete the row"
	}
	if problem, hint := checkText(text, columns.Response); problem != "" {
		return nil, problem, hint
	}
	return []orbench.Message{{Role: orbench.Assistant, Content: text}}, "", ""
}

// checkMessages gives the fault of a conversation and a hint, or "".
func checkMessages(messages []orbench.Message, column string) (problem, hint string) {
	const turns = "let user and assistant take turns, the user first and last"
	size := 0
	var before orbench.Role
	for i, m := range messages {
		size += len(m.Content)
		switch {
		case m.Role == orbench.System && i > 0:
			return fmt.Sprintf("message %d has the role system; only the first message can have it", i+1), "put it first, or into the user's words"
		case m.Role == orbench.System:
		case m.Role == orbench.User, m.Role == orbench.Assistant:
			if m.Role == before {
				return fmt.Sprintf("messages %d and %d are both of the role %s", i, i+1, m.Role), turns
			}
			if m.Role == orbench.Assistant && before == "" {
				return "the assistant speaks first", turns
			}
			before = m.Role
		default:
			return fmt.Sprintf("a message has the role %s", untrusted.Quote(string(m.Role))), "write system, user or assistant"
		}
		if problem, hint := checkText(m.Content, column); problem != "" {
			return problem, hint
		}
	}
	last := messages[len(messages)-1]
	switch {
	case size > MaxCell:
		return fmt.Sprintf("the prompt has %d bytes; the most is %d", size, MaxCell),
			"cut or delete it, or look for a quotation mark that is left open"
	case last.Role == orbench.User && strings.TrimSpace(last.Content) == "" || last.Role == orbench.System:
		return fmt.Sprintf("empty prompt in column %q", column), "fill it in or delete the row"
	}
	for i, m := range messages {
		if strings.TrimSpace(m.Content) == "" {
			return fmt.Sprintf("message %d, of the role %s, is empty, which providers refuse", i+1, m.Role), "fill it in or leave it out"
		}
	}
	return "", ""
}

// checkText gives the fault of an invalid text and a hint, or "".
func checkText(text, column string) (problem, hint string) {
	switch {
	case !utf8.ValidString(text):
		return fmt.Sprintf("invalid UTF-8 in column %q", column), rows.UTF8Hint
	case strings.IndexByte(text, 0) >= 0:
		return fmt.Sprintf("a NUL byte in column %q", column), "the file is binary, damaged or UTF-16; save it as plain UTF-8 text"
	}
	return "", ""
}

// checkAsked gives the fault, and a hint, of a valid conversation that ends with an
// answer although a user's message is wanted. It gives "" for others.
func checkAsked(messages []orbench.Message) (problem, hint string) {
	if n := len(messages); n > 0 && messages[n-1].Role != orbench.User {
		return "the last message is not the user's", "end with the user's message. Recorded answers belong in a column of their own; only guards are asked about answers, without a dialog"
	}
	return "", ""
}

// checkName gives the fault of a category, a label or a group and a hint, or "". They
// become rows of reports, so they must be names.
func checkName(name, what, column, setting string) (problem, hint string) {
	other := "name another column with `" + setting + "`"
	if setting == "" {
		other = "correct it, or give the column another name"
	}
	switch {
	case len(name) > MaxCategory:
		return fmt.Sprintf("the %s in column %q has %d bytes; the most is %d", what, column, len(name), MaxCategory), other
	case !utf8.ValidString(name):
		return fmt.Sprintf("invalid UTF-8 in column %q", column), rows.UTF8Hint
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Sprintf("the %s %s has a control character", what, untrusted.Quote(name)), other
	}
	return "", ""
}
