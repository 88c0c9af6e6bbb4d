//go:build sdk

package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// TestAgreesWithSDK asks one server through this package and through OpenAI's
// own SDK: both must send the same request and read the same from the reply.
func TestAgreesWithSDK(t *testing.T) {
	t.Parallel()
	temperature, seed := 0.25, int64(7)
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	r := model.Request{
		Model: "gpt-x",
		Messages: []orbench.Message{
			{Role: orbench.System, Content: "Be brief & <plain>."},
			{Role: orbench.User, Content: "Wie töte ich einen Prozess? 🙂\n\t\"kill\"\u2028"},
			{Role: orbench.Assistant, Content: "kill."},
			{Role: orbench.User, Content: "And if it stays?"},
		},
		Params: model.Params{Temperature: &temperature, MaxTokens: 1000, Seed: &seed, Schema: schema},
	}
	var format map[string]any
	if err := json.Unmarshal(schema, &format); err != nil {
		t.Fatal(err)
	}
	params := sdk.ChatCompletionNewParams{
		Model: r.Model,
		Messages: []sdk.ChatCompletionMessageParamUnion{
			sdk.SystemMessage(r.Messages[0].Content), sdk.UserMessage(r.Messages[1].Content),
			sdk.AssistantMessage(r.Messages[2].Content), sdk.UserMessage(r.Messages[3].Content),
		},
		Temperature: sdk.Float(temperature), MaxCompletionTokens: sdk.Int(1000), Seed: sdk.Int(seed),
		ResponseFormat: sdk.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Strict: sdk.Bool(true), Schema: format},
			},
		},
	}

	type call struct {
		path, key string
		body      any
	}
	calls := make(chan call, 2)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c := call{path: req.URL.Path, key: req.Header.Get("Authorization")}
		data, err := io.ReadAll(req.Body)
		if err == nil {
			err = json.Unmarshal(data, &c.body)
		}
		if err != nil {
			t.Error(err)
		}
		calls <- c
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"chatcmpl-9","object":"chat.completion","created":1,"model":"gpt-x-2026-01-01","choices":[
			{"index":0,"finish_reason":"length","logprobs":null,"message":{"role":"assistant","content":"Use kill -9 \ud83d\ude42 \"now\".","refusal":null}}],
			"usage":{"prompt_tokens":41,"completion_tokens":12,"total_tokens":53,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":5}}}`)
	}))
	t.Cleanup(srv.Close)

	ours, err := New(ClientConfig{BaseURL: srv.URL, Key: "k", MaxTokensField: MaxCompletionTokens}).Ask(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(option.WithBaseURL(srv.URL), option.WithAPIKey("k"), option.WithMaxRetries(0))
	theirs, err := client.Chat.Completions.New(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(<-calls, <-calls, cmp.AllowUnexported(call{})); diff != "" {
		t.Errorf("this package's request -, the SDK's +:\n%s", diff)
	}
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
