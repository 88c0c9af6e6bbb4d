package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench/internal/table"
)

// exported is what an OpenTelemetry exporter writes at a time, in the JSON form of OTLP
// (https://opentelemetry.io/docs/specs/otlp/). Calls to models are spans or events with
// attributes of the conventions for generative AI
// (https://opentelemetry.io/docs/specs/semconv/gen-ai/) or of OpenInference
// (https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md).
type exported struct {
	Spans []exportedBy `json:"resourceSpans"`
	Logs  []exportedBy `json:"resourceLogs"`
}

type exportedBy struct {
	Resource struct {
		Attributes []attribute `json:"attributes"`
	} `json:"resource"`
	Spans []scope `json:"scopeSpans"`
	Logs  []scope `json:"scopeLogs"`
}

type scope struct {
	Spans   []record `json:"spans"`
	Records []record `json:"logRecords"`
}

// record is a span, a log record or an event of a span.
type record struct {
	Name       string         `json:"name"`
	TraceID    string         `json:"traceId"`
	Start      jsontext.Value `json:"startTimeUnixNano"`
	Time       jsontext.Value `json:"timeUnixNano"`
	Attributes []attribute    `json:"attributes"`
	Events     []record       `json:"events"`
	Status     struct {
		Message string `json:"message"`
	} `json:"status"`
}

type attribute struct {
	Key   string         `json:"key"`
	Value attributeValue `json:"value"`
}

// attributeValue has what it holds under its kind, such as stringValue or arrayValue.
type attributeValue members

// plain gives the value in the form of ordinary JSON.
func (v attributeValue) plain() any {
	var list struct {
		Values []attributeValue `json:"values"`
	}
	var object struct {
		Values []attribute `json:"values"`
	}
	switch held := members(v); {
	case held["stringValue"] != nil:
		return held.text("stringValue")
	case jsonv2.Unmarshal(held["arrayValue"], &list) == nil:
		all := make([]any, len(list.Values))
		for i, item := range list.Values {
			all[i] = item.plain()
		}
		return all
	case jsonv2.Unmarshal(held["kvlistValue"], &object) == nil:
		all := map[string]any{}
		for _, a := range object.Values {
			all[a.Key] = a.Value.plain()
		}
		return all
	default:
		return held.first("boolValue", "intValue", "doubleValue")
	}
}

// openTelemetry reads the calls to models among the spans or records that an OpenTelemetry
// exporter wrote, a JSON object for each export. Others are passed over.
func openTelemetry(file string, in input, choose Chooser) (nextFunc, error) {
	limit := &bounded{in: in, most: maxSample}
	text, err := openText(file, limit)
	if err != nil {
		return nil, err
	}
	dec := jsontext.NewDecoder(text)
	at := place{file: file}
	number, others := 0, 0
	return OpenObjects(file, choose, oneByOne(func() (calls []Object, err error) {
		limit.Next()
		value, err := dec.ReadValue()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			if others > 0 {
				*in.notes = append(*in.notes, fmt.Sprintf("%s: %s of OpenTelemetry", file, table.Counted(others, "record that is no call to a model is left out", "records that are no calls to models are left out")))
			}
			return nil, io.EOF
		}
		if err != nil {
			return nil, at.fault(err)
		}
		var e exported
		if err := at.parse(value, &e); err != nil {
			return nil, err
		}
		at.number++
		for _, by := range slices.Concat(e.Spans, e.Logs) {
			var records []record
			for _, s := range slices.Concat(by.Spans, by.Logs) {
				records = append(append(records, s.Spans...), s.Records...)
			}
			for _, r := range records {
				fields, err := r.fields(by.Resource.Attributes)
				if err != nil {
					return nil, err
				}
				if fields == nil {
					others++
					continue
				}
				number++
				calls = append(calls, Object{number: number, fields: fields})
			}
		}
		return calls, nil
	}))
}

// fields gives the attributes of a call to a model, and nil for another record. A call in
// an agent has a span of its own, so spans of agents and tools are no calls.
func (r record) fields(resource []attribute) (map[string]json.RawMessage, error) {
	values := map[string]any{}
	for _, a := range resource {
		values[a.Key] = a.Value.plain()
	}
	call := false
	add := func(all []attribute) {
		for _, a := range all {
			values[a.Key] = a.Value.plain()
			call = call || strings.HasPrefix(a.Key, "gen_ai.")
		}
	}
	add(r.Attributes)
	for _, e := range r.Events {
		if strings.HasPrefix(e.Name, "gen_ai.") {
			add(e.Attributes)
		}
	}
	call = call || values["openinference.span.kind"] == "LLM"
	operation, _ := values["gen_ai.operation.name"].(string)
	if !call || !slices.Contains([]string{"", "chat", "text_completion", "generate_content"}, operation) {
		return nil, nil
	}
	if r.Status.Message != "" {
		values["error"] = r.Status.Message
	}
	values["trace_id"] = r.TraceID
	if values["time"] = r.Start; r.Start == nil {
		values["time"] = r.Time
	}
	fields := make(map[string]json.RawMessage, len(values))
	for name, value := range values {
		raw, err := jsonv2.Marshal(value)
		if err != nil {
			return nil, err
		}
		fields[name] = raw
	}
	joinNumbered(fields)
	return fields, nil
}
