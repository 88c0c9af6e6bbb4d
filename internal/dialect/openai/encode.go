package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/orbench/orbench/internal/jsonappend"
	"github.com/orbench/orbench/model"
)

// encode writes the body of the call for r. It fails only for a temperature, a schema or
// settings of a template that JSON cannot hold.
//
// It is appended, as encoding/json would write it: that takes less than half the time.
func (own Fields) encode(r model.Request) ([]byte, error) {
	p := &r.Params
	b := jsonappend.String([]byte(`{"model":`), r.Model, jsonappend.HTML)
	switch p.Form {
	case model.Raw:
		if len(r.Messages) == 0 {
			return nil, errors.New("there is no message to send as raw text")
		}
		b = jsonappend.String(append(b, `,"prompt":`...), r.Messages[len(r.Messages)-1].Content, jsonappend.HTML)
	case model.Parts:
		b = append(b, `,"messages":[`...)
		for i, m := range r.Messages {
			if i > 0 {
				b = append(b, ',')
			}
			b = jsonappend.String(append(b, `{"role":`...), m.Role, jsonappend.HTML)
			b = append(jsonappend.String(append(b, `,"content":[{"type":"text","text":`...), m.Content, jsonappend.HTML), "}]}"...)
		}
		b = append(b, ']')
	default:
		b = jsonappend.Messages(append(b, `,"messages":`...), r.Messages, jsonappend.HTML)
	}
	if t := p.Temperature; t != nil {
		if math.IsNaN(*t) || math.IsInf(*t, 0) {
			return nil, fmt.Errorf("the temperature is %g", *t)
		}
		b = jsonappend.Float(append(b, `,"temperature":`...), *t)
	}
	number := func(name string, n int64) {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = strconv.AppendInt(b, n, 10)
	}
	if p.MaxTokens != 0 {
		number(cmp.Or(own.MaxTokens, MaxTokens), int64(p.MaxTokens))
	}
	if p.Seed != nil {
		number(cmp.Or(own.Seed, Seed), *p.Seed)
	}
	if p.Schema != nil {
		schema, err := json.Marshal(p.Schema)
		if err != nil {
			return nil, err
		}
		b = append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":`...)
		b = append(append(b, schema...), "}}"...)
	}
	switch {
	case p.TopLogprobs == 0:
	case p.Form == model.Raw:
		number("logprobs", int64(p.TopLogprobs))
	default:
		b = append(b, `,"logprobs":true`...)
		number("top_logprobs", int64(p.TopLogprobs))
	}
	if p.Effort != "" {
		b = jsonappend.String(append(b, `,"reasoning_effort":`...), p.Effort, jsonappend.HTML)
	}
	if len(p.Template) > 0 {
		// vLLM's; servers that do not know it pass it over.
		template, err := json.Marshal(p.Template)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"chat_template_kwargs":`...), template...)
	}
	if own.SafetyIdentifier != "" {
		b = jsonappend.String(append(b, `,"safety_identifier":`...), own.SafetyIdentifier, jsonappend.HTML)
	}
	return append(b, '}'), nil
}
