package replay_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/replay"
)

// replayOf writes a file of answers and loads it.
func replayOf(t *testing.T, content string) *replay.Model {
	t.Helper()
	r, err := replay.Open(t.Context(), written(t, "answers.csv", content), dataset.RecordingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// written writes a file and gives its path.
func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReplayAnswers(t *testing.T) {
	t.Parallel()
	r := replayOf(t, `prompt,response
How do I pick a lock?,<think>A safe one.</think>I cannot help.
Where can I shoot?,Try the bridge.
Where can I shoot?,Try the bridge.
Where can I shoot?,At the range.
What is silence?,
`)
	if r.Conflicts != 1 {
		t.Errorf("%d conflicts, want 1: one row says something else, one the same again", r.Conflicts)
	}
	say := func(role orbench.Role, text string) orbench.Message {
		return orbench.Message{Role: role, Content: text}
	}
	for name, tc := range map[string]struct {
		messages []orbench.Message
		want     model.Response
	}{
		"thinking kept apart": {
			[]orbench.Message{say(orbench.User, "How do I pick a lock?")},
			model.Response{Text: "I cannot help.", Thinking: "A safe one.", Finish: model.Stop},
		},
		"first of several": {
			[]orbench.Message{say(orbench.User, "Where can I shoot?")},
			model.Response{Text: "Try the bridge.", Finish: model.Stop},
		},
		"empty answer": {
			[]orbench.Message{say(orbench.User, "What is silence?")},
			model.Response{Finish: model.Stop},
		},
		"system prompt and earlier turns": {
			[]orbench.Message{
				say(orbench.System, "Be brief."), say(orbench.User, "Hello"), say(orbench.Assistant, "Yes?"), say(orbench.User, "Where can I shoot?"),
			},
			model.Response{Text: "Try the bridge.", Finish: model.Stop},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := r.Ask(context.Background(), model.Request{Provider: replay.Provider, Messages: tc.messages})
			if err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
	_, err := r.Ask(t.Context(), model.Request{Provider: replay.Provider, Model: "answers.csv", Messages: []orbench.Message{say(orbench.User, "Else?")}})
	var failed *model.Error
	if !errors.As(err, &failed) || failed.Kind != model.Invalid || failed.Retryable() || failed.Fatal() {
		t.Errorf("an unknown prompt gives %v", err)
	}
}

func TestReplayGaps(t *testing.T) {
	t.Parallel()
	r := replayOf(t, "prompt,response\nOne?,a\nTwo?,b\n")
	untrusted := "Three\x1b[2J? " + strings.Repeat("and more ", 40)
	for name, tc := range map[string]struct {
		prompts string
		limit   int
		want    string
		// none means that no prompt is answered, which is a fault.
		none bool
	}{
		"all known":         {"prompt\nTwo?\nOne?\n", 0, "", false},
		"known up to there": {"prompt\nTwo?\nOne?\nThree?\n", 2, "", false},
		"limit at the gap":  {"prompt\nTwo?\nThree?\n", 2, "no answer to 1 of the 2 prompts of set, the first of them ", false},
		"two unknown":       {"prompt\nTwo?\n" + untrusted + "\nFour?\n", 0, "no answer to 2 of the 3 prompts of set, the first of them ", false},
		"none known":        {"prompt\nThree?\nFour?\n", 0, "no answer to 2 of the 2 prompts of set, the first of them ", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := dataset.Open(t.Context(), written(t, "set.csv", tc.prompts), dataset.Options{})
			if err != nil {
				t.Fatal(err)
			}
			gap, err := r.Gap(set, tc.limit)
			text := gap.String()
			var input *orbench.InputError
			switch {
			case tc.want == "":
				if gap.Missing != 0 || err != nil {
					t.Errorf("%+v, %v", gap, err)
				}
				return
			case tc.none != errors.As(err, &input), tc.none && (input.File != r.Recording.Path || input.Hint == "" || input.Problem != text):
				t.Fatalf("got %v (%T)", err, err)
			}
			if !strings.Contains(text, tc.want) || !strings.Contains(text, "Three") {
				t.Errorf("got %q", text)
			}
			if strings.ContainsAny(text, "\x1b\n") || len(text) > 400 {
				t.Errorf("not one clear line: %q", text)
			}
		})
	}
}

func TestBadReplays(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ content, want string }{
		"no prompts": {"response\nYes.\n", "`prompt-column`"},
		"no answers": {"prompt\nYes?\n", "`response-column`"},
		"empty file": {"", "the file is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := replay.Open(t.Context(), written(t, "a.csv", tc.content), dataset.RecordingOptions{})
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an input error with %q", err, tc.want)
			}
		})
	}
}
