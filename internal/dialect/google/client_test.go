package google

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/dialecttest"
	"github.com/orbench/orbench/model"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, dialecttest.Dialect{
		New: func(base, key string) model.Model {
			return New(ClientConfig{Provider: "google", BaseURL: base + "/v1beta/", Key: key})
		},
		Answer: func(a model.Response) any {
			reason := "STOP"
			if a.Finish == model.Length {
				reason = "MAX_TOKENS"
			}
			parts := []any{}
			if a.Thinking != "" {
				parts = append(parts, map[string]any{"text": a.Thinking, "thought": true})
			}
			parts = append(parts, map[string]any{"text": a.Text})
			return map[string]any{
				"candidates":   []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": reason, "index": 0}},
				"modelVersion": a.Model, "responseId": a.ID,
				"usageMetadata": map[string]any{
					"promptTokenCount": a.Usage.Input, "cachedContentTokenCount": a.Usage.Cached,
					// The answer's tokens are in the total alone, which must be enough.
					"candidatesTokenCount": 0, "thoughtsTokenCount": a.Usage.Reasoning, "totalTokenCount": a.Usage.Input + a.Usage.Output,
				},
			}
		},
		Error: func(status int, message string) any {
			return map[string]any{"error": map[string]any{"code": status, "message": message, "status": "SOME_STATUS"}}
		},
		Call: readCall,
		Blocks: []dialecttest.Blocked{
			{
				Name: "prompt blocked",
				Body: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9},"modelVersion":"m"}`,
				Want: model.Block{Kind: model.PromptFilter, Detail: "PROHIBITED_CONTENT"},
			},
			{
				Name: "no candidate",
				Body: `{"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9},"modelVersion":"m"}`,
				Want: model.Block{Kind: model.NoCandidate, Detail: "no candidates"},
			},
			{
				Name: "empty list of candidates",
				Body: `{"candidates":[],"responseId":"r"}`,
				Want: model.Block{Kind: model.NoCandidate, Detail: "no candidates"},
			},
			{
				Name: "safety without content",
				Body: `{"candidates":[{"finishReason":"SAFETY","safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"HIGH"}]}]}`,
				Want: model.Block{Kind: model.OutputFilter, Detail: "SAFETY"},
			},
			{
				Name: "a rating that blocked",
				Body: `{"candidates":[{"finishReason":"SAFETY","safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"LOW"},{"category":"HARM_CATEGORY_HATE_SPEECH","probability":"HIGH","blocked":true}]}]}`,
				Want: model.Block{Kind: model.OutputFilter, Detail: "SAFETY", Categories: []string{"HARM_CATEGORY_HATE_SPEECH"}},
			},
			{
				Name: "a rating that blocked the prompt",
				Body: `{"promptFeedback":{"blockReason":"SAFETY","safetyRatings":[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"HIGH","blocked":true}]}}`,
				Want: model.Block{Kind: model.PromptFilter, Detail: "SAFETY", Categories: []string{"HARM_CATEGORY_DANGEROUS_CONTENT"}},
			},
			{
				Name: "recitation with a part of the answer",
				Body: `{"candidates":[{"content":{"role":"model","parts":[{"text":"It was"}]},"finishReason":"RECITATION"}]}`,
				Want: model.Block{Kind: model.OutputFilter, Detail: "RECITATION"},
				Text: "It was",
			},
			{
				Name: "prohibited content",
				Body: `{"candidates":[{"content":{},"finishReason":"PROHIBITED_CONTENT"}]}`,
				Want: model.Block{Kind: model.OutputFilter, Detail: "PROHIBITED_CONTENT"},
			},
		},
	})
}

