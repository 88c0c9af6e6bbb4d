package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench/model"
)

// Config says what a server of simulated models does. The zero value serves all
// models with seed 0 and without faults, on loopback only.
type Config struct {
	// Seed is the seed of the models, as in New.
	Seed int64
	// Faults says how often the server fails and how.
	Faults Faults
	// Instant makes every model the one named Instant. Requests are then not even
	// parsed, unless the faults hold a filter, which has to read the prompt.
	Instant bool
	// Remote allows Serve to listen on an address that is not loopback.
	Remote bool
}

// Stats counts what a server did since it began.
type Stats struct {
	// Requests counts the chat completions that were asked for.
	Requests int64 `json:"requests"`
	// Answered counts those that were sent whole, filtered ones included, to a
	// client that was there when sending began.
	Answered int64 `json:"answered"`
	// Faults counts the injected faults by the names of ParseFaults, those that
	// did not occur included. A slow answer counts here and in Answered.
	Faults map[string]int64 `json:"faults"`
	// Distinct counts the different requests that were answered, and Repeated the
	// answers beyond the first of each. Requests are equal when their bodies are.
	Distinct int64 `json:"distinct"`
	Repeated int64 `json:"repeated"`
}

// Handler serves simulated models over HTTP in the OpenAI chat dialect. It is
// safe for concurrent use. It remembers some 40 bytes of each different request.
type Handler struct {
	cfg     Config
	models  map[string]model.Model
	mux     *http.ServeMux
	ledger  ledger
	instant []byte

	requests, answered atomic.Int64
	faults             map[fault]*atomic.Int64
}

// NewHandler makes a handler with the routes
//
//	POST /v1/chat/completions   the model is a name in Names, with or without "sim/"
//	GET  /v1/models             what there is
//	GET  /stats                 Stats as JSON
//
// At a temperature above 0, and for models that judge or moderate, the server
// takes the number of earlier answers to the same request as its sample number,
// which the dialect does not carry.
func NewHandler(cfg Config) *Handler {
	h := &Handler{
		cfg: cfg, models: map[string]model.Model{}, mux: http.NewServeMux(),
		faults: map[fault]*atomic.Int64{},
	}
	for _, name := range Names() {
		m, err := New(name, cfg.Seed)
		if err != nil {
			panic("sim: a model of its own list cannot be made: " + err.Error())
		}
		h.models[name] = m
	}
	for _, r := range cfg.Faults.rates() {
		h.faults[r.kind] = &atomic.Int64{}
	}
	h.instant = replyOf(respond(Instant, model.Request{}, instantText), 0)
	h.mux.HandleFunc("POST /v1/chat/completions", h.chat)
	h.mux.HandleFunc("GET /v1/models", h.list)
	h.mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		output{status: http.StatusOK, body: encode(h.Stats())}.send(w)
	})
	return h
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Stats gives the counts so far.
func (h *Handler) Stats() Stats {
	s := Stats{Requests: h.requests.Load(), Answered: h.answered.Load(), Faults: map[string]int64{}}
	for kind, n := range h.faults {
		s.Faults[string(kind)] = n.Load()
	}
	s.Distinct, s.Repeated = h.ledger.totals()
	return s
}

// chat answers a chat completion, or fails as the faults want it.
func (h *Handler) chat(w http.ResponseWriter, r *http.Request) {
	h.requests.Add(1)
	body, err := readBody(w, r)
	if err != nil {
		badRequest("the body cannot be read: " + err.Error()).send(w)
		return
	}
	request := hashOf(body)
	before := h.ledger.attempt(request)

	kind := h.cfg.Faults.at(request, before.attempts)
	if kind != noFault {
		h.faults[kind].Add(1)
	}
	switch kind {
	case fault429:
		setRetryAfter(w.Header(), h.cfg.Faults.RetryAfter)
		rateLimited().send(w)
		return
	case fault500:
		serverFault().send(w)
		return
	case faultReset:
		resetConnection(w)
		return
	case faultSlow:
		if !wait(r.Context(), h.cfg.Faults.slowBy()) {
			// The client has gone, or the server is closing.
			panic(http.ErrAbortHandler)
		}
	}

	out := h.reply(r.Context(), body, request, before)
	if kind == faultTruncate {
		out.breakOff(w)
	}
	if out.answer && r.Context().Err() == nil {
		// Counted first, so that a client which has its answer finds it counted.
		h.answered.Add(1)
		h.ledger.answered(request)
	}
	out.send(w)
}

