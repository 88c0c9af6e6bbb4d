package batch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is a provider with a batch service, as OpenAI, Together and Mistral document
// theirs.
type server struct {
	*httptest.Server
	kind, key string

	mu    sync.Mutex
	files map[string][]byte
	jobs  []*serverJob
	// made counts the calls of all batches that were started, by custom ID: each is paid
	// for.
	made map[string]int
	// others are batches that somebody else starts with the same account.
	others int
	// refuse has a creation be answered with a status and a body; fail has the batch fail
	// as a whole, with the code.
	refuse func() (int, string)
	fail   string
	// drop has the next replies to creations be lost, after they were carried out.
	drop int
	// asked is called before each question about batches, nil for nobody.
	asked func()
	// cut has the next downloads break off after half.
	cut int
	// outputsGone has the provider know the outputs of batches no more.
	outputsGone bool
}

type serverJob struct {
	id, file, status, output, errors string
	metadata                         map[string]string
	created                          time.Time
	done, failed                     int
	// inFile has Google give the results as a file.
	inFile bool
}

func newServer(t *testing.T, kind string) *server {
	t.Helper()
	s := &server{kind: kind, key: "secret-key-one", files: map[string][]byte{}, made: map[string]int{}}
	mux := http.NewServeMux()
	if kind == "google" {
		s.google(mux)
		return s.serve(t, mux, "X-Goog-Api-Key", s.key)
	}
	if kind == "anthropic" {
		s.anthropic(mux)
		return s.serve(t, mux, "X-Api-Key", s.key)
	}
	jobs := map[string]string{"openai": "/v1/batches", "together": "/v1/batches", "mistral": "/v1/batch/jobs"}[kind]
	upload := map[string]string{"openai": "/v1/files", "together": "/v1/files/upload", "mistral": "/v1/files"}[kind]
	mux.HandleFunc("POST "+upload, s.upload)
	mux.HandleFunc("GET /v1/files/{id}/content", s.content)
	mux.HandleFunc("POST "+jobs, s.create)
	mux.HandleFunc("GET "+jobs, s.list)
	mux.HandleFunc("GET "+jobs+"/{id}", s.get)
	mux.HandleFunc("POST "+jobs+"/{id}/cancel", s.cancel)
	return s.serve(t, mux, "Authorization", "Bearer "+s.key)
}

