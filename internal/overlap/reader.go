package overlap

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/rows"
)

// readRows passes what the user says in each row of a file to each, with the
// number of the row, from 1, or of its line in JSON Lines. For rows without a
// prompt it passes none. others are the lines of system messages and of answers. A damaged
// file is an *orbench.InputError.
func readRows(path string, each func(row int, said, others []string) error) error {
	file, err := rows.Open(path, rows.Whole)
	if errors.Is(err, rows.ErrEmpty) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lines := slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(path)))
	for r, err := range file.All {
		if lines {
			r.Number = r.Line
		}
		if err == nil {
			err = each(r.Number, promptOf(r.Fields), othersOf(r.Fields))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The names of the columns that hold prompts as texts or messages, the most
// likely first, and of those that hold conversations with the prompt and an
// answer.
var (
	promptColumns       = []string{"prompt", "messages", "conversations", "conversation", "instruction", "question", "query", "goal", "input"}
	conversationColumns = []string{"chosen", "text", "rejected"}
	// answerColumns hold answers, or what a system says.
	answerColumns = []string{
		"completion", "response", "output", "answer", "preferred_output", "non_preferred_output", "response_0", "response_1", "system", "system_prompt",
	}
)

// lineWords is the fewest words of a line that is compared. Shorter ones, such as "Yes, of
// course", say nothing.
const lineWords = 4

// othersOf returns the lines of a row that are not the user's: of system messages and
// answers.
func othersOf(fields map[string]any) []string {
	var lines []string
	add := func(text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(strings.Fields(line)) >= lineWords {
				lines = append(lines, line)
			}
		}
	}
	for _, name := range slices.Concat(conversationColumns, answerColumns) {
		if text, ok := fields[name].(string); ok {
			add(text)
		}
	}
	for _, name := range slices.Concat(promptColumns, conversationColumns, answerColumns) {
		for _, m := range messagesIn(fields[name]) {
			if !m.user {
				add(m.text)
			}
		}
	}
	return lines
}

// promptOf returns what the user says in a row; nothing if no known column
// holds a prompt.
func promptOf(fields map[string]any) []string {
	for _, name := range append(slices.Clip(promptColumns), conversationColumns...) {
		value, ok := fields[name]
		if !ok {
			continue
		}
		said := saidIn(value)
		if name == "instruction" && len(said) == 1 {
			// An instruction may be in a different column from its input.
			if input := saidIn(fields["input"]); len(input) == 1 {
				said[0] += "\n" + input[0]
			}
		}
		if said = slices.DeleteFunc(said, func(s string) bool { return strings.TrimSpace(s) == "" }); len(said) > 0 {
			return said
		}
	}
	return nil
}

// saidIn returns the user's turns of a prompt in one of its usual forms: a
// text, which may mark its turns with "Human:" and "Assistant:"; a list of
// texts alternating between user and assistant; or messages.
func saidIn(value any) []string {
	if text, ok := value.(string); ok {
		return humanTurns(text)
	}
	var said []string
	for _, m := range messagesIn(value) {
		if m.user {
			said = append(said, m.text)
		}
	}
	return said
}

// message is what the user says, or else a system or an assistant.
type message struct {
	user bool
	text string
}

// messagesIn returns the messages of a conversation that is no text.
func messagesIn(value any) (said []message) {
	switch v := value.(type) {
	case []any:
		for i, turn := range v {
			switch turn := turn.(type) {
			case string:
				said = append(said, message{i%2 == 0, turn})
			case map[string]any:
				said = append(said, messageOf(turn))
			}
		}
	case map[string]any:
		// OpenAI's preference format has messages, beside tools, in its input.
		if messages, ok := v["messages"]; ok {
			return messagesIn(messages)
		}
		// Lists of messages may be stored by column.
		if roles, ok := v["role"].([]any); ok {
			contents, _ := v["content"].([]any)
			for i := range min(len(roles), len(contents)) {
				said = append(said, messageOf(map[string]any{"role": roles[i], "content": contents[i]}))
			}
		}
	}
	return said
}

// messageOf reads a message in the chat format or in the older one of from and value.
func messageOf(m map[string]any) message {
	text := func(v any) string {
		switch v := v.(type) {
		case string:
			return v
		case []any:
			return partsText(v)
		}
		return ""
	}
	role, content := text(m["role"]), text(m["content"])
	if role == "" {
		role, content = text(m["from"]), text(m["value"])
	}
	return message{slices.Contains([]string{"user", "human", "prompter"}, strings.ToLower(role)), content}
}

// partsText returns the text of a message in parts, such as texts and images.
func partsText(parts []any) string {
	var texts []string
	for _, part := range parts {
		if fields, ok := part.(map[string]any); ok {
			if text, ok := fields["text"].(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return strings.Join(texts, "\n")
}

// humanTurns splits a text at "Human:" and "Assistant:" and returns the human
// turns. A text without these marks is a turn of the user.
func humanTurns(text string) []string {
	const human, assistant = "\n\nHuman:", "\n\nAssistant:"
	pieces := strings.Split("\n\n"+strings.TrimLeft(text, "\n"), human)
	if len(pieces) == 1 {
		return []string{text}
	}
	var said []string
	for _, piece := range pieces[1:] {
		turn, _, _ := strings.Cut(piece, assistant)
		said = append(said, strings.TrimSpace(turn))
	}
	return said
}
