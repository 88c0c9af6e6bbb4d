package client

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/internal/provider"
)

// address is where a provider is asked, empty for its own address. One that the user gave
// without the API's version gets it where only that leads to the API.
func (s *Set) address(name string) string {
	at := s.baseURLs[name]
	p, err := s.Providers.Lookup(name)
	if s.Given[name] == "" || s.Unasked || s.tried[name] || err != nil || p.Dialect != provider.OpenAI {
		return at
	}
	s.tried[name] = true
	e, err := p.Locate(at, s.Getenv)
	base := e.BaseURL
	if err != nil || strings.HasSuffix(base, "/v1") || !missing(base) || missing(base+"/v1") {
		return at
	}
	s.baseURLs[name] = base + "/v1"
	if s.Versioned != nil {
		s.Versioned(at, base+"/v1")
	}
	return base + "/v1"
}

// missing reports whether a server has no API at an address, or does not answer. It is asked
// nothing, and gets no key.
func missing(base string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", strings.NewReader("{}"))
	if err != nil {
		return true
	}
	request.Header.Set("Content-Type", "application/json")
	reply, err := wire.Client(nil).Do(request)
	if err != nil {
		return true
	}
	_ = reply.Body.Close()
	return reply.StatusCode == http.StatusNotFound || reply.StatusCode == http.StatusMethodNotAllowed
}
