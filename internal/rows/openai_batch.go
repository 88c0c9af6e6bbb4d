package rows

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// batchCall is a line of the input of OpenAI's batch service.
type batchCall struct {
	ID   string         `json:"custom_id"`
	Body jsontext.Value `json:"body"`
}

// batchReply is a line of the output of a batch service: Response is that of OpenAI, with a
// status and a body, or of Google, Result of Anthropic and Output of Bedrock. Request and Input
// are what was asked, where the line has it.
type batchReply struct {
	ID       string         `json:"custom_id"`
	Key      string         `json:"key"`
	Record   string         `json:"recordId"`
	Response jsontext.Value `json:"response"`
	Result   struct {
		Type    string         `json:"type"`
		Message jsontext.Value `json:"message"`
		Error   jsontext.Value `json:"error"`
	} `json:"result"`
	Output  jsontext.Value `json:"modelOutput"`
	Request jsontext.Value `json:"request"`
	Input   jsontext.Value `json:"modelInput"`
	Error   jsontext.Value `json:"error"`
}

// mostBatch is the most bytes of a batch's input: the service takes no more.
const mostBatch = 200 << 20

// openBatch reads the output of OpenAI's batch service. The prompts are in its input, which
// is found beside it by the ID of the first reply.
func openBatch(file string, in input, choose Chooser) (nextFunc, error) {
	var asked map[string]jsontext.Value
	left := func() string {
		if asked == nil {
			return "a batch; its input, which has the prompts, is not beside it"
		}
		return "a batch"
	}
	first, of := true, ""
	return openLogLines(file, in, choose, left, func(at place, text []byte) ([]logged, error) {
		var r batchReply
		if err := at.parse(text, &r); err != nil {
			return nil, err
		}
		if first {
			first = false
			var err error
			if asked, err = callsOf(file, r.ID); err != nil {
				return nil, err
			}
		}
		answers, err := r.answers(at)
		for i := range answers { // a call that was stopped names no model
			answers[i].model = cmp.Or(answers[i].model, membersOf(asked[r.ID]).text("model"), membersOf(r.Request).text("model"), of)
			of = answers[i].model
		}
		if err != nil || asked == nil {
			return answers, err
		}
		call, known := asked[r.ID]
		if !known {
			return nil, at.cannotRead(r.ID, "no such call in the batch's input")
		}
		prompt, other := ask(call)
		if other != "" {
			return nil, at.cannotRead(r.ID, other)
		}
		for i := range answers {
			answers[i].messages = prompt
		}
		return answers, nil
	})
}

// answers makes an answer of each choice of a reply.
func (r batchReply) answers(at place) ([]logged, error) {
	id, err := json.Marshal(cmp.Or(r.ID, r.Key, r.Record))
	if err != nil {
		return nil, err
	}
	base := logged{fields: map[string]json.RawMessage{"custom_id": id}}
	var called struct {
		Status int            `json:"status_code"`
		Body   jsontext.Value `json:"body"`
	}
	// body is the reply to a call in the form of OpenAI.
	var body struct {
		Model   string `json:"model"`
		Choices []struct {
			Message jsontext.Value `json:"message"`
			Finish  string         `json:"finish_reason"`
		} `json:"choices"`
		Usage jsontext.Value `json:"usage"`
		Error jsontext.Value `json:"error"`
	}
	_ = jsonv2.Unmarshal(r.Response, &called, asRead) // others have no such members
	raw := cmp.Or(string(called.Body), string(r.Result.Message), string(r.Output), string(r.Response))
	_ = jsonv2.Unmarshal([]byte(raw), &body, asRead)
	failed := r.Error
	for _, other := range []jsontext.Value{r.Result.Error, body.Error} {
		if !Holds(string(failed)) {
			failed = other
		}
	}
	switch {
	case Holds(string(failed)):
		var fault struct {
			Message string         `json:"message"`
			Code    jsontext.Value `json:"code"`
			Error   struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		_ = json.Unmarshal(failed, &fault) // it may be a text
		code, _ := jsonText(json.RawMessage(fault.Code), true)
		return []logged{base.without(r.ID, cmp.Or(fault.Message, fault.Error.Message, code, string(failed)), code)}, nil
	case !Holds(raw):
		base.failed = r.ID + ": " + cmp.Or(r.Result.Type, "no response")
	case called.Status != 0 && called.Status/100 != 2:
		base.failed = fmt.Sprintf("%s: status %d", r.ID, called.Status)
	}
	if base.failed != "" {
		return []logged{base}, nil
	}
	if len(body.Choices) == 0 {
		return r.read(at, base, raw)
	}
	base.model, base.said.Usage = body.Model, usageOf(body.Usage)
	var all []logged
	for _, c := range body.Choices {
		a, other := base.replied(c.Message, c.Finish)
		if other != "" {
			return nil, at.cannotRead(r.ID, other)
		}
		all = append(all, a)
	}
	return all, nil
}

// read reads a reply that is not in the form of chat completions, as a row of a log.
func (r batchReply) read(at place, base logged, raw string) ([]logged, error) {
	var e Exchange
	e.read(Record{log: &Log{columns: ExchangeColumns{Recorded: true}}, cells: [parts]string{partPrompt: cmp.Or(string(r.Request), string(r.Input)), partReply: raw}, nested: [partReply + 1]bool{true, true}})
	if e.foreign && e.Block == nil {
		return nil, at.cannotRead(r.ID, "a reply of an unknown form")
	}
	base.said.Text, base.said.Finish, base.said.Block, base.model = e.Reply, e.Finish, e.Block, e.Model
	if e.Prompt != "" {
		base.messages = e.Asked
	}
	return []logged{base}, nil
}

// callsOf gives the bodies of the calls of a batch by their IDs, from the file in the same
// folder that has the call of the given ID; nil if there is none.
func callsOf(file, id string) (map[string]jsontext.Value, error) {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return nil, fileFault(filepath.Dir(file), err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".jsonl" {
			continue
		}
		calls, err := readCalls(filepath.Join(filepath.Dir(file), e.Name()))
		if err != nil {
			return nil, err
		}
		if _, ok := calls[id]; ok {
			return calls, nil
		}
	}
	return nil, nil
}

// readCalls gives the bodies of the calls in a batch's input by their IDs; nil if the file
// is none.
func readCalls(path string) (map[string]jsontext.Value, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || headOf(path).lacking != batchCalls {
		return nil, nil
	}
	if info.Size() > mostBatch {
		return nil, &orbench.InputError{File: path, Problem: fmt.Sprintf("a batch's input of more than %d bytes", mostBatch), Hint: "divide it, and its output"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileFault(path, err)
	}
	defer f.Close()
	next, err := samplesOf(path, f)
	if err != nil {
		return nil, err
	}
	calls := map[string]jsontext.Value{}
	for {
		at, text, err := next()
		if errors.Is(err, io.EOF) {
			return calls, nil
		}
		var c batchCall
		if err == nil {
			err = at.parse(text, &c)
		}
		if err != nil {
			return nil, err
		}
		if _, twice := calls[c.ID]; twice {
			return nil, &orbench.InputError{File: path, Line: at.line, Problem: "the custom_id " + untrusted.Quote(c.ID) + " is there twice", Hint: "give every call its own"}
		}
		calls[c.ID] = c.Body
	}
}

// batchCalls says what is in the input of OpenAI's batch service.
const batchCalls = "the calls of a batch"