func readCall(r *http.Request, body []byte) (dialecttest.Call, error) {
	name, ok := strings.CutPrefix(r.URL.Path, "/v1beta/models/")
	name, isGenerate := strings.CutSuffix(name, ":generateContent")
	if r.Method != http.MethodPost || !ok || !isGenerate || r.URL.RawQuery != "" {
		return dialecttest.Call{}, fmt.Errorf("%s %s is not the route of generateContent", r.Method, r.URL)
	}
	type content struct {
		Role  string `json:"role"`
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	}
	var q struct {
		Contents          []content `json:"contents"`
		SystemInstruction *content  `json:"systemInstruction"`
		SafetySettings    []struct {
			Category  string `json:"category"`
			Threshold string `json:"threshold"`
		} `json:"safetySettings"`
		GenerationConfig struct {
			Temperature        *float64        `json:"temperature"`
			MaxOutputTokens    int             `json:"maxOutputTokens"`
			Seed               *int64          `json:"seed"`
			ResponseMIMEType   string          `json:"responseMimeType"`
			ResponseJSONSchema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := dialecttest.Decode(body, &q); err != nil {
		return dialecttest.Call{}, err
	}
	off := map[string]bool{}
	for _, s := range q.SafetySettings {
		off[s.Category] = s.Threshold == "BLOCK_NONE"
	}
	for _, category := range []string{"HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT"} {
		if !off["HARM_CATEGORY_"+category] {
			return dialecttest.Call{}, fmt.Errorf("the filter for %s is not off: %s", category, body)
		}
	}
	g := q.GenerationConfig
	if (g.ResponseJSONSchema != nil) != (g.ResponseMIMEType == "application/json") {
		return dialecttest.Call{}, fmt.Errorf("a schema needs its MIME type: %s", body)
	}
	c := dialecttest.Call{
		Key: r.Header.Get("X-Goog-Api-Key"), Model: name, Temperature: g.Temperature,
		MaxTokens: g.MaxOutputTokens, Seed: g.Seed, Schema: g.ResponseJSONSchema,
	}
	text := func(content content) (s string) {
		for _, p := range content.Parts {
			s += p.Text
		}
		return s
	}
	if q.SystemInstruction != nil {
		c.System = text(*q.SystemInstruction)
	}
	for _, m := range q.Contents {
		role := orbench.User
		if m.Role == "model" {
			role = orbench.Assistant
		}
		c.Messages = append(c.Messages, orbench.Message{Role: role, Content: text(m)})
	}
	return c, nil
}

// ask asks a server that gives one fixed reply.
func ask(t *testing.T, status int, body string, params model.Params) (model.Response, error) {
	t.Helper()
	return New(ClientConfig{Provider: "google", BaseURL: dialecttest.Reply(t, status, body), Key: "k-123456"}).Ask(t.Context(), model.Request{
		Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: "Hello."}}, Params: params,
	})
}

func TestFailed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		status int
		body   string
		kind   model.Kind
		wait   time.Duration
	}{
		{
			"wrong key", 400,
			`{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`,
			model.Denied, 0,
		},
		{"not offered here", 400, `{"error":{"code":400,"message":"User location is not supported.","status":"FAILED_PRECONDITION"}}`, model.Denied, 0},
		{"wrong request", 400, `{"error":{"code":400,"message":"Bad.","status":"INVALID_ARGUMENT"}}`, model.Invalid, 0},
		{
			"a minute's limit", 429,
			`{"error":{"code":429,"message":"Slow down.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`,
			model.RateLimited, 34500 * time.Millisecond,
		},
		{
			"a day's limit", 429,
			`{"error":{"code":429,"message":"Enough.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]},{"retryDelay":"34s"}]}}`,
			model.Quota, 0,
		},
		{"a gateway's body without a code", 503, `{"error":{"message":"Down."}}`, model.Transient, 0},
		{"a gateway's list", 400, `[{"error":{"code":400,"message":"No.","status":"FAILED_PRECONDITION"}}]`, model.Denied, 0},
		{"details of odd types", 429, `{"error":{"code":429,"message":"x","details":[{"retryDelay":5,"violations":[1,{"quotaId":2}]}]}}`, model.RateLimited, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ask(t, tt.status, tt.body, model.Params{})
			e, ok := err.(*model.Error)
			if !ok || e.Kind != tt.kind || e.Status != tt.status || e.RetryAfter != tt.wait {
				t.Errorf("got %#v, want kind %s, status %d, wait %v", err, tt.kind, tt.status, tt.wait)
			}
		})
	}
}