// serve starts a server that wants a header.
func (s *server) serve(t *testing.T, mux *http.ServeMux, header, value string) *server {
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.asked != nil && r.Method == http.MethodGet {
			s.asked()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Header.Get(header) != value {
			http.Error(w, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *server) upload(w http.ResponseWriter, r *http.Request) {
	file, _, err := r.FormFile("file")
	want := map[string]string{"openai": "batch", "together": "batch-api", "mistral": "batch"}[s.kind]
	if err != nil || r.FormValue("purpose") != want || s.kind == "together" && r.FormValue("file_name") == "" {
		http.Error(w, fmt.Sprintf(`{"error":{"message":"no such upload: %v"}}`, err), http.StatusBadRequest)
		return
	}
	body, _ := io.ReadAll(file)
	id := fmt.Sprintf("file-%d", len(s.files))
	s.files[id] = body
	reply(w, map[string]any{"id": id, "object": "file", "bytes": len(body)})
}

func (s *server) create(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Input    string            `json:"input_file_id"`
		Inputs   []string          `json:"input_files"`
		Endpoint string            `json:"endpoint"`
		Window   string            `json:"completion_window"`
		Model    string            `json:"model"`
		Metadata map[string]string `json:"metadata"`
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &asked)
	if s.refuse != nil {
		if status, text := s.refuse(); status != 0 {
			http.Error(w, text, status)
			return
		}
	}
	if s.kind == "mistral" {
		if len(asked.Inputs) == 1 && asked.Model != "" {
			asked.Input = asked.Inputs[0]
		}
	} else if asked.Window != "24h" {
		asked.Input = ""
	}
	if s.files[asked.Input] == nil || asked.Endpoint != "/v1/chat/completions" {
		http.Error(w, `{"error":{"message":"no such file or endpoint"}}`, http.StatusBadRequest)
		return
	}
	j := &serverJob{id: fmt.Sprintf("batch_%d", len(s.jobs)), file: asked.Input, status: "in_progress", metadata: asked.Metadata, created: time.Now()}
	s.jobs = append(s.jobs, j)
	if s.fail != "" {
		j.status = "failed"
	} else {
		for _, line := range s.lines(j) {
			s.made[line.ID]++
		}
	}
	s.lose()
	if s.kind == "together" {
		reply(w, map[string]any{"job": s.tell(j), "warning": ""})
		return
	}
	reply(w, s.tell(j))
}

// lose loses a reply.
func (s *server) lose() {
	if s.drop > 0 {
		s.drop--
		panic(http.ErrAbortHandler)
	}
}

type serverLine struct {
	ID   string `json:"custom_id"`
	Body struct {
		Model    string `json:"model"`
		Messages []struct {
			Content any `json:"content"`
		} `json:"messages"`
		Contents []any `json:"contents"`
	} `json:"body"`
}

func (s *server) lines(j *serverJob) (all []serverLine) {
	for line := range bytes.Lines(s.files[j.file]) {
		var l serverLine
		if err := json.Unmarshal(line, &l); err != nil || len(l.ID) < 64 || len(l.Body.Messages)+len(l.Body.Contents) == 0 {
			panic("no line of a batch: " + string(line))
		}
		all = append(all, l)
	}
	return all
}

// tell is a batch in the provider's form.
func (s *server) tell(j *serverJob) map[string]any {
	switch s.kind {
	case "anthropic":
		return s.messageBatch(j)
	case "google":
		return s.operation(j)
	case "together":
		word := map[string]string{"in_progress": "IN_PROGRESS", "completed": "COMPLETED", "failed": "FAILED", "expired": "EXPIRED", "cancelled": "CANCELLED", "cancelling": "IN_PROGRESS"}[j.status]
		return map[string]any{
			"id": j.id, "input_file_id": j.file, "status": word, "created_at": j.created.Format(time.RFC3339), "job_deadline": j.created.Add(24 * time.Hour).Format(time.RFC3339),
			"output_file_id": j.output, "error_file_id": j.errors, "error": s.fail,
		}
	case "mistral":
		word := map[string]string{"in_progress": "RUNNING", "completed": "SUCCESS", "failed": "FAILED", "expired": "TIMEOUT_EXCEEDED", "cancelled": "CANCELLED", "cancelling": "CANCELLATION_REQUESTED"}[j.status]
		m := map[string]any{
			"id": j.id, "object": "batch", "input_files": []string{j.file}, "status": word, "created_at": j.created.Unix(), "metadata": j.metadata,
			"total_requests": len(s.lines(j)), "completed_requests": j.done + j.failed, "succeeded_requests": j.done, "failed_requests": j.failed, "errors": []any{},
			"output_file": nil, "error_file": nil,
		}
		if j.output != "" {
			m["output_file"] = j.output
		}
		if j.errors != "" {
			m["error_file"] = j.errors
		}
		if s.fail != "" {
			m["errors"] = []any{map[string]any{"message": s.fail, "count": 1}}
		}
		return m
	}
	m := map[string]any{
		"id": j.id, "object": "batch", "endpoint": "/v1/chat/completions", "input_file_id": j.file, "completion_window": "24h", "status": j.status,
		"created_at": j.created.Unix(), "expires_at": j.created.Add(24 * time.Hour).Unix(), "metadata": j.metadata, "errors": nil,
		"request_counts": map[string]int{"total": len(s.lines(j)), "completed": j.done, "failed": j.failed},
	}
	if j.output != "" {
		m["output_file_id"] = j.output
	}
	if j.errors != "" {
		m["error_file_id"] = j.errors
	}
	if j.status == "failed" {
		m["errors"] = map[string]any{"object": "list", "data": []any{map[string]any{"code": s.fail, "message": "Enqueued token limit reached", "line": nil}}}
	}
	return m
}

func (s *server) list(w http.ResponseWriter, _ *http.Request) {
	all := []any{}
	for i := len(s.jobs) - 1; i >= 0; i-- {
		all = append(all, s.tell(s.jobs[i]))
	}
	if s.kind == "together" {
		reply(w, all)
		return
	}
	reply(w, map[string]any{"object": "list", "data": all, "has_more": false, "total": len(all)})
}

func (s *server) job(w http.ResponseWriter, r *http.Request) *serverJob {
	for _, j := range s.jobs {
		if j.id == r.PathValue("id") {
			return j
		}
	}
	http.Error(w, `{"error":{"message":"no such batch"}}`, http.StatusNotFound)
	return nil
}

func (s *server) get(w http.ResponseWriter, r *http.Request) {
	if j := s.job(w, r); j != nil {
		reply(w, s.tell(j))
	}
}

func (s *server) cancel(w http.ResponseWriter, r *http.Request) {
	if j := s.job(w, r); j != nil {
		j.status = "cancelling"
		reply(w, s.tell(j))
	}
}

func (s *server) content(w http.ResponseWriter, r *http.Request) {
	if s.outputsGone {
		http.Error(w, `{"error":{"message":"No such File object"}}`, http.StatusNotFound)
		return
	}
	body := s.files[r.PathValue("id")]
	if s.cut > 0 {
		s.cut--
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

// end ends the batches that are under way: answered of their calls have an answer, failed
// an error, and the others were not made.
func (s *server) end(status string, answered, failed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.status != "in_progress" && j.status != "cancelling" {
			continue
		}
		var output, errors strings.Builder
		j.done, j.failed = 0, 0
		for _, l := range s.lines(j) {
			switch {
			case s.kind == "anthropic":
				s.message(&output, j, l, status, answered, failed)
			case s.kind == "google":
				s.generated(&output, j, l, answered, failed)
			case j.done < answered:
				j.done++
				fmt.Fprintf(&output, `{"id":"batch_req_%d","custom_id":"%s","response":{"status_code":200,"request_id":"r","body":{"id":"c","object":"chat.completion","model":"%s","choices":[{"index":0,"message":{"role":"assistant","content":"Sure: %d."},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150}}},"error":null}`+"\n", j.done, l.ID, l.Body.Model, j.done)
			case j.failed < failed:
				j.failed++
				fmt.Fprintf(&errors, `{"id":"batch_req_e","custom_id":"%s","response":{"status_code":500,"request_id":"r","body":{"error":{"message":"the server broke"}}},"error":null}`+"\n", l.ID)
			default:
				s.made[l.ID]-- // not billed
				fmt.Fprintf(&errors, `{"id":"batch_req_x","custom_id":"%s","response":null,"error":{"code":"batch_%s","message":"This request could not be executed before the completion window expired."}}`+"\n", l.ID, status)
			}
		}
		j.status = status
		if output.Len() > 0 {
			j.output = j.id + "-output"
			s.files[j.output] = []byte(output.String())
		}
		if errors.Len() > 0 {
			j.errors = j.id + "-errors"
			s.files[j.errors] = []byte(errors.String())
		}
	}
}

// progress says how far the batches under way are.
func (s *server) progress(answered, failed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		j.done, j.failed = answered, failed
	}
}
