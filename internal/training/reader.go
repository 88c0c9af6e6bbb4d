package training

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/untrusted"
)

// Said returns what the user says in a prompt.
func Said(p orbench.Prompt) (turns []string) {
	for _, m := range p.Messages {
		if m.Role == orbench.User {
			turns = append(turns, m.Content)
		}
	}
	return turns
}

// eachRow passes what the user says in each row of a named dataset or a file, with
// the number of the row, from 1. For rows without a prompt it passes none. lines
// are those of system messages and of answers. It returns the hash of the
// prompts of the dataset, or of the file. A damaged file is an *orbench.InputError.
func eachRow(ctx context.Context, ref, cache string, each func(row int, said, lines []string)) (sum string, err error) {
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
	if err != nil {
		return "", err
	}
	defer file.Close()
	for r, err := range file.All {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return "", err
		}
		said, lines := saidIn(r.Fields)
		each(r.Number, said, lines)
	}
	return untrusted.HashFile(ref)
}

// promptColumns hold prompts, the most likely first. The last two hold an answer too.
var promptColumns = []string{"prompt", "messages", "conversations", "conversation", "instruction", "question", "query", "goal", "input", "chosen", "text"}

// lineWords is the fewest words of a line that is compared. Shorter ones, such as "Yes, of
// course", say nothing.
const lineWords = 4

// saidIn returns what the user says in the first column of a row that has any
// of it, and every other line in the row.
func saidIn(fields map[string]any) (said, lines []string) {
	for i := 0; i < len(promptColumns) && len(said) == 0; i++ {
		eachText(fields[promptColumns[i]], "user", func(role, text string) {
			if text != "" && slices.Contains([]string{"user", "human", "prompter"}, role) {
				said = append(said, text)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		eachText(fields[name], "", func(_, text string) {
			if slices.Contains(said, text) {
				return
			}
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); len(strings.Fields(line)) >= lineWords {
					lines = append(lines, line)
				}
			}
		})
	}
	return said, lines
}

// eachText passes the texts of a value and who says each: a text, in which a person and an
// assistant may take turns; a list; or a message, whose content may have parts.
func eachText(value any, role string, each func(role, text string)) {
	switch v := value.(type) {
	case string:
		for turn := range strings.SplitSeq("\n\n"+strings.TrimLeft(v, "\n"), "\n\nHuman:") {
			human, assistant, _ := strings.Cut(turn, "\n\nAssistant:")
			each(role, strings.TrimSpace(human))
			each("assistant", strings.TrimSpace(assistant))
		}
	case []any:
		for _, item := range v {
			eachText(item, role, each)
		}
	case map[string]any:
		for _, name := range []string{"role", "from"} {
			if who, ok := v[name].(string); ok {
				role = strings.ToLower(who)
			}
		}
		for _, name := range []string{"content", "value", "text", "messages"} {
			eachText(v[name], role, each)
		}
	}
}