// output is a reply to be sent.
type output struct {
	status int
	body   []byte
	// answer is true for what the client asked for or what a filter made of it,
	// false for a fault of the request.
	answer bool
}

// reply asks the model, or the filter before it.
func (h *Handler) reply(ctx context.Context, body []byte, request uint64, before tally) output {
	if h.cfg.Instant && h.cfg.Faults.RateFilter == 0 {
		return output{http.StatusOK, h.instant, true}
	}
	var chat chatRequest
	if err := json.Unmarshal(body, &chat); err != nil {
		return badRequest("the body is not a chat completion request: " + err.Error())
	}
	if chat.Stream {
		return badRequest("streaming is not simulated; leave stream out")
	}
	if len(chat.Messages) == 0 {
		return badRequest("messages is empty; send at least one")
	}
	name := strings.TrimPrefix(chat.Model, Provider+"/")
	if h.cfg.Instant {
		name = Instant
	}
	m, ok := h.models[name]
	if !ok {
		return unknownModel(name)
	}
	if way, stopped := h.cfg.Faults.filters(lastUser(chat.Messages)); stopped {
		h.faults[faultFilter].Add(1)
		return filtered(way, name, request)
	}
	if name == Instant {
		return output{http.StatusOK, h.instant, true}
	}
	resp, err := m.Ask(ctx, chat.request(int(before.answers)))
	if err != nil {
		// Only a client that has gone ends a simulated model's context.
		return serverFault()
	}
	return output{http.StatusOK, replyOf(resp, request), true}
}

// list gives the models in the dialect's form.
func (h *Handler) list(w http.ResponseWriter, _ *http.Request) {
	type entry struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		OwnedBy string `json:"owned_by"`
	}
	var data []entry
	for _, name := range Names() {
		data = append(data, entry{name, "model", "orbench sim (simulated)"})
	}
	output{status: http.StatusOK, body: encode(map[string]any{"object": "list", "data": data})}.send(w)
}

// maxBody bounds a request's body: a prompt of ten million bytes passes, with
// every byte escaped.
const maxBody = 64 << 20

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var buf bytes.Buffer
	if r.ContentLength > 0 && r.ContentLength <= maxBody {
		buf.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, maxBody))
	return buf.Bytes(), err
}

// send writes the reply whole.
func (o output) send(w http.ResponseWriter) {
	o.header(w)
	// A client that has gone cannot be told so.
	_, _ = w.Write(o.body)
}

// breakOff promises the whole reply, writes half and closes the connection. It
// does not return.
func (o output) breakOff(w http.ResponseWriter) {
	o.header(w)
	_, _ = w.Write(o.body[:len(o.body)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func (o output) header(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(o.body)))
	w.WriteHeader(o.status)
}

// resetConnection ends the connection with a TCP reset where it can, else by
// closing it.
func resetConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// With no time to linger, closing drops what is unsent and sends RST.
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// wait waits, and reports false when the context ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// setRetryAfter asks for a pause in the two headers that clients know.
func setRetryAfter(h http.Header, d time.Duration) {
	h.Set("Retry-After", strconv.Itoa(int((d+time.Second-1)/time.Second)))
	h.Set("Retry-After-Ms", strconv.FormatInt(d.Milliseconds(), 10))
}
