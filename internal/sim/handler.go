package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ServerConfig says what a server of simulated models does. The zero value serves all
// models with seed 0 and without faults, on loopback only.
type ServerConfig struct {
	// Seed is the seed of the models, as in New.
	Seed int64
	// Faults says how often the server fails and how.
	Faults Faults
}

// Stats counts what a server did since it began.
type Stats struct {
	// Requests counts the chat completions that were asked for.
	Requests int64 `json:"requests"`
	// Answered counts those that were sent whole, filtered ones included, to a
	// client that was there when sending began.
	Answered int64 `json:"answered"`
	// Distinct counts the different requests that were answered. Requests are equal when
	// their bodies are.
	Distinct int64 `json:"distinct"`
}

// Handler serves simulated models over HTTP in the OpenAI chat dialect. It is
// safe for concurrent use. It remembers some 40 bytes of each different request.
type Handler struct {
	*http.ServeMux
	cfg ServerConfig

	mu    sync.Mutex
	stats Stats
	// seen has the outcome of each request, by the hash of its body.
	seen map[uint64]tally
}

// tally counts the attempts at a request, and the answers that were sent.
type tally struct{ attempts, answers uint32 }

// NewHandler makes a handler with the routes
//
//	POST /v1/chat/completions   the model is a name in Names, with or without "sim/"
//	GET  /v1/models             what there is
//	GET  /stats                 Stats as JSON
//
// At a temperature above 0, and for models that judge or moderate, the server
// takes the number of earlier answers to the same request as its sample number,
// which the dialect does not carry.
func NewHandler(cfg ServerConfig) *Handler {
	h := &Handler{ServeMux: http.NewServeMux(), cfg: cfg, seen: map[uint64]tally{}}
	h.HandleFunc("POST /v1/chat/completions", h.chat)
	h.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		var data []map[string]string
		for _, name := range Names() {
			data = append(data, map[string]string{"id": name, "object": "model", "owned_by": "orbench sim (simulated)"})
		}
		output{status: http.StatusOK, body: encode(map[string]any{"object": "list", "data": data})}.send(w, false)
	})
	h.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		output{status: http.StatusOK, body: encode(h.Stats())}.send(w, false)
	})
	return h
}

// Stats gives the counts so far.
func (h *Handler) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stats
}

// begin counts an attempt at a request, and gives the outcome of earlier attempts.
func (h *Handler) begin(request uint64) tally {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.seen[request]
	h.seen[request] = tally{before.attempts + 1, before.answers}
	h.stats.Requests++
	return before
}

// answered counts an answer to a request.
func (h *Handler) answered(request uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.seen[request]
	if t.answers == 0 {
		h.stats.Distinct++
	}
	h.seen[request] = tally{t.attempts, t.answers + 1}
	h.stats.Answered++
}

// maxBody bounds a request's body: a prompt of ten million bytes passes, with
// every byte escaped.
const maxBody = 64 << 20

// chat answers a chat completion, or fails as the faults say.
func (h *Handler) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		badRequest("the body cannot be read: "+err.Error()).send(w, false)
		return
	}
	request := hashOf(string(body))
	before := h.begin(request)
	fault := h.cfg.Faults.at(request, before.attempts)
	switch fault {
	case "429":
		w.Header().Set("Retry-After-Ms", "1")
		failure(http.StatusTooManyRequests, "rate_limit_error", "rate_limit_exceeded", "A simulated rate limit was reached.").send(w, false)
		return
	case "500":
		failure(http.StatusInternalServerError, "server_error", "", "A simulated server fault occurred.").send(w, false)
		return
	case "reset":
		panic(http.ErrAbortHandler)
	case "slow":
		select {
		case <-time.After(time.Duration(cmp.Or(h.cfg.Faults[slowBy], 2) * float64(time.Second))):
		case <-r.Context().Done():
			// The client has gone, or the server is closing.
			panic(http.ErrAbortHandler)
		}
	}

	out := h.reply(r.Context(), body, request, before)
	cut := fault == "truncate"
	if out.status == http.StatusOK && !cut && r.Context().Err() == nil {
		// Counted first, so that a client with its answer finds it in the counts.
		h.answered(request)
	}
	out.send(w, cut)
}

// reply asks the model, or the filter before it.
func (h *Handler) reply(ctx context.Context, body []byte, request uint64, before tally) output {
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
	m, err := New(name, h.cfg.Seed)
	if err != nil {
		return failure(http.StatusNotFound, "invalid_request_error", "model_not_found", err.Error())
	}
	if h.cfg.Faults.filters(lastUser(chat.Messages)) {
		return filtered(name, request)
	}
	resp, err := m.Ask(ctx, chat.request(int(before.answers)))
	if err != nil {
		// Only a client that has gone ends a simulated model's context.
		panic(http.ErrAbortHandler)
	}
	return output{http.StatusOK, answerOf(resp, request)}
}

// output is a reply to be sent.
type output struct {
	status int
	body   []byte
}

// send writes the reply. If the reply is to be cut, it announces the whole length, writes
// half and closes the connection; then it does not return.
func (o output) send(w http.ResponseWriter, cut bool) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(o.body)))
	w.WriteHeader(o.status)
	if cut {
		_, _ = w.Write(o.body[:len(o.body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	// A client that has gone cannot get an error.
	_, _ = w.Write(o.body)
}
