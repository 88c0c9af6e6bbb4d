package batch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dialect/wire"
)

// What is too large for a creation goes as a file, and comes back as one.
func TestGoogleFile(t *testing.T) {
	t.Parallel()
	const lines = `{"key":"a","request":{}}` + "\n"
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		switch r.Method + " " + r.URL.String() {
		case "POST /upload/v1beta/files":
			if h.Get("X-Goog-Upload-Protocol") != "resumable" || h.Get("X-Goog-Upload-Command") != "start" || h.Get("X-Goog-Upload-Header-Content-Length") != fmt.Sprint(len(lines)) {
				t.Errorf("an upload starts with %v", h)
			}
			w.Header().Set("X-Goog-Upload-URL", server.URL+"/session")
		case "POST /session":
			if string(body) != lines || h.Get("X-Goog-Upload-Command") != "upload, finalize" {
				t.Errorf("uploaded %q with %v", body, h)
			}
			fmt.Fprint(w, `{"file":{"name":"files/abc"}}`)
		case "POST /v1beta/models/m:batchGenerateContent":
			if !strings.Contains(string(body), `"file_name":"files/abc"`) {
				t.Errorf("a batch starts with %s", body)
			}
			fmt.Fprint(w, `{"name":"batches/1","metadata":{"state":"BATCH_STATE_PENDING","createTime":"2026-01-02T03:04:05Z"}}`)
		case "GET /v1beta/batches/1":
			fmt.Fprint(w, `{"name":"batches/1","done":true,"metadata":{"state":"BATCH_STATE_SUCCEEDED"},"response":{"responsesFile":"files/out"}}`)
		case "GET /download/v1beta/files/out:download?alt=media":
			fmt.Fprint(w, `{"key":"a","response":{"candidates":[]}}`+"\n"+`{"key":"b","error":{"code":3,"message":"no"}}`+"\nnone\n")
		default:
			t.Errorf("asked %s %s", r.Method, r.URL)
			w.WriteHeader(http.StatusNotFound)
		}
		if h.Get("X-Goog-Api-Key") != "k" {
			t.Errorf("%s is asked without a key", r.URL)
		}
	}))
	defer server.Close()
	s := NewGoogle(wire.ClientConfig{Provider: "google", BaseURL: server.URL, Key: "k"}).(content)
	s.inline = 1
	j := Job{ID: "id", Model: "m", Calls: 1}
	var err error
	if j.File, err = s.Upload(t.Context(), j, strings.NewReader(lines), int64(len(lines))); err != nil || j.File != "files/abc" {
		t.Fatalf("uploaded as %q, %v", j.File, err)
	}
	r, err := s.Create(t.Context(), j, nil, 0)
	if err != nil || r.ID != "batches/1" || r.Ended {
		t.Fatalf("started %+v, %v", r, err)
	}
	if r, err = s.Get(t.Context(), r.ID); err != nil || !r.Ended {
		t.Fatalf("found %+v, %v", r, err)
	}
	var told []string
	for result, err := range s.Results(t.Context(), r) {
		told = append(told, fmt.Sprint(result.ID, result.Status, err != nil, json.Valid(result.Body)))
	}
	if got := strings.Join(told, "; "); got != "a200 false true; b400 false true; 0 true false" {
		t.Errorf("results are %s", got)
	}
}
