package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// chatRequest is the part of a chat completion request in the OpenAI dialect
// that simulated models read
// (https://platform.openai.com/docs/api-reference/chat/create). Message contents
// are strings; lists of parts are not simulated.
type chatRequest struct {
	Model               string            `json:"model"`
	Messages            []orbench.Message `json:"messages"`
	Temperature         *float64          `json:"temperature"`
	MaxTokens           int               `json:"max_tokens"`
	MaxCompletionTokens int               `json:"max_completion_tokens"`
	Seed                *int64            `json:"seed"`
	Stream              bool              `json:"stream"`
	ResponseFormat      struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// request is the chat request as a model takes it. sample numbers repeated calls, for which
// the dialect has no field.
func (c *chatRequest) request(sample int) model.Request {
	return model.Request{
		Provider: Provider, Model: c.Model, Messages: c.Messages, Sample: sample,
		Params: model.Params{
			Temperature: c.Temperature, MaxTokens: max(c.MaxTokens, c.MaxCompletionTokens), Seed: c.Seed,
			Schema: c.ResponseFormat.JSONSchema.Schema,
		},
	}
}

// replyOf writes a chat completion of a model to a request.
func replyOf(name string, request uint64, finish string, message map[string]any, used model.Usage) []byte {
	message["role"] = "assistant"
	return encode(map[string]any{
		"id": "sim-" + strconv.FormatUint(request, 16), "object": "chat.completion", "model": name,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
		"usage":   map[string]int{"prompt_tokens": used.Input, "completion_tokens": used.Output, "total_tokens": used.Input + used.Output},
	})
}

// answerOf writes a response as the body of a chat completion.
func answerOf(r model.Response, request uint64) []byte {
	return replyOf(r.Model, request, string(r.Finish), map[string]any{"content": r.Text, "refusal": nil}, r.Usage)
}

// filtered is a reply that a content filter withholds.
func filtered(name string, request uint64) output {
	message := map[string]any{"content": nil, "refusal": nil}
	return output{http.StatusOK, replyOf(modelName(name), request, "content_filter", message, model.Usage{})}
}

func badRequest(problem string) output {
	return failure(http.StatusBadRequest, "invalid_request_error", "", problem)
}

// failure is how the dialect reports a fault. It may have a code.
func failure(status int, kind, code, message string) output {
	fault := map[string]string{"message": message, "type": kind}
	if code != "" {
		fault["code"] = code
	}
	return output{status: status, body: encode(map[string]any{"error": fault})}
}

// encode writes JSON of a type that has no way to fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("sim: %T is not JSON: %v", v, err))
	}
	return b
}
