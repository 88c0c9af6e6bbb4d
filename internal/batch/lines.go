package batch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/internal/untrusted"
)

// Result is what became of one call.
type Result struct {
	// ID is the call's own, as it was sent.
	ID string
	// Status and Body are those of the reply, as a live call would have had; Status is 0
	// where the call was not made.
	Status int
	Body   []byte
	// Unmade says why the call was not made, or not to its end; empty for a reply. It is
	// not charged.
	Unmade string
}

// chatURL is the endpoint of all calls, relative to the server.
const chatURL = "/v1/chat/completions"

// Line writes a call as a line of OpenAI's batch files, which vLLM's run-batch takes too
// (https://developers.openai.com/api/docs/guides/batch,
// https://docs.vllm.ai/en/latest/examples/offline_inference/openai_batch.html). It has no line break.
func Line(id string, body []byte) []byte {
	return lineOf(`{"custom_id":`, id, `,"method":"POST","url":"`+chatURL+`","body":`, body)
}

// lineOf writes a call as an object, with what stands before its ID and its body.
func lineOf(before, id, between string, body []byte) []byte {
	quoted, err := json.Marshal(id)
	if err != nil {
		panic(err) // a string can be written
	}
	return slices.Concat([]byte(before), quoted, []byte(between), body, []byte("}"))
}

// outputLine is a line of an output file or an error file.
type outputLine struct {
	ID       string          `json:"custom_id"`
	Response json.RawMessage `json:"response"`
	Error    json.RawMessage `json:"error"`
	// Body is there in a line that asks for a call.
	Body json.RawMessage `json:"body"`
}

// MaxLine is the longest line of a file of results in bytes: a reply with what is around
// it.
const MaxLine = wire.MaxReply + 64<<10

// LineError is a line of a file of results that is none. The others count.
type LineError struct {
	// Line is its number, from 1.
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// ReadResults reads an output file, or an error file, of OpenAI's batches, Together's,
// Mistral's or vLLM's run-batch. A line that cannot be read is a *LineError, after which
// reading goes on; any other error ends it. Lines that ask for calls are passed over.
func ReadResults(r io.Reader) iter.Seq2[Result, error] {
	return eachLine(r, readResult, func(err error) error { return err })
}

// eachLine reads the lines of a file of results. One that is too long is told of as a
// *LineError too, and passed over. What ends reading goes through fail.
func eachLine(r io.Reader, read func(line []byte) (Result, bool, error), fail func(error) error) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		in := bufio.NewReaderSize(r, 1<<16)
		for n := 1; ; n++ {
			line, long, end := untrusted.ReadLine(in, MaxLine)
			var result Result
			var ok bool
			var err error
			if line = bytes.TrimSpace(line); long {
				err = fmt.Errorf("it is longer than %d bytes", MaxLine)
			} else if len(line) > 0 {
				result, ok, err = read(line)
			}
			if err != nil {
				result, err = Result{}, &LineError{n, err}
			}
			if (ok || err != nil) && !yield(result, err) {
				return
			}
			if end != nil && !errors.Is(end, io.EOF) {
				yield(Result{}, fail(end))
			}
			if end != nil {
				return
			}
		}
	}
}

// results reads the file of results at an address.
func (a api) results(ctx context.Context, url string, read func(line []byte) (Result, bool, error)) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		resp, err := a.open(ctx, call{method: http.MethodGet, url: url})
		if err != nil {
			yield(Result{}, err)
			return
		}
		defer resp.Body.Close()
		eachLine(resp.Body, read, a.failure)(yield)
	}
}

// readResult reads a line; ok is false for one that says nothing of what became of a call.
func readResult(line []byte) (r Result, ok bool, err error) {
	var l outputLine
	if err := json.Unmarshal(line, &l); err != nil {
		return r, false, errors.New("it is not the result of a call, but " + short(line))
	}
	r.ID = l.ID
	response, fault := given(l.Response), given(l.Error)
	switch {
	case response == nil && fault == nil && given(l.Body) != nil:
		return r, false, nil
	case r.ID == "":
		return r, false, errors.New("it has no custom_id")
	case response == nil && fault == nil:
		return r, false, errors.New("it has neither a response nor an error")
	case response == nil:
		// The call was not made: OpenAI says so with a code such as batch_expired.
		r.Unmade = said(fault)
		return r, true, nil
	}
	var reply struct {
		Status  int             `json:"status_code"`
		Body    json.RawMessage `json:"body"`
		Choices json.RawMessage `json:"choices"`
	}
	if err := json.Unmarshal(response, &reply); err != nil {
		return r, false, errors.New("its response is " + short(response))
	}
	r.Status, r.Body = reply.Status, given(reply.Body)
	switch {
	case r.Body == nil && reply.Choices != nil:
		// The documentation of vLLM's run-batch has the completion itself here.
		r.Body = response
	case r.Body == nil:
		// vLLM puts what a server would have answered beside the response.
		r.Body = fault
	}
	if r.Status == 0 {
		r.Status = 200
		if fault != nil {
			r.Status = 500
		}
	}
	if r.Body == nil {
		return r, false, fmt.Errorf("its response, of status %d, has no body", r.Status)
	}
	return r, true, nil
}

// said is what a fault says of itself: its code and its message, or all of it.
func said(fault json.RawMessage) string {
	var f struct {
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(fault, &f) != nil || f.Message == "" && f.Code == nil && f.Type == "" {
		return short(fault)
	}
	name := f.Type
	if f.Code != nil {
		name = fmt.Sprint(f.Code)
	}
	switch {
	case f.Message == "":
		return name
	case name == "":
		return f.Message
	}
	return name + ": " + f.Message
}

// given is a value of JSON, nil for null and for none.
func given(v json.RawMessage) json.RawMessage {
	if bytes.Equal(v, []byte("null")) {
		return nil
	}
	return v
}

// short is the start of a line, for an error.
func short(line []byte) string {
	const most = 60
	if len(line) > most {
		return fmt.Sprintf("%q…", line[:most])
	}
	return fmt.Sprintf("%q", line)
}
