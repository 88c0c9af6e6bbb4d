package question

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/model"
)

// usualAttempts is how often a model is asked for a readable reply, and JudgeAttempts how often
// one that judges answers.
const usualAttempts, JudgeAttempts = 2, 3

// Ask finds the reply to a request and passes it to read, without what the model thought before it. If read refuses a reply, Ask
// requests another one, as the next sample of the same request, up to some attempts, 0 for 2:
// sample n of a question is the samples 2n and 2n+1 of its request, so that only a question
// that is asked once has a third attempt. A reply by another model is not read. The error
// says why there is nothing to read. If a reply is merely not there yet, missing lists
// what to ask.
func Ask(request model.Request, attempts int, look model.Lookup, read func(model.Response) error) (missing []model.Request, err error) {
	var faults []string
	first := request.Sample * usualAttempts
	for attempt := range cmp.Or(attempts, usualAttempts) {
		request.Sample = first + attempt
		response, ok := look(request)
		if !ok {
			return []model.Request{request}, fmt.Errorf("no reply yet from %s/%s", request.Provider, request.Model)
		}
		if asked := (model.Ref{Provider: request.Provider, Model: request.Model}); response.ByOther(asked) {
			return nil, OtherError(asked, response)
		}
		err := replyFault(response)
		if err == nil {
			// Thinking that a server left in the text is not part of the reply.
			response.Text = reply.Reading{Date: response.Reading}.Reply(response.Text)
			err = read(response)
		}
		if err == nil {
			return nil, nil
		}
		faults = append(faults, err.Error())
	}
	return nil, errors.New(Unread(model.Ref{Provider: request.Provider, Model: request.Model}) + "first " + strings.Join(faults, "; asked again, "))
}

// Unread is how an error begins that says that a model's replies cannot be read.
func Unread(of model.Ref) string { return fmt.Sprintf("no verdict can be read from %s: ", of) }

// OtherError is the error for a reply by another model.
func OtherError(asked model.Ref, reply model.Response) error {
	return fmt.Errorf("no verdict from %s: %s answered instead", asked, Clip(reply.Model))
}

// replyFault says why a response cannot hold a verdict, or nil.
func replyFault(r model.Response) error {
	switch {
	case r.Finish == model.Blocked && r.Block != nil:
		return fmt.Errorf("the reply was blocked by its provider (%s %s)", r.Block.Kind, Clip(r.Block.Detail))
	case r.Finish == model.Blocked:
		return errors.New("the reply was blocked by its provider")
	case Blank(r.Text):
		return errors.New("the reply is empty")
	case r.Finish == model.Length:
		return errors.New("the token limit cut the reply")
	}
	return nil
}

// Blank reports whether a text contains only characters that show nothing.
func Blank(text string) bool { return strings.Trim(text, " \t\n\r\v\f\u00a0\u200b\ufeff") == "" }
