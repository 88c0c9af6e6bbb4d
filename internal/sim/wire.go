package sim

import (
	"encoding/json"
	"fmt"
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

// completion is a chat completion of a model to a request. content is nil if a filter
// withholds it.
func completion(request uint64, r model.Response, content any) map[string]any {
	message := map[string]any{"role": "assistant", "content": content, "refusal": nil}
	return map[string]any{
		"id": "sim-" + strconv.FormatUint(request, 16), "object": "chat.completion", "model": r.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": r.Finish}},
		"usage":   map[string]int{"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output},
	}
}

// badRequest is the kind of the faults that the client made.
const badRequest = "invalid_request_error"

// failure is how the dialect reports a fault. It may have a code.
func failure(kind, code, message string) map[string]any {
	fault := map[string]string{"message": message, "type": kind}
	if code != "" {
		fault["code"] = code
	}
	return map[string]any{"error": fault}
}

// encode writes JSON of a type that has no way to fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("sim: %T is not JSON: %v", v, err))
	}
	return b
}
