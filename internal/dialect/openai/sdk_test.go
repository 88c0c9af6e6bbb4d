//go:build sdk

package openai

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/orbench/orbench/internal/dialect/dialecttest"
	"github.com/orbench/orbench/model"
)

// TestAgreesWithSDK asks one server through this package and through OpenAI's
// own SDK: both must send the same request and read the same from the reply.
func TestAgreesWithSDK(t *testing.T) {
	t.Parallel()
	r := dialecttest.Question("gpt-x")
	var format map[string]any
	if err := json.Unmarshal(r.Params.Schema, &format); err != nil {
		t.Fatal(err)
	}
	params := sdk.ChatCompletionNewParams{
		Model: r.Model,
		Messages: []sdk.ChatCompletionMessageParamUnion{
			sdk.SystemMessage(r.Messages[0].Content), sdk.UserMessage(r.Messages[1].Content),
			sdk.AssistantMessage(r.Messages[2].Content), sdk.UserMessage(r.Messages[3].Content),
		},
		Temperature: sdk.Float(*r.Params.Temperature), MaxCompletionTokens: sdk.Int(1000), Seed: sdk.Int(*r.Params.Seed),
		ResponseFormat: sdk.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Strict: sdk.Bool(true), Schema: format},
			},
		},
	}

	url, same := dialecttest.Compared(t, `{"id":"chatcmpl-9","object":"chat.completion","created":1,"model":"gpt-x-2026-01-01","choices":[
		{"index":0,"finish_reason":"length","logprobs":null,"message":{"role":"assistant","content":"Use kill -9 \ud83d\ude42 \"now\".","refusal":null}}],
		"usage":{"prompt_tokens":41,"completion_tokens":12,"total_tokens":53,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":5}}}`, "Authorization")

	ours, err := New(ClientConfig{BaseURL: url, Key: "k"}, Fields{MaxTokens: MaxCompletionTokens}).Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(option.WithBaseURL(url), option.WithAPIKey("k"), option.WithMaxRetries(0))
	theirs, err := client.Chat.Completions.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	same()
	want := model.Response{
		Text: theirs.Choices[0].Message.Content, Finish: model.Finish(theirs.Choices[0].FinishReason),
		Model: theirs.Model, ID: theirs.ID,
		Usage: model.Usage{
			Input: int(theirs.Usage.PromptTokens), Output: int(theirs.Usage.CompletionTokens),
			Cached:    int(theirs.Usage.PromptTokensDetails.CachedTokens),
			Reasoning: int(theirs.Usage.CompletionTokensDetails.ReasoningTokens),
		},
	}
	if diff := cmp.Diff(want, ours); diff != "" {
		t.Errorf("the SDK's reading -, this package's +:\n%s", diff)
	}
}
