package batch

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLine(t *testing.T) {
	t.Parallel()
	line := Line("request-1", []byte(`{"model":"m","messages":[{"role":"user","content":"a\nb"}]}`))
	want := `{"custom_id":"request-1","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"a\nb"}]}}`
	if string(line) != want || !json.Valid(line) {
		t.Errorf("got %s, want %s", line, want)
	}
}

// The forms are those of the documentation: OpenAI's output and error files, and what
// vLLM's run-batch writes.
func TestReadResults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line  string
		want  Result
		fault string
	}{
		"OpenAI, answered": {
			`{"id": "batch_req_123", "custom_id": "request-2", "response": {"status_code": 200, "request_id": "req_123", "body": {"id": "chatcmpl-123", "choices": []}}, "error": null}`,
			Result{ID: "request-2", Status: 200, Body: []byte(`{"id": "chatcmpl-123", "choices": []}`)},
			"",
		},
		"OpenAI, wrong": {
			`{"id": "batch_req_1", "custom_id": "a", "response": {"status_code": 400, "request_id": "r", "body": {"error": {"message": "no"}}}, "error": null}`,
			Result{ID: "a", Status: 400, Body: []byte(`{"error": {"message": "no"}}`)},
			"",
		},
		"OpenAI, expired": {
			`{"id": "batch_req_123", "custom_id": "request-3", "response": null, "error": {"code": "batch_expired", "message": "This request could not be executed before the completion window expired."}}`,
			Result{ID: "request-3", Unmade: "batch_expired: This request could not be executed before the completion window expired."},
			"",
		},
		"vLLM, answered": {
			`{"id":"vllm-383d1c59835645aeb2e07d004d62a826","custom_id":"request-1","response":{"status_code":200,"request_id":"vllm-batch-1","body":{"id":"cmpl-61c020e5","object":"chat.completion"}},"error":null}`,
			Result{ID: "request-1", Status: 200, Body: []byte(`{"id":"cmpl-61c020e5","object":"chat.completion"}`)},
			"",
		},
		"vLLM, as documented": {
			`{"id":"vllm-383d1c59835645aeb2e07d004d62a826","custom_id":"request-1","response":{"id":"cmpl-61c020e5","object":"chat.completion","choices":[]},"error":null}`,
			Result{ID: "request-1", Status: 200, Body: []byte(`{"id":"cmpl-61c020e5","object":"chat.completion","choices":[]}`)},
			"",
		},
		"a response of a word": {`{"custom_id":"a","response":"yes"}`, Result{}, "its response is"},
		"vLLM, wrong": {
			`{"id":"vllm-1","custom_id":"request-1","response":{"status_code":400,"request_id":"vllm-batch-1","body":null},"error":{"error":{"message":"too long","type":"BadRequestError","code":400}}}`,
			Result{ID: "request-1", Status: 400, Body: []byte(`{"error":{"message":"too long","type":"BadRequestError","code":400}}`)},
			"",
		},
		"without a status":  {`{"custom_id":"a","response":{"body":{}}}`, Result{ID: "a", Status: 200, Body: []byte(`{}`)}, ""},
		"a fault of a word": {`{"custom_id":"a","error":"gone"}`, Result{ID: "a", Unmade: `"\"gone\""`}, ""},
		"what was asked":    {string(Line("a", []byte("{}"))), Result{}, ""},
		"an empty line":     {" ", Result{}, ""},
		"no JSON":           {"<html>", Result{}, "not the result"},
		"without an ID":     {`{"response":{"body":{}}}`, Result{}, "no custom_id"},
		"nothing said":      {`{"custom_id":"a"}`, Result{}, "neither"},
		"no body":           {`{"custom_id":"a","response":{"status_code":200}}`, Result{}, "no body"},
		"too long":          {`{"custom_id":"` + strings.Repeat("a", MaxLine) + `"}`, Result{}, "longer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := `{"custom_id":"last","error":{"code":"c"}}`
			var results []Result
			var faults []string
			for r, err := range ReadResults(strings.NewReader("\n" + c.line + "\n" + last)) {
				var line *LineError
				switch {
				case errors.As(err, &line) && line.Line == 2:
					faults = append(faults, err.Error())
				case err != nil:
					t.Fatal(err)
				default:
					results = append(results, r)
				}
			}
			var want []Result
			if c.want.ID != "" {
				want = append(want, c.want)
			}
			want = append(want, Result{ID: "last", Unmade: "c"}) // what follows is read all the same
			if d := cmp.Diff(want, results); d != "" {
				t.Errorf("results (-want +got):\n%s", d)
			}
			if (c.fault != "") != (len(faults) == 1) || c.fault != "" && !strings.Contains(faults[0], c.fault) {
				t.Errorf("faults are %q, want %q", faults, c.fault)
			}
		})
	}
}

func FuzzReadResults(f *testing.F) {
	f.Add([]byte(`{"custom_id":"a","response":{"status_code":200,"body":{}},"error":null}`))
	f.Add([]byte("{\"custom_id\":\"a\",\"error\":{\"code\":1}}\n\nnull\n[]"))
	f.Fuzz(func(t *testing.T, file []byte) {
		lines := strings.Count(string(file), "\n") + 1
		told := 0
		for r, err := range ReadResults(strings.NewReader(string(file))) {
			if told++; told > lines {
				t.Fatalf("more is told than there are lines")
			}
			if err == nil && (r.ID == "" || (r.Body == nil) == (r.Unmade == "")) {
				t.Errorf("a result without an ID, or with neither a reply nor a reason: %+v", r)
			}
		}
	})
}
