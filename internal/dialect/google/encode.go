package google

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// request is the body of a call.
type request struct {
	Contents          []content       `json:"contents"`
	SystemInstruction *content        `json:"systemInstruction,omitempty"`
	SafetySettings    []safetySetting `json:"safetySettings"`
	GenerationConfig  generation      `json:"generationConfig,omitzero"`
}

// content is a turn of a conversation, in requests and in replies.
type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought,omitempty"`
}

type safetySetting struct {
	Category  string `json:"category"`
	Threshold string `json:"threshold"`
}

// generation says how to answer.
type generation struct {
	Temperature        *float64        `json:"temperature,omitempty"`
	MaxOutputTokens    int             `json:"maxOutputTokens,omitempty"`
	Seed               *int64          `json:"seed,omitempty"`
	ResponseMIMEType   string          `json:"responseMimeType,omitempty"`
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"`
}

// unfiltered turns off every filter that a caller can set.
var unfiltered = []safetySetting{
	{"HARM_CATEGORY_HARASSMENT", "BLOCK_NONE"},
	{"HARM_CATEGORY_HATE_SPEECH", "BLOCK_NONE"},
	{"HARM_CATEGORY_SEXUALLY_EXPLICIT", "BLOCK_NONE"},
	{"HARM_CATEGORY_DANGEROUS_CONTENT", "BLOCK_NONE"},
}

// encode writes the body of the call for r.
func encode(r model.Request) ([]byte, error) {
	q := request{SafetySettings: unfiltered}
	g := &q.GenerationConfig
	g.Temperature, g.MaxOutputTokens, g.Seed = r.Params.Temperature, r.Params.MaxTokens, r.Params.Seed
	if g.MaxOutputTokens > math.MaxInt32 {
		return nil, fmt.Errorf("the token limit %d is larger than this API can take", g.MaxOutputTokens)
	}
	if s := g.Seed; s != nil && int64(int32(*s)) != *s {
		return nil, fmt.Errorf("the seed %d does not fit in the 32 bits of this API", *s)
	}
	if r.Params.Schema != nil {
		if !json.Valid(r.Params.Schema) {
			return nil, fmt.Errorf("the output schema is not JSON: %s", r.Params.Schema)
		}
		g.ResponseMIMEType, g.ResponseJSONSchema = "application/json", r.Params.Schema
	}
	for _, m := range r.Messages {
		p := part{Text: m.Content}
		switch m.Role {
		case orbench.System:
			if q.SystemInstruction == nil {
				q.SystemInstruction = &content{Role: "user"}
			}
			q.SystemInstruction.Parts = append(q.SystemInstruction.Parts, p)
		case orbench.Assistant:
			q.Contents = append(q.Contents, content{"model", []part{p}})
		default:
			q.Contents = append(q.Contents, content{"user", []part{p}})
		}
	}
	return json.Marshal(q)
}
