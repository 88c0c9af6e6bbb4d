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

// request is the chat request as a model takes it. sample tells repeated calls
// apart, for which the dialect has no word.
func (c *chatRequest) request(sample int) model.Request {
	return model.Request{
		Provider: Provider, Model: c.Model, Messages: c.Messages, Sample: sample,
		Params: model.Params{
			Temperature: c.Temperature, MaxTokens: max(c.MaxTokens, c.MaxCompletionTokens), Seed: c.Seed,
			Schema: c.ResponseFormat.JSONSchema.Schema,
		},
	}
}

// chatReply is a chat completion.
type chatReply struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Model   string       `json:"model"`
	Choices []chatChoice `json:"choices"`
	Usage   struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	} `json:"usage"`
}

type chatChoice struct {
	Index   int `json:"index"`
	Message struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
		Refusal *string `json:"refusal"`
	} `json:"message"`
	FinishReason string `json:"finish_reason"`
}

// newReply makes a chat completion without any text, of a model to a request.
func newReply(model string, request uint64, finish string) chatReply {
	r := chatReply{ID: "sim-" + strconv.FormatUint(request, 16), Object: "chat.completion", Model: model, Choices: []chatChoice{{FinishReason: finish}}}
	r.Choices[0].Message.Role = "assistant"
	return r
}

// replyOf writes a response as the body of a chat completion.
func replyOf(r model.Response, request uint64) []byte {
	reply := newReply(r.Model, request, string(r.Finish))
	reply.Choices[0].Message.Content = &r.Text
	reply.Usage.Prompt, reply.Usage.Completion, reply.Usage.Total = r.Usage.Input, r.Usage.Output, r.Usage.Input+r.Usage.Output
	return encode(reply)
}

// filtered is what a content filter makes of a prompt, in one of the ways that
// the dialect knows: a finish reason without any text, a refusal in a field of
// its own, and Azure's status 400
// (https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter).
func filtered(way int, name string, request uint64) output {
	reply := newReply(modelName(name), request, "content_filter")
	switch way {
	case 0:
		return output{http.StatusBadRequest, encode(map[string]any{"error": map[string]any{
			"message": "The simulated content filter stopped this prompt.", "type": "", "code": "content_filter", "status": http.StatusBadRequest,
			"innererror": map[string]any{
				"code":                  "ResponsibleAIPolicyViolation",
				"content_filter_result": map[string]any{"violence": map[string]any{"filtered": true, "severity": "medium"}},
			},
		}}), true}
	case 1:
		refusal := "The simulated provider declines this prompt. " + mark
		reply.Choices[0].Message.Refusal, reply.Choices[0].FinishReason = &refusal, "stop"
	}
	return output{http.StatusOK, encode(reply), true}
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
