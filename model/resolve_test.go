package model

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestResolve has a step that goes on to a second question, and one that never
// has enough.
func TestResolve(t *testing.T) {
	t.Parallel()
	ref := Ref{Provider: "p", Model: "m"}
	var asked []string
	m := Func(func(_ context.Context, r Request) (Response, error) {
		text := r.Messages[0].Content
		asked = append(asked, text)
		if text == "fails" {
			return Response{}, errors.New("broken")
		}
		return Response{Text: "re: " + text}, nil
	})
	var last string
	chain := func(questions ...string) Step {
		return func(look Lookup) []Request {
			for _, q := range questions {
				response, ok := look(ref.Request(Params{}, q))
				if !ok {
					return []Request{ref.Request(Params{}, q), ref.Request(Params{}, q)}
				}
				last = response.Text
			}
			return nil
		}
	}
	if err := Resolve(t.Context(), m, chain("a", "b", "a")); err != nil || last != "re: a" || fmt.Sprint(asked) != "[a b]" {
		t.Errorf("asked %v, last reply %q, error %v", asked, last, err)
	}
	if err := Resolve(t.Context(), m, chain("fails", "b")); err == nil || err.Error() != "broken" {
		t.Errorf("error %v", err)
	}
	greedy := func(Lookup) []Request { return []Request{ref.Request(Params{}, "a")} }
	if err := Resolve(t.Context(), m, greedy); err == nil {
		t.Error("a step that is never done came to an end without an error")
	}
}
