package answers

import (
	"reflect"
	"strconv"
	"time"

	"github.com/orbench/orbench/internal/jsonappend"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

// appendLine appends a row as a line of answers.jsonl: what encoding/json makes of it, in
// a third of the time. A field that is seldom there is left to that package.
func appendLine(b []byte, r *score.AnswerRow) []byte {
	b = text(b, `{"target":`, r.Target)
	b = text(b, `,"dataset":`, r.Dataset)
	b = jsonappend.Prompt(append(b, `,"prompt":`...), &r.Prompt, jsonappend.Plain)
	b = optional(b, `,"variant":`, r.Variant)
	b = number(b, `,"sample":`, int64(r.Sample))
	b = text(b, `,"status":`, r.Status)
	if len(r.Dialog) > 0 {
		b = rare(b, `,"dialog":`, r.Dialog)
	}
	if r.Response.Finish != "" || !reflect.ValueOf(&r.Response).Elem().IsZero() {
		b = appendResponse(append(b, `,"response":`...), &r.Response)
	}
	if r.Assessment != nil {
		b = rare(b, `,"assessment":`, r.Assessment)
	}
	b = optional(b, `,"unread":`, r.Unread)
	if len(r.Findings) > 0 {
		b = rare(b, `,"findings":`, r.Findings)
	}
	b = optional(b, `,"failure":`, r.Failure)
	for i := range r.Verdicts {
		if i == 0 {
			b = append(b, `,"verdicts":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendVerdict(b, &r.Verdicts[i])
	}
	if len(r.Verdicts) > 0 {
		b = append(b, ']')
	}
	b = flag(b, `,"simulated":true`, r.Simulated)
	return append(b, "}\n"...)
}

func appendResponse(b []byte, r *model.Response) []byte {
	b = text(b, `{"text":`, r.Text)
	b = optional(b, `,"thinking":`, r.Thinking)
	b = text(b, `,"finish":`, r.Finish)
	if r.Block != nil {
		b = rare(b, `,"block":`, r.Block)
	}
	if r.Usage != (model.Usage{}) {
		b = rare(b, `,"usage":`, r.Usage)
	}
	if len(r.Logprobs) > 0 {
		b = rare(b, `,"logprobs":`, r.Logprobs)
	}
	b = optional(b, `,"model":`, r.Model)
	b = optional(b, `,"id":`, r.ID)
	b = flag(b, `,"batch":true`, r.Batch)
	if !r.Made.IsZero() {
		b = append(r.Made.AppendFormat(append(b, `,"made":"`...), time.RFC3339Nano), '"')
	}
	return append(number(b, `,"latency_ns":`, int64(r.Latency)), '}')
}

func appendVerdict(b []byte, v *score.JudgeVerdict) []byte {
	b = text(b, `{"judge":`, v.Judge)
	b = text(b, `,"class":`, v.Class)
	b = optional(b, `,"reason":`, v.Reason)
	b = jsonappend.Float(append(b, `,"score":`...), v.Score)
	if v.Span.Start != 0 || v.Span.End != 0 {
		b = strconv.AppendInt(append(b, `,"span":{"start":`...), int64(v.Span.Start), 10)
		b = append(strconv.AppendInt(append(b, `,"end":`...), int64(v.Span.End), 10), '}')
	}
	b = optional(b, `,"rationale":`, v.Rationale)
	return append(flag(b, `,"simulated":true`, v.Simulated), '}')
}

// text appends a field after its name, which comes with all that stands before the value.
func text[T ~string](b []byte, name string, value T) []byte {
	return jsonappend.String(append(b, name...), value, jsonappend.Plain)
}

// optional is text, nothing for no text.
func optional[T ~string](b []byte, name string, value T) []byte {
	if value == "" {
		return b
	}
	return text(b, name, value)
}

// number appends a field, nothing for 0.
func number(b []byte, name string, value int64) []byte {
	if value == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), value, 10)
}

// flag appends a whole field where it is true.
func flag(b []byte, field string, value bool) []byte {
	if !value {
		return b
	}
	return append(b, field...)
}

func rare(b []byte, name string, value any) []byte {
	return jsonappend.Value(append(b, name...), value, jsonappend.Plain)
}
