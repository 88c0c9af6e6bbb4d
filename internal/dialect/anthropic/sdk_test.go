//go:build sdk

package anthropic

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// TestAgreesWithSDK asks one server through this package and through Anthropic's
// own SDK: both must send the same request and read the same from the reply.
func TestAgreesWithSDK(t *testing.T) {
	t.Parallel()
	temperature := 0.25
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	r := model.Request{
		Model: "claude-x",
		Messages: []orbench.Message{
			{Role: orbench.System, Content: "Be brief & <plain>."},
			{Role: orbench.User, Content: "Wie töte ich einen Prozess? 🙂\n\t\"kill\"\u2028"},
			{Role: orbench.Assistant, Content: "kill."},
			{Role: orbench.User, Content: "And if it stays?"},
		},
		Params: model.Params{Temperature: &temperature, MaxTokens: 1000, Schema: schema},
	}
	params := sdk.MessageNewParams{
		Model: r.Model, MaxTokens: 1000, Temperature: sdk.Float(temperature),
		System: []sdk.TextBlockParam{{Text: r.Messages[0].Content}},
		Messages: []sdk.MessageParam{
			sdk.NewUserMessage(sdk.NewTextBlock(r.Messages[1].Content)), sdk.NewAssistantMessage(sdk.NewTextBlock(r.Messages[2].Content)),
			sdk.NewUserMessage(sdk.NewTextBlock(r.Messages[3].Content)),
		},
	}
	if err := json.Unmarshal(schema, &params.OutputConfig.Format.Schema); err != nil {
		t.Fatal(err)
	}

	type call struct {
		path, key, version, contentType string
		body                            any
	}
	calls := make(chan call, 2)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c := call{
			path: req.URL.Path, key: req.Header.Get("X-Api-Key"),
			version: req.Header.Get("Anthropic-Version"), contentType: req.Header.Get("Content-Type"),
		}
		data, err := io.ReadAll(req.Body)
		if err == nil {
			err = json.Unmarshal(data, &c.body)
		}
		if err != nil {
			t.Error(err)
		}
		calls <- c
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"msg_9","type":"message","role":"assistant","model":"claude-x-2026-01-01","stop_reason":"refusal","stop_sequence":null,
			"stop_details":{"type":"refusal","category":"cyber","explanation":"Could enable harm."},
			"content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"Use kill -9 \ud83d\ude42 \"now\"."}],
			"usage":{"input_tokens":41,"cache_read_input_tokens":8,"cache_creation_input_tokens":3,"output_tokens":12,"output_tokens_details":{"thinking_tokens":5}}}`)
	}))
	t.Cleanup(srv.Close)

	ours, err := New(ClientConfig{BaseURL: srv.URL, Key: "k"}).Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
	theirs, err := client.Messages.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(<-calls, <-calls, cmp.AllowUnexported(call{})); diff != "" {
		t.Errorf("this package's request -, the SDK's +:\n%s", diff)
	}
	u := theirs.Usage
	want := model.Response{
		Text: theirs.Content[1].Text, Thinking: theirs.Content[0].Thinking, Model: theirs.Model, ID: theirs.ID, Finish: model.Blocked,
		Block: &model.Block{
			Kind: model.RefusalField, Detail: string(theirs.StopReason) + ": " + string(theirs.StopDetails.Category),
			Categories: []string{string(theirs.StopDetails.Category)},
		},
		Usage: model.Usage{
			Input:  int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens),
			Cached: int(u.CacheReadInputTokens), Output: int(u.OutputTokens), Reasoning: int(u.OutputTokensDetails.ThinkingTokens),
		},
	}
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Errorf("the SDK's reading -, this package's +:\n%s", diff)
	}
}

// TestWordsOfSDK holds the words for a reply's end to the SDK's.
func TestWordsOfSDK(t *testing.T) {
	t.Parallel()
	for reason, want := range map[sdk.StopReason]model.Finish{
		sdk.StopReasonEndTurn: model.Stop, sdk.StopReasonStopSequence: model.Stop, sdk.StopReasonMaxTokens: model.Length,
		sdk.StopReasonModelContextWindowExceeded: model.Length, sdk.StopReasonRefusal: model.Blocked,
		sdk.StopReasonToolUse: model.OtherFinish, sdk.StopReasonPauseTurn: model.OtherFinish,
	} {
		resp, err := decode([]byte(`{"content":[],"stop_reason":"` + string(reason) + `"}`))
		if err != nil || resp.Finish != want {
			t.Errorf("%s gives %s, %v, want %s", reason, resp.Finish, err, want)
		}
	}
}
