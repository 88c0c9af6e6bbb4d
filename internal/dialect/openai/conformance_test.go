package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/dialecttest"
	"github.com/orbench/orbench/model"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, dialecttest.Dialect{
		New: func(base, key string) model.Model {
			return New(ClientConfig{Provider: "openai", BaseURL: base + "/v1/", Key: key}, Fields{})
		},
		Answer: func(a model.Response) any {
			message := map[string]any{"role": "assistant", "content": a.Text}
			if a.Thinking != "" {
				message["reasoning_content"] = a.Thinking
			}
			return map[string]any{
				"id": a.ID, "model": a.Model, "object": "chat.completion",
				"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": string(a.Finish)}},
				"usage": map[string]any{
					"prompt_tokens": a.Usage.Input, "completion_tokens": a.Usage.Output,
					"prompt_tokens_details":     map[string]any{"cached_tokens": a.Usage.Cached},
					"completion_tokens_details": map[string]any{"reasoning_tokens": a.Usage.Reasoning},
				},
			}
		},
		Error: func(_ int, message string) any {
			return map[string]any{"error": map[string]any{"message": message, "type": "some_error", "param": nil, "code": nil}}
		},
		Call:   readCall,
		Blocks: blocks,
	})
}

func readCall(r *http.Request, body []byte) (dialecttest.Call, error) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		return dialecttest.Call{}, fmt.Errorf("%s %s is not the route of chat completions", r.Method, r.URL.Path)
	}
	var q struct {
		Model          string            `json:"model"`
		Messages       []orbench.Message `json:"messages"`
		Temperature    *float64          `json:"temperature"`
		MaxTokens      int               `json:"max_tokens"`
		Seed           *int64            `json:"seed"`
		ResponseFormat *struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name   string          `json:"name"`
				Strict bool            `json:"strict"`
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := dialecttest.Decode(body, &q); err != nil {
		return dialecttest.Call{}, err
	}
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	c := dialecttest.Call{Key: key, Model: q.Model, Temperature: q.Temperature, MaxTokens: q.MaxTokens, Seed: q.Seed}
	for _, m := range q.Messages {
		if m.Role == orbench.System {
			c.System += m.Content
			continue
		}
		c.Messages = append(c.Messages, m)
	}
	if f := q.ResponseFormat; f != nil {
		if f.Type != "json_schema" || f.JSONSchema.Name == "" || !f.JSONSchema.Strict {
			return c, fmt.Errorf("the response format is not a strict schema: %s", body)
		}
		c.Schema = f.JSONSchema.Schema
	}
	return c, nil
}