func TestFinish(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]model.Finish{
		"STOP": model.Stop, "MAX_TOKENS": model.Length, "OTHER": model.OtherFinish, "LANGUAGE": model.OtherFinish,
		"MALFORMED_FUNCTION_CALL": model.Broken, "SPII": model.Blocked, "BLOCKLIST": model.Blocked,
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			resp, err := ask(t, 200, `{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"`+reason+`"}]}`, model.Params{})
			if err != nil || resp.Finish != want || resp.Text != "Yes." {
				t.Errorf("got %+v, %v, want finish %s", resp, err, want)
			}
		})
	}
}

// TestOddReplies covers replies that are JSON and not of the API's form. None may
// pass for an empty answer, which would count as a refusal.
func TestOddReplies(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"candidates":5}`, `{"candidates":[5]}`, `{"candidates":{"a":1}}`, `{"candidates":[{"content":5}]}`,
		`{"candidates":[{"content":{"parts":5}}]}`, `{"candidates":[{"content":{"parts":[5]}}]}`,
		`{"candidates":[{"content":{"parts":[{"text":5}]},"finishReason":"STOP"}]}`,
		`{"candidates":[{}]}`, `{"candidates":[null]}`, `{"promptFeedback":5}`, `{"usageMetadata":[]}`, `[]`, `5`, `"x"`,
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			resp, err := ask(t, 200, body, model.Params{})
			if e, ok := err.(*model.Error); !ok || e.Kind != model.Transient {
				t.Errorf("got %+v, %v, want a transient error", resp, err)
			}
		})
	}
}

func TestUnencodable(t *testing.T) {
	t.Parallel()
	seed := int64(1) << 40
	for name, params := range map[string]model.Params{
		"seed":   {Seed: &seed},
		"limit":  {MaxTokens: 1 << 40},
		"schema": {Schema: json.RawMessage(`{`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ask(t, 200, `{}`, params)
			if e, ok := err.(*model.Error); !ok || e.Kind != model.Invalid {
				t.Errorf("got %v, want an error of kind invalid", err)
			}
		})
	}
}

// TestEnvironment checks that no key of the environment goes to another server.
func TestEnvironment(t *testing.T) {
	t.Setenv("GOOGLE_API_KEY", "from-the-environment")
	t.Setenv("GEMINI_API_KEY", "from-the-environment")
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Values("X-Goog-Api-Key"); got != nil {
			t.Errorf("got the key %q", got)
		}
		if r.URL.Path != "/v1beta/models/m:generateContent" {
			t.Errorf("got %s with the header %v", r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}]}`))
	}))
	t.Cleanup(srv.Close)
	c := New(ClientConfig{Provider: "google", BaseURL: srv.URL})
	if _, err := c.Ask(t.Context(), model.Request{Model: "m"}); err != nil {
		t.Error(err)
	}
}

// TestModelNames checks that a name of a model leads to that model alone.
func TestModelNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"gemini-x": "https://host/v1/models/gemini-x:generateContent", "models/gemini-x": "https://host/v1/models/gemini-x:generateContent",
		"tunedModels/mine": "https://host/v1/tunedModels/mine:generateContent",
		"":                 "", "../files": "", "x?key=1": "", "x#y": "", "x%2fy": "",
	} {
		if got, err := address("https://host/v1/", name); got != want || (err == nil) != (want != "") {
			t.Errorf("%q leads to %q, %v, want %q", name, got, err, want)
		}
	}
}
