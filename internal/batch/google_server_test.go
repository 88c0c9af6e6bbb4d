package batch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// google has the routes of Gemini's Batch API (https://ai.google.dev/api/batch-api).
func (s *server) google(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/models/{call}", s.createContent)
	mux.HandleFunc("GET /v1/batches", func(w http.ResponseWriter, _ *http.Request) {
		all := []any{}
		for _, j := range s.jobs {
			all = append(all, s.tell(j))
		}
		reply(w, map[string]any{"operations": all})
	})
	mux.HandleFunc("GET /v1/batches/{id}", func(w http.ResponseWriter, r *http.Request) {
		r.SetPathValue("id", "batches/"+r.PathValue("id"))
		if j := s.job(w, r); j != nil {
			told := s.tell(j)
			if s.cut > 0 && j.output != "" {
				s.cut--
				b, _ := json.Marshal(told)
				w.Header().Set("Content-Length", fmt.Sprint(len(b)))
				_, _ = w.Write(b[:len(b)/2])
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
			reply(w, told)
		}
	})
	mux.HandleFunc("POST /v1/batches/{call}", func(w http.ResponseWriter, r *http.Request) {
		id, _ := strings.CutSuffix(r.PathValue("call"), ":cancel")
		r.SetPathValue("id", "batches/"+id)
		if j := s.job(w, r); j != nil {
			j.status = "cancelling"
			reply(w, map[string]any{})
		}
	})
	mux.HandleFunc("POST /upload/v1/files", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Goog-Upload-Command") != "start" || r.Header.Get("X-Goog-Upload-Protocol") != "resumable" {
			http.Error(w, `{"error":{"message":"no upload"}}`, http.StatusBadRequest)
			return
		}
		w.Header().Set("X-Goog-Upload-URL", s.URL+"/session")
	})
	mux.HandleFunc("POST /session", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id := fmt.Sprintf("files/%d", len(s.files))
		s.files[id] = body
		reply(w, map[string]any{"file": map[string]any{"name": id}})
	})
	mux.HandleFunc("GET /download/v1/files/{call}", func(w http.ResponseWriter, r *http.Request) {
		id, _ := strings.CutSuffix(r.PathValue("call"), ":download")
		r.SetPathValue("id", "files/"+id)
		s.content(w, r)
	})
}

func (s *server) createContent(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Batch struct {
			Name  string `json:"display_name"`
			Input struct {
				File     string `json:"file_name"`
				Requests struct {
					Requests []struct {
						Request  json.RawMessage `json:"request"`
						Metadata struct {
							Key string `json:"key"`
						} `json:"metadata"`
					} `json:"requests"`
				} `json:"requests"`
			} `json:"input_config"`
		} `json:"batch"`
	}
	if s.refuse != nil {
		if status, text := s.refuse(); status != 0 {
			http.Error(w, text, status)
			return
		}
	}
	err := json.NewDecoder(r.Body).Decode(&asked)
	if _, ok := strings.CutSuffix(r.PathValue("call"), ":batchGenerateContent"); err != nil || !ok || asked.Batch.Name == "" {
		http.Error(w, `{"error":{"code":400,"message":"no batch","status":"INVALID_ARGUMENT"}}`, http.StatusBadRequest)
		return
	}
	var lines bytes.Buffer
	if file := asked.Batch.Input.File; file != "" {
		for line := range bytes.Lines(s.files[file]) {
			var l struct {
				Key     string          `json:"key"`
				Request json.RawMessage `json:"request"`
			}
			_ = json.Unmarshal(line, &l)
			fmt.Fprintf(&lines, `{"custom_id":%q,"body":%s}`+"\n", l.Key, l.Request)
		}
	}
	for _, one := range asked.Batch.Input.Requests.Requests {
		fmt.Fprintf(&lines, `{"custom_id":%q,"body":%s}`+"\n", one.Metadata.Key, one.Request)
	}
	j := s.add(lines.Bytes())
	delete(s.files, j.file)
	j.id = fmt.Sprintf("batches/%d", len(s.jobs))
	j.file = j.id
	s.files[j.file] = lines.Bytes()
	j.metadata = map[string]string{"name": asked.Batch.Name}
	j.inFile = asked.Batch.Input.File != ""
	if s.fail != "" {
		j.status = "failed"
	} else {
		for _, line := range s.lines(j) {
			s.made[line.ID]++
		}
	}
	s.lose()
	reply(w, s.tell(j))
}

// operation is a batch in Google's form.
func (s *server) operation(j *serverJob) map[string]any {
	word := map[string]string{"in_progress": "RUNNING", "completed": "SUCCEEDED", "failed": "FAILED", "expired": "EXPIRED", "cancelled": "CANCELLED", "cancelling": "RUNNING"}[j.status]
	o := map[string]any{
		"name": j.id, "done": j.status != "in_progress",
		"metadata": map[string]any{
			"@type": "type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch", "name": j.id, "displayName": j.metadata["name"], "state": "BATCH_STATE_" + word,
			"createTime": j.created.Format(time.RFC3339Nano),
			"batchStats": map[string]string{"requestCount": strconv.Itoa(len(s.lines(j))), "successfulRequestCount": strconv.Itoa(j.done), "failedRequestCount": strconv.Itoa(j.failed)},
		},
	}
	if j.status == "failed" {
		o["error"] = map[string]any{"code": 8, "message": s.fail}
	}
	switch {
	case j.output != "" && j.inFile:
		o["response"] = map[string]any{"responsesFile": j.output}
	case j.output != "":
		list := []json.RawMessage{}
		for line := range bytes.Lines(s.files[j.output]) {
			list = append(list, json.RawMessage(line))
		}
		o["response"] = map[string]any{"inlinedResponses": map[string]any{"inlinedResponses": list}}
	}
	return o
}

// generated writes what became of a call.
func (s *server) generated(output *strings.Builder, j *serverJob, l serverLine, answered, failed int) {
	where := fmt.Sprintf(`"metadata":{"key":%q}`, l.ID)
	if j.inFile {
		where = fmt.Sprintf(`"key":%q`, l.ID)
	}
	switch {
	case j.done < answered:
		j.done++
		fmt.Fprintf(output, `{%s,"response":{"candidates":[{"content":{"role":"model","parts":[{"text":"Sure: %d."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":50},"modelVersion":"m"}}`+"\n", where, j.done)
	default:
		if j.failed < failed {
			j.failed++
		}
		s.made[l.ID]--
		fmt.Fprintf(output, `{%s,"error":{"code":13,"message":"the server broke"}}`+"\n", where)
	}
}