// blocks are the documented replies of several providers.
var blocks = []dialecttest.Blocked{
	{
		Name: "content_filter",
		Body: `{"id":"1","choices":[{"finish_reason":"content_filter","message":{"role":"assistant","content":"It be"}}]}`,
		Want: model.Block{Kind: model.OutputFilter, Detail: "content_filter"},
		Text: "It be",
	},
	{
		Name: "content_filter without content",
		Body: `{"choices":[{"finish_reason":"content_filter","message":{"role":"assistant"},"content_filter_results":{"hate":{"filtered":true,"severity":"high"},"custom_blocklists":[{"filtered":true}],"violence":{"filtered":false}}}]}`,
		Want: model.Block{Kind: model.OutputFilter, Detail: "content_filter", Categories: []string{"hate"}},
	},
	{
		Name: "another provider's reason through a gateway",
		Body: `{"choices":[{"finish_reason":"content_filter: PROHIBITED_CONTENT","message":{"role":"assistant","content":null}}]}`,
		Want: model.Block{Kind: model.OutputFilter, Detail: "content_filter: PROHIBITED_CONTENT"},
	},
	{
		Name: "refusal field",
		Body: `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I can't help with that."}}]}`,
		Want: model.Block{Kind: model.RefusalField, Detail: "refusal"},
		Text: "I can't help with that.",
	},
	{
		Name:   "Azure prompt filter",
		Status: 400,
		Body: `{"error":{"message":"The response was filtered due to the prompt.","type":null,"param":"prompt","code":"content_filter","status":400,
			"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"violence":{"filtered":true,"severity":"medium"}}}}}`,
		Want: model.Block{Kind: model.PromptFilter, Detail: "content_filter", Categories: []string{"violence"}},
		Text: "The response was filtered due to the prompt.",
	},
	{
		Name:   "Azure inner error alone",
		Status: 400,
		Body:   `{"error":{"message":"Filtered.","code":"BadRequest","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`,
		Want:   model.Block{Kind: model.PromptFilter, Detail: "responsibleaipolicyviolation"},
		Text:   "Filtered.",
	},
	{
		Name: "Azure filter without a choice",
		Body: `{"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"violence":{"filtered":true},"hate":{"filtered":false},"sexual":{"filtered":true}}}]}`,
		Want: model.Block{Kind: model.PromptFilter, Detail: "content_filter: sexual", Categories: []string{"sexual", "violence"}},
	},
	{
		Name:   "OpenAI reasoning model's prompt check",
		Status: 400,
		Body:   `{"error":{"message":"Invalid prompt: your prompt was flagged as possibly against our usage policy.","type":"invalid_request_error","param":null,"code":"invalid_prompt"}}`,
		Want:   model.Block{Kind: model.PromptFilter, Detail: "invalid_prompt"},
		Text:   "Invalid prompt: your prompt was flagged as possibly against our usage policy.",
	},
	{
		Name:   "OpenRouter moderation",
		Status: 403,
		Body:   `{"error":{"code":403,"message":"Input was flagged","metadata":{"reasons":["violence","harassment"],"flagged_input":"How do I","provider_name":"X","model_slug":"x/y"}}}`,
		Want:   model.Block{Kind: model.PromptFilter, Detail: "filter", Categories: []string{"violence", "harassment"}},
		Text:   "Input was flagged",
	},
	{
		Name:   "xAI usage guidelines",
		Status: 403,
		Body:   `{"code":"permission-denied","error":"Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"}`,
		Want:   model.Block{Kind: model.PromptFilter, Detail: "usage_guidelines"},
		Text:   "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
	},
	{
		Name:   "DeepSeek",
		Status: 400,
		Body:   `{"error":{"message":"Content Exists Risk","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`,
		Want:   model.Block{Kind: model.PromptFilter, Detail: "content_exists_risk"},
		Text:   "Content Exists Risk",
	},
	{
		Name:   "DashScope",
		Status: 400,
		Body:   `{"error":{"code":"data_inspection_failed","message":"Input may hold unfit content","type":"data_inspection_failed"}}`,
		Want:   model.Block{Kind: model.PromptFilter, Detail: "data_inspection_failed"},
		Text:   "Input may hold unfit content",
	},
	{
		Name: "filter reported with status 200",
		Body: `{"error":{"code":"content_filter","message":"Filtered."}}`,
		Want: model.Block{Kind: model.PromptFilter, Detail: "content_filter"},
		Text: "Filtered.",
	},
	{
		Name: "OpenRouter, with the word of the provider behind it",
		Body: `{"id":"gen-1","provider":"Google AI Studio","choices":[{"finish_reason":"content_filter","native_finish_reason":"PROHIBITED_CONTENT","message":{"role":"assistant","content":""}}]}`,
		Want: model.Block{Kind: model.OutputFilter, Detail: "content_filter: PROHIBITED_CONTENT (Google AI Studio)"},
	},
	{
		Name: "OpenRouter, of a filter that it calls a stop",
		Body: `{"provider":"Google","choices":[{"finish_reason":"stop","native_finish_reason":"SAFETY","message":{"content":"It be"}}]}`,
		Want: model.Block{Kind: model.OutputFilter, Detail: "SAFETY (Google)"},
		Text: "It be",
	},
	{
		Name: "OpenRouter, of Anthropic's refusal",
		Body: `{"provider":"Anthropic","choices":[{"finish_reason":"content_filter","native_finish_reason":"refusal","message":{"content":null,"refusal":"Declined."}}]}`,
		Want: model.Block{Kind: model.OutputFilter, Detail: "content_filter: refusal (Anthropic)"},
		Text: "Declined.",
	},
	{
		Name: "OpenRouter, of a filter beside an error in the choice",
		Body: `{"provider":"Google","choices":[{"finish_reason":"error","native_finish_reason":"SAFETY","error":{"code":502,"message":"Provider returned error"}}]}`,
		Want: model.Block{Kind: model.OutputFilter, Detail: "SAFETY (Google)"},
	},
	{
		Name:   "OpenRouter, of an error of the provider behind it",
		Status: 400,
		Body:   `{"error":{"code":400,"message":"Provider returned error","metadata":{"provider_name":"Azure","raw":"{\"error\":{\"code\":\"content_filter\",\"message\":\"The prompt was filtered.\"}}"}}}`,
		Want:   model.Block{Kind: model.PromptFilter, Detail: "content_filter (Azure)"},
		Text:   "The prompt was filtered.",
	},
	{
		Name: "OpenRouter, of such an error in the choice",
		Body: `{"provider":"Azure","choices":[{"finish_reason":"error","error":{"code":400,"message":"Provider returned error","metadata":{"provider_name":"Azure","raw":{"error":{"code":"content_filter","message":"Filtered."}}}}}]}`,
		Want: model.Block{Kind: model.PromptFilter, Detail: "content_filter (Azure)"},
		Text: "Filtered.",
	},
	{
		Name:   "OpenRouter, of Anthropic's filter",
		Status: 400,
		Body:   `{"error":{"code":400,"message":"Provider returned error","metadata":{"provider_name":"Anthropic","raw":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Output blocked by content filtering policy\"}}"}}}`,
		Want:   model.Block{Kind: model.OutputFilter, Detail: "content_filtering_policy (Anthropic)"},
		Text:   "Output blocked by content filtering policy",
	},
	{
		Name: "LiteLLM, with the word of the provider behind it",
		Body: `{"choices":[{"finish_reason":"content_filter","message":{"content":"","provider_specific_fields":{"native_finish_reason":"guardrail_intervened"}}}]}`,
		Want: model.Block{Kind: model.OutputFilter, Detail: "content_filter: guardrail_intervened"},
	},
	{
		Name:   "LiteLLM, of a guardrail of its own, as a fault of the server",
		Status: 500,
		Body:   `{"error":{"message":"Guardrail raised an exception, Guardrail: mine, Message: Not this.","type":"None","code":"500"}}`,
		Want:   model.Block{Kind: model.PromptFilter, Detail: "guardrail"},
		Text:   "Guardrail raised an exception, Guardrail: mine, Message: Not this.",
	},
	{
		Name:   "Databricks, with the guardrail in JSON in the message",
		Status: 400,
		Body:   `{"error_code":"BAD_REQUEST","message":"{\"output_guardrail\":[{\"flagged\":true}],\"finishReason\":\"output_guardrail_triggered\"}"}`,
		Want:   model.Block{Kind: model.OutputFilter, Detail: "output_guardrail_triggered"},
		Text:   `{"output_guardrail":[{"flagged":true}],"finishReason":"output_guardrail_triggered"}`,
	},
	{
		Name:   "Google behind a router, whose message is the word for the block",
		Status: 403,
		Body:   `{"error":{"code":403,"message":"Provider returned error","metadata":{"provider_name":"Google","raw":"{\"error\":{\"message\":\"PROHIBITED_CONTENT\"}}"}}}`,
		Want:   model.Block{Kind: model.PromptFilter, Detail: "prohibited_content (Google)"},
		Text:   "PROHIBITED_CONTENT",
	},
	{
		Name: "Tencent's own form",
		Body: `{"Response":{"Error":{"Code":"OperationDenied.ContentRisk","Message":"Not this."},"RequestId":"r"}}`,
		Want: model.Block{Kind: model.PromptFilter, Detail: "operationdenied.contentrisk"},
	},
	{
		Name: "LiteLLM, with that word at the choice",
		Body: `{"choices":[{"finish_reason":"stop","provider_specific_fields":{"native_finish_reason":"RECITATION"},"message":{"content":null}}]}`,
		Want: model.Block{Kind: model.OutputFilter, Detail: "RECITATION"},
	},
}
