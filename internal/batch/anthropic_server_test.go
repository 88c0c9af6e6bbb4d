package batch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// anthropic has the routes of Anthropic's Message Batches
// (https://platform.claude.com/docs/en/api/messages/batches/create).
func (s *server) anthropic(mux *http.ServeMux) {
	const batches = "/v1/messages/batches"
	mux.HandleFunc("POST "+batches, s.createMessages)
	mux.HandleFunc("GET "+batches, func(w http.ResponseWriter, _ *http.Request) {
		all := []any{}
		for i := len(s.jobs) - 1; i >= 0; i-- {
			all = append(all, s.tell(s.jobs[i]))
		}
		reply(w, map[string]any{"data": all, "has_more": false, "first_id": nil, "last_id": nil})
	})
	mux.HandleFunc("GET "+batches+"/{id}", s.get)
	mux.HandleFunc("POST "+batches+"/{id}/cancel", s.cancel)
	mux.HandleFunc("GET "+batches+"/{id}/results", func(w http.ResponseWriter, r *http.Request) {
		if j := s.job(w, r); j != nil {
			r.SetPathValue("id", j.output)
			s.content(w, r)
		}
	})
}

func (s *server) createMessages(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Requests []struct {
			ID     string          `json:"custom_id"`
			Params json.RawMessage `json:"params"`
		} `json:"requests"`
	}
	if s.refuse != nil {
		if status, text := s.refuse(); status != 0 {
			http.Error(w, text, status)
			return
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Requests) == 0 || r.Header.Get("Anthropic-Version") == "" {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"no requests"}}`, http.StatusBadRequest)
		return
	}
	var lines bytes.Buffer
	for _, one := range asked.Requests {
		fmt.Fprintf(&lines, `{"custom_id":%q,"body":%s}`+"\n", one.ID, one.Params)
		s.made[one.ID]++
	}
	j := s.add(lines.Bytes())
	for range s.others {
		// Somebody else's, as large and as late.
		s.add([]byte(strings.ReplaceAll(lines.String(), `"custom_id":"`, `"custom_id":"other`)))
	}
	s.others = 0
	s.lose()
	reply(w, s.tell(j))
}

// add adds a batch with its calls.
func (s *server) add(lines []byte) *serverJob {
	id := fmt.Sprintf("msgbatch_%d", len(s.jobs))
	s.files[id] = lines
	j := &serverJob{id: id, file: id, status: "in_progress", created: time.Now()}
	s.jobs = append(s.jobs, j)
	return j
}

// messageBatch is a batch in Anthropic's form.
func (s *server) messageBatch(j *serverJob) map[string]any {
	total := bytes.Count(s.files[j.file], []byte("\n"))
	status, counts := "ended", map[string]int{"processing": 0, "succeeded": j.done, "errored": j.failed, "canceled": 0, "expired": total - j.done - j.failed}
	switch j.status {
	case "in_progress":
		status = j.status
	case "cancelling":
		status = "canceling"
	}
	if status != "ended" {
		counts["processing"], counts["expired"] = total-j.done-j.failed, 0
	}
	return map[string]any{
		"id": j.id, "type": "message_batch", "processing_status": status, "request_counts": counts,
		"created_at": j.created.Format(time.RFC3339Nano), "expires_at": j.created.Add(24 * time.Hour).Format(time.RFC3339Nano), "results_url": "https://api.anthropic.com/v1/messages/batches/" + j.id + "/results",
	}
}

// message writes what became of a call.
func (s *server) message(output *strings.Builder, j *serverJob, l serverLine, status string, answered, failed int) {
	var result string
	switch {
	case j.done < answered:
		j.done++
		result = fmt.Sprintf(`{"type":"succeeded","message":{"id":"msg_%d","type":"message","role":"assistant","model":"%s","content":[{"type":"text","text":"Sure: %d."}],"stop_reason":"end_turn","usage":{"input_tokens":100,"output_tokens":50}}}`, j.done, l.Body.Model, j.done)
	case j.failed < failed:
		j.failed++
		s.made[l.ID]-- // not billed
		result = `{"type":"errored","error":{"type":"error","error":{"type":"api_error","message":"the server broke"}}}`
	default:
		s.made[l.ID]--
		result = `{"type":"` + map[string]string{"expired": "expired", "cancelled": "canceled"}[status] + `"}`
	}
	fmt.Fprintf(output, `{"custom_id":%q,"result":%s}`+"\n", l.ID, result)
}
