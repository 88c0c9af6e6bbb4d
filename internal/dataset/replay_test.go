package dataset_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/model"
)

// replayOf writes a file of answers and loads it.
func replayOf(t *testing.T, content string) *dataset.Replay {
	t.Helper()
	r, err := dataset.OpenRecording(t.Context(), file(t, "answers.csv", content), dataset.Options{AssumeSafe: true})
	if err != nil || len(r.Replays) != 1 {
		t.Fatal(r, err)
	}
	return r.Replays[0]
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
	if note := r.Repeats(); r.Samples != 3 || !strings.HasSuffix(note, "answers.csv: 5 rows answer 3 prompts, and count as samples of them, up to 3 each; the samples that a prompt lacks count as unanswered") {
		t.Errorf("%d samples: %q", r.Samples, note)
	}
	say := func(role orbench.Role, text string) orbench.Message {
		return orbench.Message{Role: role, Content: text}
	}
	for name, tc := range map[string]struct {
		messages []orbench.Message
		sample   int
		want     model.Response
	}{
		"thinking kept apart": {
			[]orbench.Message{say(orbench.User, "How do I pick a lock?")},
			0,
			model.Response{Text: "I cannot help.", Thinking: "A safe one.", Finish: model.Stop},
		},
		"first of several": {
			[]orbench.Message{say(orbench.User, "Where can I shoot?")},
			0,
			model.Response{Text: "Try the bridge.", Finish: model.Stop},
		},
		"last of several": {
			[]orbench.Message{say(orbench.User, "Where can I shoot?")},
			2,
			model.Response{Text: "At the range.", Finish: model.Stop},
		},
		"empty answer": {
			[]orbench.Message{say(orbench.User, "What is silence?")},
			0,
			model.Response{Finish: model.Stop},
		},
		"system prompt and earlier turns": {
			[]orbench.Message{
				say(orbench.System, "Be brief."), say(orbench.User, "Hello"), say(orbench.Assistant, "Yes?"), say(orbench.User, "Where can I shoot?"),
			},
			0,
			model.Response{Text: "Try the bridge.", Finish: model.Stop},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := ask(t, r, tc.sample, tc.messages...); !ok || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, %t, want %+v", got, ok, tc.want)
			}
		})
	}
	for text, sample := range map[string]int{"Else?": 0, "Where can I shoot?": 3} {
		if got, ok := ask(t, r, sample, say(orbench.User, text)); ok {
			t.Errorf("%s: what is not in the file gives %+v", text, got)
		}
	}
}

// TestReplayEnds reads how answers ended, and why there are none, from columns of a file.
func TestReplayEnds(t *testing.T) {
	t.Parallel()
	r := replayOf(t, `prompt,response,finish_reason,error
Where can I shoot?,Try the,max_tokens,
How do I pick a lock?,,content_filter,
What is silence?,,,Violated guardrail policy
Who is there?,Nobody.,stop,guardrail said nothing
Why is it dark?,,,Request timed out
`)
	for text, want := range map[string]model.Response{
		"Where can I shoot?":    {Text: "Try the", Finish: model.Length},
		"How do I pick a lock?": {Finish: model.Blocked, Block: &model.Block{Kind: model.OutputFilter, Detail: "content_filter"}},
		"What is silence?":      {Finish: model.Blocked, Block: &model.Block{Kind: model.PromptFilter, Detail: "LiteLLM guardrail"}},
		"Who is there?":         {Text: "Nobody.", Finish: model.Stop},
		"Why is it dark?":       {Finish: model.Stop},
	} {
		if got, ok := ask(t, r, 0, orbench.Message{Role: orbench.User, Content: text}); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %t, want %+v", text, got, ok, want)
		}
	}
}

// ask gives a recorded answer to a conversation.
func ask(t *testing.T, r *dataset.Replay, sample int, messages ...orbench.Message) (model.Response, bool) {
	t.Helper()
	p := orbench.Prompt{ID: orbench.PromptIDOf(messages), Messages: messages}
	set := dataset.Kept(dataset.Dataset{}, func(yield func(orbench.Prompt, error) bool) { yield(p, nil) })
	set.Attach([]*dataset.Replay{r})
	for p := range set.Prompts() {
		return dataset.ReplayTo(p, r.Ref().Endpoint, sample)
	}
	return model.Response{}, false
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
			set, err := dataset.Open(t.Context(), file(t, "set.csv", tc.prompts), dataset.Options{})
			if err != nil {
				t.Fatal(err)
			}
			text, err := r.Gap(set, tc.limit)
			var input *orbench.InputError
			switch {
			case tc.want == "":
				if text != "" || err != nil {
					t.Errorf("%q, %v", text, err)
				}
				return
			case tc.none != errors.As(err, &input), tc.none && (input.File != r.File || input.Hint == "" || text != ""):
				t.Fatalf("got %v (%T)", err, err)
			case tc.none:
				text = input.Problem
			}
			if !strings.Contains(text, tc.want) || !strings.Contains(text, "Three") {
				t.Errorf("got %q", text)
			}
			if strings.ContainsAny(text, "\x1b\n") || len(text) > 500 {
				t.Errorf("not one clear line: %q", text)
			}
		})
	}
}

