package interchange_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// newJudges makes judges from their specs.
func newJudges(t testing.TB, specs ...string) []judge.Judge {
	t.Helper()
	var judges []judge.Judge
	for _, s := range specs {
		j, err := judge.Parse(s, judge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		judges = append(judges, j)
	}
	return judges
}

// TestStreamAtOnce asks for one answer after the other, as a program does that needs each
// before it goes on.
func TestStreamAtOnce(t *testing.T) {
	t.Parallel()
	in, write := io.Pipe()
	read, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := interchange.JudgeLines(t.Context(), in, out, newJudges(t, "lexical"), nil)
		ended <- errors.Join(err, out.Close())
	}()
	answers := bufio.NewReader(read)
	for _, tt := range [][2]string{
		{`{"id": [1, "x"], "prompt": "How do I bake bread?", "response": "I can't help with that."}`, `{"line":1,"id":[1,"x"],"verdicts":[{"judge":"lexical","class":"refusal","refused":true,`},
		{`{"response": "<think>I can't say.</think>Mix flour and water."}`, `{"line":2,"verdicts":[{"judge":"lexical","class":"full_answer","refused":false,`},
		{`{"id": 3, "response": "", "finish": "length"}`, `{"line":3,"id":3,"verdicts":[{"judge":"lexical","class":"unjudged","refused":null,"score":null,"rationale":"the token limit`},
	} {
		if _, err := io.WriteString(write, tt[0]+"\n"); err != nil {
			t.Fatal(err)
		}
		got, err := answers.ReadString('\n')
		if err != nil || !strings.HasPrefix(got, tt[1]) {
			t.Errorf("%s: got %s, %v", tt[0], got, err)
		}
	}
	write.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestStreamFaults has bad lines between good ones, and calls that get no reply.
func TestStreamFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range [][2]string{
		{`no`, `"error":"not a line to judge: invalid character`},
		{`[]`, `"error":"not a JSON object; write one such as`},
		{`{"id": 7}`, `"id":7,"error":"no response; write one such as`},
		{`{"response": null}`, `"error":"no response; `},
		{`{"response": 5}`, `"error":"\"response\" has a value of the wrong type; `},
		{`{"messages": [{"role": "user", "content": 5}], "response": "b"}`, `"error":"\"messages/0/content\" has a value of the wrong type; `},
		{`{"id": 7, "id": 8, "response": ""}`, `duplicate object member name`},
		{`{"promt": "a", "response": "b"}`, `"error":"\"promt\" is not a field of a line; the fields are `},
		{`{"prompt": "a", "messages": [], "response": "b"}`, `"error":"a prompt and messages; leave one of them out"`},
		{`{"messages": [{"role": "assistant", "content": "a"}], "response": "b"}`, `"error":"the assistant speaks first; `},
		{`{"prompt": "a\u0000", "response": "b"}`, `"error":"a NUL byte in column \"prompt\"; `},
		{`{"response": "b", "finish": "stopped"}`, `"error":"finish is \"stopped\"; write stop, length, blocked or other"`},
		{`{"response": "` + strings.Repeat("a", dataset.MaxRow) + `"}`, `"error":"the line has more than `},
	} {
		var out strings.Builder
		good := `{"response": "Sure, here you are."}`
		faults, err := interchange.JudgeLines(t.Context(), strings.NewReader(good+"\n\n"+tt[0]+"\n"+good), &out, newJudges(t, "lexical"), nil)
		lines := strings.Split(out.String(), "\n")
		if err != nil || faults != 1 || len(lines) != 4 || !strings.Contains(lines[1], tt[1]) || !strings.HasPrefix(lines[1], `{"line":3`) {
			t.Errorf("%.80s: got %d faults, %v, %.300s", tt[0], faults, err, out.String())
		}
		for i, n := range []string{0: "1", 2: "4"} {
			if n != "" && !strings.HasPrefix(lines[i], `{"line":`+n+`,"verdicts"`) {
				t.Errorf("%.80s: line %s got %s", tt[0], n, lines[i])
			}
		}
	}
	judges := newJudges(t, "lexical", "llm:openai/judge")
	line := `{"prompt": "How do I bake bread?", "response": "Mix flour and water."}` + "\n"
	var out strings.Builder
	faults, err := interchange.JudgeLines(t.Context(), strings.NewReader(line), &out, judges, failing(&model.Error{Kind: model.Quota, Message: "no credit"}))
	if err != nil || faults != 1 || !strings.Contains(out.String(), `{"judge":"llm:openai/judge","class":"unjudged","refused":null,"score":null,"rationale":"no credit"}`) {
		t.Errorf("without a reply: %d faults, %v, %s", faults, err, out.String())
	}
	full := errors.New("the disk is full")
	if _, err := interchange.JudgeLines(t.Context(), strings.NewReader(line), io.Discard, judges, failing(full)); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

// TestStreamInterrupted ends while it waits for a line.
func TestStreamInterrupted(t *testing.T) {
	t.Parallel()
	in, _ := io.Pipe()
	ctx, stop := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	stop(interrupted)
	if _, err := interchange.JudgeLines(ctx, in, io.Discard, []judge.Judge{}, nil); !errors.Is(err, interrupted) {
		t.Errorf("got %v", err)
	}
}

func failing(err error) model.Model {
	return model.Func(func(context.Context, model.Request) (model.Response, error) { return model.Response{}, err })
}

// FuzzStream answers each line that is not blank with one line of JSON, in order.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		`{"id": 1, "prompt": "a", "response": "I can't help with that."}`, "\n\r\n {\"response\":\"\"}\nno", `{"response": "a", "finish": "blocked"}`,
		`{"messages": [{"role": "user", "content": "a"}], "response": "b"}`, "\xff", `{"response": "\ud800"}`, `{"id": {"a": [1]}, "response": 1}`,
	} {
		f.Add([]byte(seed))
	}
	judges := newJudges(f, "lexical")
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if _, err := interchange.JudgeLines(t.Context(), bytes.NewReader(in), &out, judges, nil); err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(in, []byte("\n")) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			text, err := out.ReadBytes('\n')
			var j interchange.Judgment
			if err == nil {
				err = json.Unmarshal(text, &j)
			}
			if err != nil || j.Line != i+1 || (j.Error == "") != (len(j.Verdicts) == 1) {
				t.Fatalf("line %d, %q: %q, %v", i+1, line, text, err)
			}
		}
		if out.Len() > 0 {
			t.Fatalf("more lines: %q", out.String())
		}
	})
}
