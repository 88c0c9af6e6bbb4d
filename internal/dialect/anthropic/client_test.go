package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/dialecttest"
	"github.com/orbench/orbench/model"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, dialecttest.Dialect{
		New: func(base, key string) model.Model {
			return New(ClientConfig{Provider: "anthropic", BaseURL: base + "/v1/", Key: key})
		},
		Answer: func(a model.Response) any {
			reason := "end_turn"
			if a.Finish == model.Length {
				reason = "max_tokens"
			}
			content := []any{}
			if a.Thinking != "" {
				content = append(content,
					map[string]any{"type": "thinking", "thinking": a.Thinking, "signature": "s"},
					map[string]any{"type": "redacted_thinking", "data": "x"})
			}
			if a.Text != "" {
				content = append(content, map[string]any{"type": "text", "text": a.Text})
			}
			return map[string]any{
				"id": a.ID, "type": "message", "role": "assistant", "model": a.Model, "content": content, "stop_reason": reason,
				"usage": map[string]any{
					// One token was written to the cache, where there are any.
					"input_tokens": a.Usage.Input - a.Usage.Cached - min(a.Usage.Cached, 1), "cache_read_input_tokens": a.Usage.Cached,
					"cache_creation_input_tokens": min(a.Usage.Cached, 1), "output_tokens": a.Usage.Output,
					"output_tokens_details": map[string]any{"thinking_tokens": a.Usage.Reasoning},
				},
			}
		},
		Error: func(_ int, message string) any {
			return map[string]any{"type": "error", "error": map[string]any{"type": "some_error", "message": message}, "request_id": "req_1"}
		},
		Call:   readCall,
		NoSeed: true,
		Blocks: []dialecttest.Blocked{
			{
				Name: "refusal after some text",
				Body: `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"I can"}],"stop_reason":"refusal","usage":{"input_tokens":9,"output_tokens":2}}`,
				Want: model.Block{Kind: model.RefusalField, Detail: "refusal"},
				Text: "I can",
			},
			{
				Name: "refusal with details",
				Body: `{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"Could enable harm."}}`,
				Want: model.Block{Kind: model.RefusalField, Detail: "refusal: cyber", Categories: []string{"cyber"}},
				Text: "Could enable harm.",
			},
			{
				Name:   "output filter",
				Status: 400,
				Body:   `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`,
				Want:   model.Block{Kind: model.OutputFilter, Detail: "content_filtering_policy"},
				Text:   "Output blocked by content filtering policy",
			},
		},
	})
}

func readCall(r *http.Request, body []byte) (dialecttest.Call, error) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		return dialecttest.Call{}, fmt.Errorf("%s %s is not the route of messages", r.Method, r.URL.Path)
	}
	if r.Header.Get("anthropic-version") == "" {
		return dialecttest.Call{}, fmt.Errorf("no version of the API is named: %v", r.Header)
	}
	type block struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var q struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    orbench.Role `json:"role"`
			Content []block      `json:"content"`
		} `json:"messages"`
		System       []block  `json:"system"`
		Temperature  *float64 `json:"temperature"`
		MaxTokens    int      `json:"max_tokens"`
		OutputConfig *struct {
			Format struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
	}
	if err := dialecttest.Decode(body, &q); err != nil {
		return dialecttest.Call{}, err
	}
	c := dialecttest.Call{Key: r.Header.Get("X-Api-Key"), Model: q.Model, Temperature: q.Temperature, MaxTokens: q.MaxTokens}
	text := func(blocks []block) (s string) {
		for _, b := range blocks {
			s += b.Text
		}
		return s
	}
	c.System = text(q.System)
	for _, m := range q.Messages {
		c.Messages = append(c.Messages, orbench.Message{Role: m.Role, Content: text(m.Content)})
	}
	if o := q.OutputConfig; o != nil {
		if o.Format.Type != "json_schema" {
			return c, fmt.Errorf("the output format is no schema: %s", body)
		}
		c.Schema = o.Format.Schema
	}
	return c, nil
}

