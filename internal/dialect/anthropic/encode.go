package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// DefaultMaxTokens bounds the output of a request that sets no bound, since
// this API demands one. Every model takes it.
const DefaultMaxTokens = 4096

// request is the body of a call.
type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	System       []text        `json:"system,omitempty"`
	Messages     []turn        `json:"messages"`
	Temperature  *float64      `json:"temperature,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
}

// turn is a message of the user or of the model.
type turn struct {
	Role    orbench.Role `json:"role"`
	Content []text       `json:"content"`
}

// text is a block of text.
type text struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// outputConfig asks for output that fits a schema.
type outputConfig struct {
	Format struct {
		Type   string          `json:"type"`
		Schema json.RawMessage `json:"schema"`
	} `json:"format"`
}

// encode writes the body of the call for r.
func encode(r model.Request) ([]byte, error) {
	q := request{Model: r.Model, MaxTokens: cmp.Or(r.Params.MaxTokens, DefaultMaxTokens), Messages: []turn{}, Temperature: r.Params.Temperature}
	if r.Params.Schema != nil {
		var object map[string]any
		if err := json.Unmarshal(r.Params.Schema, &object); err != nil {
			return nil, fmt.Errorf("the output schema is no JSON object: %w", err)
		}
		q.OutputConfig = new(outputConfig)
		q.OutputConfig.Format.Type, q.OutputConfig.Format.Schema = "json_schema", r.Params.Schema
	}
	for _, m := range r.Messages {
		content := []text{{"text", m.Content}}
		switch m.Role {
		case orbench.System:
			q.System = append(q.System, content...)
		case orbench.Assistant:
			q.Messages = append(q.Messages, turn{orbench.Assistant, content})
		default:
			q.Messages = append(q.Messages, turn{orbench.User, content})
		}
	}
	return json.Marshal(q)
}
