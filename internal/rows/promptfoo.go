package rows

import (
	"cmp"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/model"
)

// promptfooLeft is what the results of promptfoo have that is not read.
const promptfooLeft = "promptfoo; the verdicts of its assertions are left out"

// promptfooRow is a result of promptfoo.
type promptfooRow struct {
	Test     int            `json:"testIdx"`
	Provider jsontext.Value `json:"provider"`
	Prompt   struct {
		Raw jsontext.Value `json:"raw"`
	} `json:"prompt"`
	Error    jsontext.Value `json:"error"`
	Failure  int            `json:"failureReason"`
	Response *struct {
		Output     jsontext.Value `json:"output"`
		Error      jsontext.Value `json:"error"`
		Finish     string         `json:"finishReason"`
		Refusal    bool           `json:"isRefusal"`
		Tokens     jsontext.Value `json:"tokenUsage"`
		Guardrails *struct {
			Input  bool `json:"flaggedInput"`
			Output bool `json:"flaggedOutput"`
		} `json:"guardrails"`
	} `json:"response"`
}

// promptfooError is the failureReason of a result without an answer.
const promptfooError = 2

// shortText is longer than what promptfoo writes in place of an answer that was withheld.
const shortText = 300

// promptfooAnswer makes the answer of a result.
func promptfooAnswer(at place, text []byte) ([]logged, error) {
	var r promptfooRow
	if err := at.parse(text, &r); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("testIdx %d", r.Test)
	var provider struct {
		ID    string `json:"id"`
		Label string `json:"label"`
	}
	id, isText := textOf(r.Provider)
	if !isText && jsonv2.Unmarshal(r.Provider, &provider) != nil {
		return nil, at.cannotRead(name, "a provider of an unknown form")
	}
	a := logged{model: cmp.Or(provider.Label, provider.ID, id)}
	prompt, ok := textOf(r.Prompt.Raw)
	if !ok || r.Prompt.Raw == nil {
		return nil, at.cannotRead(name, "no text in prompt.raw")
	}
	var other string
	if a.messages, other = askText(prompt); other != "" {
		return nil, at.cannotRead(name, other)
	}
	why, _ := textOf(r.Error)
	if r.Response == nil || r.Failure == promptfooError || r.Response.Output == nil && Holds(string(r.Response.Error)) {
		if r.Response != nil {
			said, _ := textOf(r.Response.Error)
			why = cmp.Or(why, said)
		}
		return []logged{a.without(name, cmp.Or(why, "no response"))}, nil
	}
	output := r.Response.Output
	if strings.Contains(string(output), `"function"`) && output.Kind() != '"' {
		a.said.Finish = model.Called
		return []logged{a}, nil
	}
	if a.said.Text, ok = textOf(output); !ok {
		a.said.Text = string(output)
	}
	a.said.Finish, a.said.Block = reply.End(r.Response.Finish)
	// What was flagged is not always withheld.
	withheld := strings.TrimSpace(a.said.Text) == "" || len(a.said.Text) < shortText && reply.Faulted(a.said.Text) != nil
	switch g := r.Response.Guardrails; {
	case r.Response.Refusal:
		a.said.Finish, a.said.Block = model.Blocked, &model.Block{Kind: model.RefusalField, Detail: "refusal"}
	case g != nil && withheld && (g.Input || g.Output):
		a.said.Finish, a.said.Block = model.Blocked, &model.Block{Kind: model.OutputFilter, Detail: "guardrails"}
		if g.Input {
			a.said.Block.Kind = model.PromptFilter
		}
	}
	a.said.Usage = usageOf(r.Response.Tokens)
	return []logged{a}, nil
}

// openPromptfooJSON reads the results of promptfoo in the form of one JSON object.
func openPromptfooJSON(file string, in input, choose Chooser) (nextFunc, error) {
	l, _, err := openLogJSON(file, in, []string{"results", "results"})
	if err != nil {
		return nil, err
	}
	return openLog(file, in, choose, always(promptfooLeft), l.next, promptfooAnswer)
}

// openPromptfooLines reads them in the form of JSON Lines.
func openPromptfooLines(file string, in input, choose Chooser) (nextFunc, error) {
	return openLogLines(file, in, choose, always(promptfooLeft), promptfooAnswer)
}
