package rows

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// batchCall is a line of the input of OpenAI's batch service.
type batchCall struct {
	ID   string `json:"custom_id"`
	Body struct {
		Messages []message `json:"messages"`
	} `json:"body"`
}

// batchReply is a line of its output.
type batchReply struct {
	ID       string `json:"custom_id"`
	Response *struct {
		Status int `json:"status_code"`
		Body   struct {
			Model   string `json:"model"`
			Choices []struct {
				Message message `json:"message"`
				Finish  string  `json:"finish_reason"`
			} `json:"choices"`
			Usage struct {
				Input   int `json:"prompt_tokens"`
				Output  int `json:"completion_tokens"`
				Details struct {
					Reasoning int `json:"reasoning_tokens"`
				} `json:"completion_tokens_details"`
				InputDetails struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			} `json:"usage"`
			Error jsontext.Value `json:"error"`
		} `json:"body"`
	} `json:"response"`
	Error jsontext.Value `json:"error"`
}

// mostBatch is the most bytes of a batch's input: the service takes no more.
const mostBatch = 200 << 20

// openBatch reads the output of OpenAI's batch service. The prompts are in its input, which
// is found beside it by the ID of the first reply.
func openBatch(file string, in input, choose Chooser) (nextFunc, error) {
	var asked map[string][]message
	left := func() string {
		if asked == nil {
			return "an OpenAI batch; its input, which has the prompts, is not beside it"
		}
		return "an OpenAI batch"
	}
	first := true
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
		if err != nil || asked == nil {
			return answers, err
		}
		messages, known := asked[r.ID]
		if !known {
			return nil, at.cannotRead(r.ID, "no such call in the batch's input")
		}
		prompt, other := ask(messages, nil)
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
	id, err := json.Marshal(r.ID)
	if err != nil {
		return nil, err
	}
	base := logged{fields: map[string]json.RawMessage{"custom_id": id}}
	failed := r.Error
	if !Holds(string(failed)) && r.Response != nil {
		failed = r.Response.Body.Error
	}
	switch {
	case Holds(string(failed)):
		var fault struct {
			Message string         `json:"message"`
			Code    jsontext.Value `json:"code"`
		}
		_ = json.Unmarshal(failed, &fault) // it may be a text
		code, _ := jsonText(json.RawMessage(fault.Code), true)
		return []logged{base.without(r.ID, cmp.Or(fault.Message, code, string(failed)), code)}, nil
	case r.Response == nil:
		base.failed = r.ID + ": no response"
	case r.Response.Status != 0 && r.Response.Status/100 != 2:
		base.failed = fmt.Sprintf("%s: status %d", r.ID, r.Response.Status)
	}
	if base.failed != "" {
		return []logged{base}, nil
	}
	body := r.Response.Body
	if len(body.Choices) == 0 {
		return nil, at.cannotRead(r.ID, "a reply without choices")
	}
	base.model = body.Model
	u := body.Usage
	base.said.Usage = model.Usage{Input: u.Input, Output: u.Output, Reasoning: u.Details.Reasoning, Cached: u.InputDetails.Cached}
	var all []logged
	for _, c := range body.Choices {
		a, other := base.replied(c.Message, c.Finish, nil)
		if other != "" {
			return nil, at.cannotRead(r.ID, other)
		}
		all = append(all, a)
	}
	return all, nil
}

// callsOf gives the messages of the calls of a batch by their IDs, from the file in the same
// folder that has the call of the given ID; nil if there is none.
func callsOf(file, id string) (map[string][]message, error) {
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

// readCalls gives the messages of the calls in a batch's input by their IDs; nil if the file
// is none.
func readCalls(path string) (map[string][]message, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	head := make([]byte, logHead)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) || !isBatchInput(pathsIn(head[:n])) {
		return nil, nil
	}
	if info.Size() > mostBatch {
		return nil, &orbench.InputError{File: path, Problem: fmt.Sprintf("a batch's input of more than %d bytes", mostBatch), Hint: "divide it, and its output"}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, readFault(path, err)
	}
	next, err := samplesOf(path, f)
	if err != nil {
		return nil, err
	}
	calls := map[string][]message{}
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
		calls[c.ID] = c.Body.Messages
	}
}

var isBatchInput = has("/custom_id", "/method", "/body")
