package model

import (
	"strings"

	"github.com/orbench/orbench"
)

// Ref names a model that orbench asks on its own behalf: a judge, a moderator, a
// generator.
type Ref struct {
	Provider string
	// Endpoint is a base URL, or empty for the provider's own.
	Endpoint string
	Model    string
}

// String is the reference as users write it, provider/model.
func (r Ref) String() string { return r.Provider + "/" + r.Model }

// ParseRef reads provider/model, without an endpoint. The model may contain slashes.
// It reports false for any other text, and for text with spaces.
func ParseRef(s string) (Ref, bool) {
	provider, name, ok := strings.Cut(s, "/")
	if !ok || provider == "" || name == "" || strings.ContainsAny(s, " \t\r\n") {
		return Ref{}, false
	}
	return Ref{Provider: provider, Model: name}, true
}

// IsRef reports whether ParseRef can read s.
func IsRef(s string) bool {
	_, ok := ParseRef(s)
	return ok
}

// Request is a call of the model with one user message.
func (r Ref) Request(p Params, text string) Request {
	return Request{
		Provider: r.Provider, Endpoint: r.Endpoint, Model: r.Model,
		Messages: []orbench.Message{{Role: orbench.User, Content: text}}, Params: p,
	}
}

// Lookup finds the remembered response of a request. It reports false where
// there is none yet.
type Lookup func(Request) (Response, bool)

// NoReplies is the Lookup that finds nothing.
func NoReplies(Request) (Response, bool) { return Response{}, false }
