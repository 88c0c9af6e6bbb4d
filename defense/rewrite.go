package defense

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/orbench/orbench"
)

// The wordings, version 1. A version that has been used is never edited: a better
// wording becomes the next version, in new files.
var (
	// Requests and the refusals of them, on alternate lines.
	//go:embed prompts/icl-v1.txt
	demonstrationsText string
	//go:embed prompts/self-reminder-v1-before.txt
	reminderBefore string
	//go:embed prompts/self-reminder-v1-after.txt
	reminderAfter string
)

const (
	// defaultDemonstrations is how many a plain icl shows.
	defaultDemonstrations = 2
	// maxDemonstrations is how many there are.
	maxDemonstrations = 8
)

// demonstrations gives the first k demonstrations as turns of a conversation:
// requests that are plainly toxic, and refusals of them.
func demonstrations(k int) []orbench.Message {
	var turns []orbench.Message
	for line := range strings.Lines(demonstrationsText) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		role := orbench.User
		if len(turns)%2 == 1 {
			role = orbench.Assistant
		}
		turns = append(turns, orbench.Message{Role: role, Content: line})
	}
	return turns[:2*k]
}

// demonstrate puts k demonstrations behind the system prompts that open a
// conversation, and before all else.
func demonstrate(k int) func([]orbench.Message) []orbench.Message {
	turns := demonstrations(k)
	return func(messages []orbench.Message) []orbench.Message {
		opening := slices.IndexFunc(messages, func(m orbench.Message) bool { return m.Role != orbench.System })
		if opening < 0 {
			opening = len(messages)
		}
		return slices.Concat(messages[:opening], turns, messages[opening:])
	}
}

// remind puts the reminder behind the first system prompt, or makes it the
// system prompt where there is none, and its second half behind the last words of
// the user.
func remind(messages []orbench.Message) []orbench.Message {
	before, after := strings.TrimSpace(reminderBefore), strings.TrimSpace(reminderAfter)
	messages = slices.Clone(messages)
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == orbench.User {
			messages[i].Content += "\n\n" + after
			break
		}
	}
	if len(messages) > 0 && messages[0].Role == orbench.System {
		messages[0].Content += "\n\n" + before
		return messages
	}
	return slices.Insert(messages, 0, orbench.Message{Role: orbench.System, Content: before})
}