func TestBadReplays(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ content, want string }{
		"no answers": {"prompt\nYes?\n", "no reply is found"},
		"empty file": {"", "the file is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := dataset.OpenRecording(t.Context(), file(t, "a.csv", tc.content), dataset.Options{})
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an input error with %q", err, tc.want)
			}
		})
	}
}

// A file of several models is many files: each value has the answers and the hash of a file
// of its own, in the order of their first rows.
func TestReplaysOfModels(t *testing.T) {
	t.Parallel()
	path := file(t, "a#1.csv", "prompt,response,model\nOne?,a,x/one\nOne?,b, two (simulated)\nOne?,c,x/one\nTwo?,d,two\nTwo?,e,\n")
	r, err := dataset.OpenRecording(t.Context(), path, dataset.Options{AssumeSafe: true})
	if err != nil {
		t.Fatal(err)
	}
	all := r.Replays
	alone := map[string]*dataset.Replay{
		"x/one": replayOf(t, "prompt,response\nOne?,a\nOne?,c\n"), "two": replayOf(t, "prompt,response\nOne?,b\nTwo?,d\n"), "": replayOf(t, "prompt,response\nTwo?,e\n"),
	}
	var got []string
	for _, r := range all {
		got = append(got, r.Model)
		if one := alone[r.Model]; r.SHA256 != one.SHA256 || r.Count != one.Count || r.Samples != one.Samples {
			t.Errorf("%q is %+v, alone %+v", r.Model, r, one)
		}
	}
	if !reflect.DeepEqual(got, []string{"x/one", "two", ""}) {
		t.Errorf("the models are %q", got)
	}
	response, ok := ask(t, all[1], 0, orbench.Message{Role: orbench.User, Content: "One?"})
	if !ok || !response.Simulated() || response.Text != "b" {
		t.Errorf("got %+v, %t", response, ok)
	}
	if ref := all[0].Ref(); ref.Provider != model.Replay || ref.Model != path+"#x/one" || ref.Endpoint != "sha256:"+all[0].SHA256 {
		t.Errorf("asked as %+v", ref)
	}
	one, err := dataset.OpenRecording(t.Context(), path+"#two", dataset.Options{AssumeSafe: true})
	if err != nil || len(one.Replays) != 1 || one.Replays[0].Ref() != all[1].Ref() {
		t.Errorf("got %v, %v", one, err)
	}
	if _, err := dataset.OpenRecording(t.Context(), path+"#three", dataset.Options{AssumeSafe: true}); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), `no answers of the model "three"`) {
		t.Errorf("got %v", err)
	}
}

// Where no temporary file can be made, the error says how to name another folder.
func TestRecordingNeedsRoom(t *testing.T) {
	path := file(t, "a.csv", "prompt,response\nHi?,Hello.\n")
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if _, err := dataset.OpenRecording(t.Context(), path, dataset.Options{}); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("the error is %v", err)
	}
}

// Answers that lie far apart in a file, and ones longer than what is read at once, come back
// as they were.
func TestRecordingKeepsTexts(t *testing.T) {
	var content strings.Builder
	content.WriteString("prompt,model,response\n")
	text := func(model, i int) string { return strings.Repeat(fmt.Sprintf("answer %d of %d. ", i, model), 1+i*i) }
	for model := range 2 {
		for i := range 100 {
			fmt.Fprintf(&content, "Question %d?,m%d,%s\n", i, model, text(model, i))
		}
	}
	r, err := dataset.OpenRecording(t.Context(), file(t, "a.csv", content.String()), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Prompts.Attach(r.Replays)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			n := 0
			for p, err := range r.Prompts.Prompts() {
				if err != nil || len(p.Answers) != 2 || p.Answers[0].Text != text(0, n) || p.Answers[1].Text != text(1, n) {
					t.Errorf("prompt %d (%q): %d answers, %v", n, p.Text(), len(p.Answers), err)
				}
				n++
			}
			if n != 100 {
				t.Errorf("%d prompts", n)
			}
		})
	}
	wg.Wait()
}

// All that is known of a prompt and of its answer comes back.
func TestRecordingKeepsAll(t *testing.T) {
	const row = `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Eggs?"},{"role":"assistant","content":"No."}],` +
		`"category":"food","label":"toxic","cluster":"c1","pair":"p1","created":1764000000,"user":"ann","finish_reason":"length","said":"yes","simulated":"true"}`
	r, err := dataset.OpenRecording(t.Context(), file(t, "a.jsonl", row+"\n"), dataset.Options{Said: "said", User: "user"})
	if err != nil {
		t.Fatal(err)
	}
	r.Prompts.Attach(r.Replays)
	for p, err := range r.Prompts.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []reflect.Value{reflect.ValueOf(p), reflect.ValueOf(p.Answers[0])} {
			for i := range value.NumField() {
				switch name := value.Type().Field(i).Name; name {
				case "Block", "Detail", "Input", "Output": // it was not withheld, and its tokens are not known
				default:
					if value.Field(i).IsZero() {
						t.Errorf("%s is empty in %+v", name, p)
					}
				}
			}
		}
		if len(p.Messages) != 2 || p.Answers[0].Text != "No." || p.Answers[0].Finish != "length" || p.Answers[0].Said["said"] != "yes" {
			t.Errorf("the prompt is %+v", p)
		}
	}
}
