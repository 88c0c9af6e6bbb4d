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
	// Requests and their refusals, on alternate lines.
	//go:embed prompts/icl-v1.txt
	demonstrationsText string
	//go:embed prompts/self-reminder-v1-before.txt
	reminderBefore string
	//go:embed prompts/self-reminder-v1-after.txt
	reminderAfter string
)

const (
	// defaultDemonstrations is the number of demonstrations of a plain icl.
	defaultDemonstrations = 2
	// maxDemonstrations is the number of demonstrations that exist.
	maxDemonstrations = 8
)

// demonstrations gives the first k demonstrations as turns of a conversation: plainly
// toxic requests and refusals of them.
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

// demonstrate inserts k demonstrations after the system prompts at the start of a
// conversation, before everything else.
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

// remind adds the reminder after the first system prompt, or makes it the system prompt
// if there is none. It adds the second half of the reminder after the user's last
// message.
func remind(messages []orbench.Message) []orbench.Message {
	before, after := strings.TrimSpace(reminderBefore), strings.TrimSpace(reminderAfter)
	messages = around(messages, "", "\n\n"+after)
	if len(messages) > 0 && messages[0].Role == orbench.System {
		messages[0].Content += "\n\n" + before
		return messages
	}
	return slices.Insert(messages, 0, orbench.Message{Role: orbench.System, Content: before})
}
