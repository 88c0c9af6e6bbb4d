package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// runbatch works through a file of calls as "vllm run-batch" does, with the models of the
// server in $SIM: the first N calls, or all, and the last of these without success where
// the third word is failing: runbatch FILE OUT [N [failing]]
func runbatch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 4 {
		ts.Fatalf("usage: runbatch FILE OUT [N [failing]]")
	}
	lines := bytes.Split(bytes.TrimSpace([]byte(ts.ReadFile(args[0]))), []byte("\n"))
	if len(args) > 2 {
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		lines = lines[:n]
	}
	var out bytes.Buffer
	for i, line := range lines {
		var call struct {
			ID     string          `json:"custom_id"`
			Method string          `json:"method"`
			URL    string          `json:"url"`
			Body   json.RawMessage `json:"body"`
		}
		ts.Check(json.Unmarshal(line, &call))
		if call.Method != "POST" || call.URL != "/v1/chat/completions" {
			ts.Fatalf("no call of a chat: %s", line)
		}
		resp, err := http.Post(ts.Getenv("SIM")+"/chat/completions", "application/json", bytes.NewReader(call.Body))
		ts.Check(err)
		body, err := io.ReadAll(resp.Body)
		ts.Check(err)
		resp.Body.Close()
		switch {
		case len(args) == 4 && i == len(lines)-1:
			fmt.Fprintf(&out, `{"id":"vllm-%d","custom_id":%q,"response":{"status_code":400,"request_id":"vllm-batch-%d","body":null},"error":{"error":{"message":"too long","type":"BadRequestError","code":400}}}`, i, call.ID, i)
		case i%2 == 0: // the form in vLLM's documentation
			fmt.Fprintf(&out, `{"id":"vllm-%d","custom_id":%q,"response":%s,"error":null}`, i, call.ID, bytes.TrimSpace(body))
		default: // the form that its code writes
			fmt.Fprintf(&out, `{"id":"vllm-%d","custom_id":%q,"response":{"status_code":200,"request_id":"vllm-batch-%d","body":%s},"error":null}`, i, call.ID, i, bytes.TrimSpace(body))
		}
		out.WriteByte('\n')
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}

// batchserver starts a batchService for calls that the models of the server in $SIM answer,
// and puts its address into $BATCHES: batchserver N [gone]
// With gone it knows the output of its first batch no more.
func batchserver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: batchserver N [gone]")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	server := batchService(ts.Getenv("SIM"), most, len(args) > 1)
	ts.Defer(server.Close)
	ts.Setenv("BATCHES", server.URL+"/v1")
}

// batchService starts a batch service as OpenAI documents it, for calls that the models of a
// server answer. A batch has ended when it was asked about so many times.
func batchService(sim string, most int, gone bool) *httptest.Server {
	var mu sync.Mutex
	files, looks := map[string][]byte{}, map[string]int{}
	batch := func(w http.ResponseWriter, file string) {
		about := map[string]any{"id": "batch_" + file, "object": "batch", "input_file_id": file, "status": "in_progress", "created_at": time.Now().Unix()}
		if looks[file] >= most {
			about["status"], about["output_file_id"] = "completed", file+"-output"
		}
		_ = json.NewEncoder(w).Encode(about)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/files", func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		id := fmt.Sprintf("file-%d", len(files))
		files[id], _ = io.ReadAll(file)
		fmt.Fprintf(w, `{"id":%q}`, id)
	})
	mux.HandleFunc("POST /v1/batches", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			File string `json:"input_file_id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		batch(w, asked.File)
	})
	mux.HandleFunc("GET /v1/batches/{id}", func(w http.ResponseWriter, r *http.Request) {
		file := strings.TrimPrefix(r.PathValue("id"), "batch_")
		looks[file]++
		batch(w, file)
	})
	mux.HandleFunc("GET /v1/files/{id}/content", func(w http.ResponseWriter, r *http.Request) {
		if gone && r.PathValue("id") == "file-0-output" {
			http.Error(w, `{"error":{"message":"No such File object: file-0-output"}}`, http.StatusNotFound)
			return
		}
		for line := range bytes.Lines(files[strings.TrimSuffix(r.PathValue("id"), "-output")]) {
			var call struct {
				ID   string          `json:"custom_id"`
				Body json.RawMessage `json:"body"`
			}
			if err := json.Unmarshal(line, &call); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			resp, err := http.Post(sim+"/chat/completions", "application/json", bytes.NewReader(call.Body))
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			fmt.Fprintf(w, `{"custom_id":%q,"response":{"status_code":%d,"body":%s},"error":null}`+"\n", call.ID, resp.StatusCode, bytes.TrimSpace(body))
		}
	})
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
}
