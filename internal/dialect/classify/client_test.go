package classify_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/classify"
	"github.com/orbench/orbench/internal/dialect/dialecttest"
	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

func label(name string) string {
	return dialecttest.JSON([]classify.Label{{Label: name, Score: "0.75"}})
}

func call(r *http.Request, body []byte, route string, text *string, into any) (dialecttest.Call, error) {
	if r.Method != http.MethodPost || r.URL.Path != route {
		return dialecttest.Call{}, fmt.Errorf("%s %s is not the route", r.Method, r.URL.Path)
	}
	err := dialecttest.Decode(body, into)
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return dialecttest.Call{Key: key, Messages: []orbench.Message{{Role: orbench.User, Content: *text}}}, err
}

func TestConformancePredict(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, dialecttest.Dialect{
		New: func(base, key string) model.Model {
			return classify.New(wire.ClientConfig{Provider: "tei", BaseURL: base + "/", Key: key}, classify.Kind{Route: classify.Predict})
		},
		Answer: func(a model.Response) any {
			return []map[string]any{{"score": 0.75, "label": a.Text}}
		},
		Error: func(_ int, message string) any {
			return map[string]any{"error": message, "error_type": "backend"}
		},
		Call: func(r *http.Request, body []byte) (dialecttest.Call, error) {
			var q struct {
				Inputs    string `json:"inputs"`
				Truncate  bool   `json:"truncate"`
				RawScores bool   `json:"raw_scores"`
			}
			c, err := call(r, body, "/predict", &q.Inputs, &q)
			c.Messages[0].Content = q.Inputs
			return c, err
		},
		Label: label,
	})
}

func TestConformanceClassify(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, dialecttest.Dialect{
		New: func(base, key string) model.Model {
			return classify.New(wire.ClientConfig{Provider: "vllm-classify", BaseURL: base, Key: key}, classify.Kind{Route: classify.Classify})
		},
		Answer: func(a model.Response) any {
			return map[string]any{
				"id": "classify-1", "object": "list", "created": 1745383213, "model": "m",
				"data":  []any{map[string]any{"index": 0, "label": a.Text, "probs": []float64{0.25, 0.75}, "num_classes": 2}},
				"usage": map[string]any{"prompt_tokens": 10, "total_tokens": 10, "completion_tokens": 0, "prompt_tokens_details": nil},
			}
		},
		Error: func(_ int, message string) any {
			return map[string]any{"error": map[string]any{"message": message, "type": "BadRequestError", "param": nil, "code": 400}}
		},
		Call: func(r *http.Request, body []byte) (dialecttest.Call, error) {
			var q struct {
				Model string `json:"model"`
				Input string `json:"input"`
			}
			c, err := call(r, body, "/classify", &q.Input, &q)
			c.Model, c.Messages[0].Content = q.Model, q.Input
			return c, err
		},
		Label: label,
	})
}

// TestReplies reads the replies that the servers' documentation shows, and edges
// of their form.
func TestReplies(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		route     classify.Route
		status    int
		body      string
		want      string // Response.Text
		kind      model.Kind
		problem   string
		modelName string
		input     int
	}{
		"two labels": {
			route: classify.Predict, body: `[{"score":0.0078,"label":"Non-refusal"},{"score":0.9922,"label":"Refusal"}]`,
			want: `[{"label":"Refusal","score":0.9922},{"label":"Non-refusal","score":0.0078}]`,
		},
		"numbers as written": {
			route: classify.Predict, body: `[{"score":9.9e-1,"label":"a"}]`, want: `[{"label":"a","score":9.9e-1}]`,
		},
		"a batch": {route: classify.Predict, body: `[[{"score":0.9,"label":"a"}]]`, kind: model.Transient, problem: "not a list of labels"},
		"none":    {route: classify.Predict, body: `[]`, kind: model.Transient, problem: "no label"},
		"no classifier": {
			route: classify.Predict, status: 424, body: `{"error":"model is not a classifier model","error_type":"backend"}`,
			kind: model.NotFound, problem: "model is not a classifier model",
		},
		"overloaded": {
			route: classify.Predict, status: 429, body: `{"error":"Model is overloaded","error_type":"overloaded"}`,
			kind: model.RateLimited, problem: "Model is overloaded",
		},
		"the documented reply": {
			route: classify.Classify,
			body: `{"id":"classify-9bf1","object":"list","created":1745383213,"model":"jason9693/Qwen2.5-1.5B-apeach",
				"data":[{"index":0,"label":"Default","probs":[0.565970778465271,0.4340292513370514],"num_classes":2}],
				"usage":{"prompt_tokens":0,"total_tokens":10,"completion_tokens":0,"prompt_tokens_details":null}}`,
			want: `[{"label":"Default","score":0.565970778465271}]`, modelName: "jason9693/Qwen2.5-1.5B-apeach", input: 10,
		},
		"labels without names": {
			route: classify.Classify, body: `{"data":[{"index":0,"label":null,"probs":[0.2,0.8]}]}`,
			want: `[{"label":"LABEL_1","score":0.8},{"label":"LABEL_0","score":0.2}]`,
		},
		"two texts": {
			route: classify.Classify, body: `{"data":[{"label":"a","probs":[1]},{"label":"a","probs":[1]}]}`,
			kind: model.Transient, problem: "one text",
		},
		"no probabilities": {route: classify.Classify, body: `{"data":[{"label":"a","probs":[]}]}`, kind: model.Transient, problem: "no label"},
		"too long": {
			route: classify.Classify, status: 400,
			body: `{"object":"error","message":"This model's maximum context length is 512 tokens.","type":"BadRequestError","param":null,"code":400}`,
			kind: model.Invalid, problem: "maximum context length",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(max(200, tt.status))
				_, _ = io.WriteString(w, tt.body)
			}))
			t.Cleanup(s.Close)
			c := classify.New(wire.ClientConfig{Provider: "p", BaseURL: s.URL}, classify.Kind{Route: tt.route})
			got, err := c.Ask(t.Context(), model.Ref{Provider: "p", Model: "m"}.Request(model.Params{}, "text"))
			if tt.kind != "" {
				e, ok := errors.AsType[*model.Error](err)
				if !ok || e.Kind != tt.kind || !strings.Contains(e.Error(), tt.problem) {
					t.Fatalf("got %+v, %v; want %s with %q", got, err, tt.kind, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.want || got.Finish != model.Stop || got.Model != tt.modelName || got.Usage.Input != tt.input {
				t.Errorf("got %+v, want %s by %q for %d tokens", got, tt.want, tt.modelName, tt.input)
			}
		})
	}
}

