package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/orbench/orbench"
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

// Server is a Handler that listens. Close it when done.
type Server struct {
	*Handler
	addr   string
	server *http.Server
}

// Serve listens on addr, "HOST:PORT", and answers in the background until ctx is
// done or Close is called. Without a host it listens on 127.0.0.1, and with port
// 0 on any free one.
//
// It is an *orbench.InputError when addr cannot be used or is no loopback address:
// simulated models ask for no key.
func Serve(ctx context.Context, addr string, seed int64, faults Faults) (*Server, error) {
	addr, err := loopback(addr)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, &orbench.InputError{
			Problem: fmt.Sprintf("the simulated server cannot listen on %s: %v", addr, err),
			Hint:    "choose another port, or port 0 for any free one", Err: err,
		}
	}
	h := NewHandler(seed, faults)
	s := &Server{h, listener.Addr().String(), &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}}
	go s.server.Serve(listener) //nolint:errcheck // it ends by Close alone
	context.AfterFunc(ctx, func() { _ = s.Close() })
	return s, nil
}

// BaseURL is what a client of the OpenAI dialect takes as its base URL.
func (s *Server) BaseURL() string { return "http://" + s.addr + "/v1" }

// Close stops the server, and cuts off the requests that are being answered.
func (s *Server) Close() error { return s.server.Close() }

// loopback checks an address to listen on, and gives it a host if it has none.
func loopback(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err == nil && host == "" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); err != nil || host != "localhost" && !ip.IsLoopback() {
		return "", &orbench.InputError{
			Problem: fmt.Sprintf("the address %q is no HOST:PORT on loopback", addr),
			Hint:    "write for example 127.0.0.1:8080; the server asks for no key", Err: err,
		}
	}
	return net.JoinHostPort(host, port), nil
}

// chatRequest is the part of a chat completion request in the OpenAI dialect
// that simulated models read
// (https://platform.openai.com/docs/api-reference/chat/create). Message contents
// are strings; lists of parts are not simulated.
type chatRequest struct {
	Model               string            `json:"model"`
	Messages            []orbench.Message `json:"messages"`
	Temperature         *float64          `json:"temperature"`
	MaxTokens           int               `json:"max_tokens"`
	MaxCompletionTokens int               `json:"max_completion_tokens"`
	Seed                *int64            `json:"seed"`
	Stream              bool              `json:"stream"`
	ResponseFormat      struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// completion is a chat completion of a model to a request. content is nil if a filter
// withholds it.
func completion(request uint64, r model.Response, content any) map[string]any {
	message := map[string]any{"role": "assistant", "content": content, "refusal": nil}
	return map[string]any{
		"id": "sim-" + strconv.FormatUint(request, 16), "object": "chat.completion", "model": r.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": r.Finish}},
		"usage":   map[string]int{"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output},
	}
}

// badRequest is the kind of the faults that the client made.
const badRequest = "invalid_request_error"

// failure is how the dialect reports a fault. It may have a code.
func failure(kind, code, message string) map[string]any {
	fault := map[string]string{"message": message, "type": kind}
	if code != "" {
		fault["code"] = code
	}
	return map[string]any{"error": fault}
}

// encode writes JSON of a type that has no way to fail.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("sim: %T is not JSON: %v", v, err))
	}
	return b
}
