//go:build sdk

package anthropic

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/dialect/dialecttest"
	"github.com/orbench/orbench/model"
)

// TestAgreesWithSDK asks one server through this package and through Anthropic's
// own SDK: both must send the same request and read the same from the reply.
func TestAgreesWithSDK(t *testing.T) {
	t.Parallel()
	r := dialecttest.Question("claude-x")
	params := sdk.MessageNewParams{
		Model: r.Model, MaxTokens: 1000, Temperature: sdk.Float(*r.Params.Temperature),
		System: []sdk.TextBlockParam{{Text: r.Messages[0].Content}},
		Messages: []sdk.MessageParam{
			sdk.NewUserMessage(sdk.NewTextBlock(r.Messages[1].Content)), sdk.NewAssistantMessage(sdk.NewTextBlock(r.Messages[2].Content)),
			sdk.NewUserMessage(sdk.NewTextBlock(r.Messages[3].Content)),
		},
	}
	if err := json.Unmarshal(r.Params.Schema, &params.OutputConfig.Format.Schema); err != nil {
		t.Fatal(err)
	}

	url, same := dialecttest.Compared(t, `{"id":"msg_9","type":"message","role":"assistant","model":"claude-x-2026-01-01","stop_reason":"refusal","stop_sequence":null,
		"stop_details":{"type":"refusal","category":"cyber","explanation":"Could enable harm."},
		"content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"Use kill -9 \ud83d\ude42 \"now\"."}],
		"usage":{"input_tokens":41,"cache_read_input_tokens":8,"cache_creation_input_tokens":3,"output_tokens":12,"output_tokens_details":{"thinking_tokens":5}}}`, "X-Api-Key", "Anthropic-Version", "Content-Type")

	ours, err := New(ClientConfig{BaseURL: url, Key: "k"}).Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("k"), option.WithMaxRetries(0))
	theirs, err := client.Messages.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	same()
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
		sdk.StopReasonToolUse: model.Called, sdk.StopReasonPauseTurn: model.Called,
	} {
		resp, err := decode([]byte(`{"content":[],"stop_reason":"` + string(reason) + `"}`))
		if err != nil || resp.Finish != want {
			t.Errorf("%s gives %s, %v, want %s", reason, resp.Finish, err, want)
		}
	}
}
