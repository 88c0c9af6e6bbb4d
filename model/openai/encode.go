package openai

import (
	"cmp"
	"encoding/json"
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
func (c ClientConfig) encode(r model.Request) ([]byte, error) {
	p := &r.Params
	b := jsonappend.String([]byte(`{"model":`), r.Model, jsonappend.HTML)
	b = jsonappend.Messages(append(b, `,"messages":`...), r.Messages, jsonappend.HTML)
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
		number(cmp.Or(c.MaxTokensField, MaxTokens), int64(p.MaxTokens))
	}
	if p.Seed != nil {
		number(cmp.Or(c.SeedField, Seed), *p.Seed)
	}
	if p.Schema != nil {
		schema, err := json.Marshal(p.Schema)
		if err != nil {
			return nil, err
		}
		b = append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":`...)
		b = append(append(b, schema...), "}}"...)
	}
	if p.TopLogprobs > 0 {
		b = append(b, `,"logprobs":true`...)
		number("top_logprobs", int64(p.TopLogprobs))
	}
	if len(p.Template) > 0 {
		// vLLM's; servers that do not know it pass it over.
		template, err := json.Marshal(p.Template)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"chat_template_kwargs":`...), template...)
	}
	return append(b, '}'), nil
}
