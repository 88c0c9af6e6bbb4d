package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// call is a call behind an answer.
type call struct {
	Hash     string          `json:"hash"`
	Model    string          `json:"model"`
	Made     string          `json:"made,omitempty"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response"`
}

// raw shows the calls behind an answer: those of the target, of its defense and of judges.
func (s *Server) raw(r *http.Request) (response, error) {
	ctx := r.Context()
	q, err := page.ParseQuery(r.URL.Query())
	if err != nil {
		return response{}, err
	}
	hashes, err := s.callsOf(ctx, q)
	if err != nil {
		return response{}, err
	}
	records, err := s.Store.Records(ctx, hashes)
	if err != nil {
		return response{}, err
	}
	slices.SortFunc(records, func(a, b store.Record) int {
		return slices.Index(hashes, a.Hash) - slices.Index(hashes, b.Hash)
	})
	p := struct {
		page.Frame
		Calls []call `json:"calls"`
	}{Frame: s.frame(r, "Calls")}
	for _, record := range records {
		received, err := json.Marshal(record.Response)
		if err != nil {
			return response{}, err
		}
		c := call{Hash: record.Hash.String(), Model: record.Response.Model, Request: shown(record.Request), Response: shown(received)}
		if !record.Response.Made.IsZero() {
			c.Made = record.Response.Made.Format(time.DateTime)
		}
		p.Calls = append(p.Calls, c)
	}
	return response{template: "raw", page: p, data: map[string]any{"calls": p.Calls}}, nil
}

// callsOf lists the calls behind the answer that a query names.
func (s *Server) callsOf(ctx context.Context, q page.Query) ([]model.Hash, error) {
	studies, err := s.look(ctx, q)
	if err != nil {
		return nil, err
	}
	found, err := findPage(ctx, studies, 0, pageSize(q, studies))
	if err != nil {
		return nil, err
	}
	if q.Get("prompt") == "" || len(found) != 1 {
		return nil, fmt.Errorf("%w: the address names %d answers; it must name one", errNotFound, len(found))
	}
	seen := &noting{Reader: s.Store}
	_, err = studies[found[0].study].rows.Read(ctx, seen, []int{found[0].position})
	return seen.hashes, err
}

// shown is JSON without secrets that an address may hold.
func shown(text []byte) json.RawMessage { return json.RawMessage(untrusted.Addresses(string(text))) }

// readable undoes the escapes that JSON needs in HTML alone. Escaped backslashes come first,
// so that what follows one is no escape.
var readable = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// indented lays out JSON over several lines, for people.
func indented(text json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return string(text)
	}
	return readable.Replace(out.String())
}

// noting is a store that notes whose responses are read.
type noting struct {
	store.Reader
	mu     sync.Mutex
	hashes []model.Hash
}

// Get notes the hashes, and finds their responses.
func (n *noting) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	n.mu.Lock()
	for _, h := range hashes {
		if !slices.Contains(n.hashes, h) {
			n.hashes = append(n.hashes, h)
		}
	}
	n.mu.Unlock()
	return n.Reader.Get(ctx, hashes)
}