// ask asks a server that gives one fixed reply.
func ask(t *testing.T, status int, body string, r model.Request) (model.Response, error) {
	t.Helper()
	return New(ClientConfig{Provider: "anthropic", BaseURL: dialecttest.Reply(t, status, body), Key: "k-123456"}).Ask(t.Context(), r)
}

func TestFailed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		body   string
		kind   model.Kind
	}{
		{"out of credit", 400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, model.Quota},
		{"billing", 402, `{"error":{"type":"billing_error","message":"Pay first."}}`, model.Quota},
		{"overloaded", 529, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`, model.Transient},
		{"a list", 500, `[1]`, model.Transient},
		{"a list, denied", 401, `[1]`, model.Denied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ask(t, tt.status, tt.body, model.Request{Model: "m"})
			e, ok := err.(*model.Error)
			if !ok || e.Kind != tt.kind || e.Status != tt.status {
				t.Errorf("got %v, want kind %s with status %d", err, tt.kind, tt.status)
			}
		})
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]model.Finish{
		"end_turn": model.Stop, "stop_sequence": model.Stop, "max_tokens": model.Length,
		"model_context_window_exceeded": model.Length, "tool_use": model.Called, "pause_turn": model.Called, "": model.OtherFinish,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			resp, err := ask(t, 200, `{"content":[{"type":"text","text":"Yes."}],"stop_reason":"`+reason+`"}`, model.Request{Model: "m"})
			if err != nil || resp.Finish != want || resp.Text != "Yes." {
				t.Errorf("got %+v, %v, want finish %s", resp, err, want)
			}
		})
	}
}

// TestEnvironment checks that no key of the environment goes to another server.
func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-from-the-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "" || r.Header.Get("Authorization") != "" {
			t.Errorf("got the header %v", r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"content":[],"stop_reason":"end_turn"}`))
	}))
	t.Cleanup(srv.Close)
	c := New(ClientConfig{Provider: "anthropic", BaseURL: srv.URL})
	if _, err := c.Ask(t.Context(), model.Request{Model: "m"}); err != nil {
		t.Error(err)
	}
}

func TestBadSchema(t *testing.T) {
	t.Parallel()
	_, err := ask(t, 200, `{}`, model.Request{Model: "m", Params: model.Params{Schema: json.RawMessage(`[1]`)}})
	if e, ok := err.(*model.Error); !ok || e.Kind != model.Invalid {
		t.Errorf("got %v, want an error of kind invalid", err)
	}
}

// TestOddFields checks that an answer that was paid for is kept where a field beside
// it is not as it should be.
func TestOddFields(t *testing.T) {
	t.Parallel()
	resp, err := ask(t, 200, `{"id":7,"usage":{"input_tokens":"many","output_tokens":3},"stop_details":null,"content":[{"type":"text","text":"Yes."}],"stop_reason":"end_turn"}`, model.Request{Model: "m"})
	if err != nil || resp.Text != "Yes." || resp.Finish != model.Stop || resp.Usage != (model.Usage{Output: 3}) {
		t.Errorf("got %+v, %v", resp, err)
	}
}

// TestOddReplies covers replies that are JSON but no message. None may pass for
// an empty answer, which would count as a refusal.
func TestOddReplies(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"content":5,"stop_reason":"end_turn"}`, `{"content":[5],"stop_reason":"end_turn"}`,
		`{"content":[{"type":"text","text":5}],"stop_reason":"end_turn"}`, `{"content":[{"type":"text"}],"stop_reason":"end_turn"}`,
		`{"content":[{"type":"text","text":"Yes."},5],"stop_reason":"end_turn"}`, `{"content":{"a":1},"stop_reason":"end_turn"}`, `{"content":[{"text":"Yes."}],"stop_reason":"end_turn"}`,
		`{"content":"Yes.","stop_reason":"end_turn"}`, `{"content":null,"stop_reason":"end_turn"}`, `{"stop_reason":"end_turn"}`, `[]`, `5`, `"x"`, `{"type":"error","error":{"type":"api_error","message":"x"}}`,
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			resp, err := ask(t, 200, body, model.Request{Model: "m"})
			if e, ok := err.(*model.Error); !ok || e.Kind != model.Transient {
				t.Errorf("got %+v, %v, want a transient error", resp, err)
			}
		})
	}
}
