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

	"github.com/orbench/orbench/model"
)

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
// safe for concurrent use. It remembers some 50 bytes of each different request.
type Handler struct {
	*http.ServeMux
	seed   int64
	faults Faults

	mu    sync.Mutex
	stats Stats
	// attempts and answers count those of each request, by the hash of its body.
	attempts, answers map[uint64]int
}

// NewHandler makes a handler of the models of a seed, as in New, with the routes
//
//	POST /v1/chat/completions   the model is a name in Names, with or without "sim/"
//	GET  /v1/models             what there is
//	GET  /stats                 Stats as JSON
//
// At a temperature above 0, and for models that judge or moderate, the server
// takes the number of earlier answers to the same request as its sample number,
// which the dialect does not carry.
func NewHandler(seed int64, faults Faults) *Handler {
	h := &Handler{ServeMux: http.NewServeMux(), seed: seed, faults: faults, attempts: map[uint64]int{}, answers: map[uint64]int{}}
	h.HandleFunc("POST /v1/chat/completions", h.chat)
	h.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		var data []map[string]string
		for _, name := range Names() {
			data = append(data, map[string]string{"id": name, "object": "model", "owned_by": "orbench sim (simulated)"})
		}
		send(w, http.StatusOK, map[string]any{"object": "list", "data": data}, false)
	})
	h.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusOK, h.Stats(), false) })
	return h
}

// Stats gives the counts so far.
func (h *Handler) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stats.Distinct = int64(len(h.answers))
	return h.stats
}

// maxBody bounds a request's body: a prompt of ten million bytes passes, with
// every byte escaped.
const maxBody = 64 << 20

// chat answers a chat completion, or fails as the faults say.
func (h *Handler) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		send(w, http.StatusBadRequest, failure(badRequest, "", "the body cannot be read: "+err.Error()), false)
		return
	}
	request := hashOf(string(body))
	h.mu.Lock()
	attempts, answers := h.attempts[request], h.answers[request]
	h.attempts[request]++
	h.stats.Requests++
	h.mu.Unlock()
	fault := h.faults.at(request, attempts)
	switch fault {
	case "429":
		w.Header().Set("Retry-After-Ms", "1")
		send(w, http.StatusTooManyRequests, failure("rate_limit_error", "rate_limit_exceeded", "A simulated rate limit was reached."), false)
		return
	case "500":
		send(w, http.StatusInternalServerError, failure("server_error", "", "A simulated server fault occurred."), false)
		return
	case "reset":
		panic(http.ErrAbortHandler)
	case "slow":
		select {
		case <-time.After(time.Duration(cmp.Or(h.faults[slowBy], 2) * float64(time.Second))):
		case <-r.Context().Done():
			// The client has gone, or the server is closing.
			panic(http.ErrAbortHandler)
		}
	}

	status, reply := h.reply(r.Context(), body, request, answers)
	cut := fault == "truncate"
	if status == http.StatusOK && !cut && r.Context().Err() == nil {
		// Counted first, so that a client with its answer finds it in the counts.
		h.mu.Lock()
		h.answers[request]++
		h.stats.Answered++
		h.mu.Unlock()
	}
	send(w, status, reply, cut)
}

// reply asks the model, or the filter before it. sample numbers repeated calls, for
// which the dialect has no field.
func (h *Handler) reply(ctx context.Context, body []byte, request uint64, sample int) (status int, reply any) {
	var chat chatRequest
	switch err := json.Unmarshal(body, &chat); {
	case err != nil:
		return http.StatusBadRequest, failure(badRequest, "", "the body is not a chat completion request: "+err.Error())
	case chat.Stream:
		return http.StatusBadRequest, failure(badRequest, "", "streaming is not simulated; leave stream out")
	case len(chat.Messages) == 0:
		return http.StatusBadRequest, failure(badRequest, "", "messages is empty; send at least one")
	}
	name := strings.TrimPrefix(chat.Model, Provider+"/")
	m, err := New(name, h.seed)
	if err != nil {
		return http.StatusNotFound, failure(badRequest, "model_not_found", err.Error())
	}
	if h.faults.filters(lastUser(chat.Messages)) {
		return http.StatusOK, completion(request, model.Response{Model: modelName(name), Finish: "content_filter"}, nil)
	}
	resp, err := m.Ask(ctx, model.Request{
		Provider: Provider, Model: chat.Model, Messages: chat.Messages, Sample: sample,
		Params: model.Params{
			Temperature: chat.Temperature, MaxTokens: max(chat.MaxTokens, chat.MaxCompletionTokens), Seed: chat.Seed,
			Schema: chat.ResponseFormat.JSONSchema.Schema,
		},
	})
	if err != nil {
		// Only a client that has gone ends a simulated model's context.
		panic(http.ErrAbortHandler)
	}
	return http.StatusOK, completion(request, resp, resp.Text)
}

// send writes a reply. If it is to be cut, it announces the whole length, writes half and
// closes the connection; then it does not return.
func send(w http.ResponseWriter, status int, reply any, cut bool) {
	body := encode(reply)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if cut {
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	// A client that has gone cannot get an error.
	_, _ = w.Write(body)
}