// TestAConversationIsNoText refuses what only a chat server can answer.
func TestAConversationIsNoText(t *testing.T) {
	t.Parallel()
	c := classify.New(wire.ClientConfig{Provider: "p", BaseURL: "http://127.0.0.1:1"}, classify.Kind{Route: classify.Predict})
	for _, messages := range [][]orbench.Message{
		nil,
		{{Role: orbench.System, Content: "Be brief."}},
		{{Role: orbench.System, Content: "Be brief."}, {Role: orbench.User, Content: "Hello."}},
	} {
		_, err := c.Ask(t.Context(), model.Request{Provider: "p", Model: "m", Messages: messages})
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Invalid || !strings.Contains(e.Message, "classify:") {
			t.Errorf("%d messages: %v, want an invalid request", len(messages), err)
		}
	}
}

// flaggedLabel is how a category that the server flags is given.
func flaggedLabel(name string) string {
	yes := true
	return dialecttest.JSON([]classify.Label{{Label: name, Score: "0.75", Flagged: &yes}})
}

func TestConformanceModerations(t *testing.T) {
	t.Parallel()
	dialecttest.Run(t, dialecttest.Dialect{
		New: func(base, key string) model.Model {
			return classify.New(wire.ClientConfig{Provider: "openai-moderation", BaseURL: base, Key: key}, classify.Kind{Route: classify.Moderations})
		},
		Answer: func(a model.Response) any {
			return map[string]any{"id": "modr-1", "model": "m", "results": []any{map[string]any{
				"flagged": true, "categories": map[string]bool{a.Text: true}, "category_scores": map[string]float64{a.Text: 0.75},
				"category_applied_input_types": map[string]any{a.Text: []string{"text"}},
			}}}
		},
		Error: func(_ int, message string) any {
			return map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}}
		},
		Call: func(r *http.Request, body []byte) (dialecttest.Call, error) {
			var q struct {
				Model string `json:"model"`
				Input string `json:"input"`
			}
			c, err := call(r, body, "/moderations", &q.Input, &q)
			c.Model, c.Messages[0].Content = q.Model, q.Input
			return c, err
		},
		Label: flaggedLabel,
	})
}

func TestConformanceDescription(t *testing.T) {
	t.Parallel()
	d := &classify.Description{
		Path: "/v1/check", Body: map[string]any{"data": []any{map[string]any{"content": "{{text}}"}}, "detector": "{{model}}", "version": 2},
		Scores: "/findings", Label: "/kind", Score: "/confidence",
	}
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	dialecttest.Run(t, dialecttest.Dialect{
		New: func(base, key string) model.Model {
			return classify.New(wire.ClientConfig{Provider: "mine", BaseURL: base, Key: key}, classify.Kind{Description: d})
		},
		Answer: func(a model.Response) any {
			return map[string]any{"findings": []any{map[string]any{"kind": a.Text, "confidence": 0.75}}}
		},
		Error: func(_ int, message string) any { return map[string]any{"message": message} },
		Call: func(r *http.Request, body []byte) (dialecttest.Call, error) {
			var q struct {
				Data []struct {
					Content string `json:"content"`
				} `json:"data"`
				Detector string `json:"detector"`
				Version  int    `json:"version"`
			}
			c, err := call(r, body, "/v1/check", new(string), &q)
			c.Model, c.Messages[0].Content = q.Detector, q.Data[0].Content
			return c, err
		},
		Label: label,
	})
}
