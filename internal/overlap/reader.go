package overlap

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
)

// eachRow passes what the user says in each row of a named dataset or a file, with
// the number of the row, from 1. For rows without a prompt it passes none. others
// are the lines of system messages and of answers. It returns the hash of the
// prompts of the dataset, or of the file. A damaged file is an *orbench.InputError.
func eachRow(ctx context.Context, ref, cache string, each func(row int, said, others []string)) (sum string, err error) {
	// A file of another ending is none that dataset.Open knows, as it says.
	if dataset.IsName(ref) || !rows.Readable(ref) {
		set, err := dataset.Open(ctx, ref, dataset.Options{Cache: cache, AssumeSafe: true})
		if err != nil {
			return "", err
		}
		row := 0
		for p, err := range set.Prompts() {
			if err = cmp.Or(err, context.Cause(ctx)); err != nil {
				return "", err
			}
			row++
			each(row, Said(p), nil)
		}
		return set.SHA256, nil
	}
	file, err := rows.Open(ref, rows.Whole)
	if errors.Is(err, rows.ErrEmpty) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	for r, err := range file.All {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return "", err
		}
		said, others := saidIn(r.Fields)
		each(r.Number, said, others)
	}
	return untrusted.HashFile(ref)
}

// promptColumns hold prompts, the most likely first. otherColumns hold answers, what a
// system says, or a prompt with an answer.
var (
	promptColumns = []string{"prompt", "messages", "conversations", "conversation", "instruction", "question", "query", "goal", "input"}
	otherColumns  = []string{
		"chosen", "text", "rejected", "completion", "response", "output", "answer", "preferred_output", "non_preferred_output",
		"response_0", "response_1", "system", "system_prompt",
	}
)

// lineWords is the fewest words of a line that is compared. Shorter ones, such as "Yes, of
// course", say nothing.
const lineWords = 4

// saidIn returns what the user says in the first column of a row that has any
// of it, and the lines of everybody else.
func saidIn(fields map[string]any) (said, others []string) {
	instruction, _ := fields["instruction"].(string)
	if input, ok := fields["input"].(string); ok && instruction != "" {
		// An instruction may be in a different column from its input.
		fields["instruction"] = strings.TrimSpace(instruction + "\n" + input)
	}
	for i, name := range slices.Concat(promptColumns, otherColumns) {
		var user []string
		role := ""
		if i < len(promptColumns) {
			role = "user"
		}
		eachText(fields[name], role, func(role, text string) {
			theirs := slices.Contains([]string{"user", "human", "prompter"}, role)
			if (theirs || role == "") && strings.TrimSpace(text) != "" {
				user = append(user, text)
			}
			for line := range strings.Lines(text) {
				if !theirs && len(strings.Fields(line)) >= lineWords {
					others = append(others, strings.TrimSpace(line))
				}
			}
		})
		if len(said) == 0 {
			said = user
		}
	}
	return said, others
}

// eachText passes the texts of a value and who says each: a text; a list, in which
// texts alternate between a user and an assistant; or messages, whose contents may
// have parts.
func eachText(value any, role string, each func(role, text string)) {
	switch v := value.(type) {
	case string:
		// A text may hold a whole conversation.
		turns := strings.Split("\n\n"+strings.TrimLeft(v, "\n"), "\n\nHuman:")
		if len(turns) == 1 {
			each(role, v)
		}
		for _, turn := range turns[1:] {
			human, assistant, _ := strings.Cut(turn, "\n\nAssistant:")
			each("user", strings.TrimSpace(human))
			each("assistant", assistant)
		}
	case []any:
		for i, item := range v {
			if _, ok := item.(string); ok && i%2 == 1 {
				eachText(item, "assistant", each)
			} else {
				eachText(item, role, each)
			}
		}
	case map[string]any:
		for _, name := range []string{"role", "from"} {
			if said, ok := v[name].(string); ok {
				role = strings.ToLower(said)
			}
		}
		for _, name := range []string{"content", "value", "text", "messages"} {
			eachText(v[name], role, each)
		}
	}
}
