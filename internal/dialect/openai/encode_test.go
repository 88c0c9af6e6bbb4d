package openai

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// request is the body of a call, for encoding/json. Of each pair of names for one thing at
// most one is set.
type request struct {
	Model               string            `json:"model"`
	Messages            []orbench.Message `json:"messages"`
	Temperature         *float64          `json:"temperature,omitempty"`
	MaxTokens           int               `json:"max_tokens,omitempty"`
	MaxCompletionTokens int               `json:"max_completion_tokens,omitempty"`
	Seed                *int64            `json:"seed,omitempty"`
	RandomSeed          *int64            `json:"random_seed,omitempty"`
	ResponseFormat      *responseFormat   `json:"response_format,omitempty"`
	Logprobs            bool              `json:"logprobs,omitempty"`
	TopLogprobs         int               `json:"top_logprobs,omitempty"`
	ReasoningEffort     string            `json:"reasoning_effort,omitempty"`
	ChatTemplateKwargs  json.RawMessage   `json:"chat_template_kwargs,omitempty"`
}

// responseFormat asks for output that fits a schema.
type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// What is appended is what encoding/json makes of the same.
func TestEncode(t *testing.T) {
	t.Parallel()
	temperature, zero, seed := 0.7, 0.0, int64(-3)
	messages := []orbench.Message{{Role: orbench.System, Content: "Be <brief> & \"kind\"."}, {Role: orbench.User, Content: "Grüße\n"}}
	schema := json.RawMessage(`{ "type": "object" }`)
	for name, c := range map[string]struct {
		fields Fields
		params model.Params
		want   request
	}{
		"nothing":     {},
		"usual":       {params: model.Params{Temperature: &zero, MaxTokens: 1000}, want: request{Temperature: &zero, MaxTokens: 1000}},
		"other names": {Fields{MaxTokens: MaxCompletionTokens, Seed: RandomSeed}, model.Params{MaxTokens: 7, Seed: &seed}, request{MaxCompletionTokens: 7, RandomSeed: &seed}},
		"all": {
			params: model.Params{Temperature: &temperature, MaxTokens: 1, Seed: &seed, TopLogprobs: 5, Effort: "low", Schema: schema, Template: json.RawMessage(`{"enable_thinking": false}`)},
			want: request{
				Temperature: &temperature, MaxTokens: 1, Seed: &seed, Logprobs: true, TopLogprobs: 5, ReasoningEffort: "low", ChatTemplateKwargs: json.RawMessage(`{"enable_thinking": false}`),
				ResponseFormat: &responseFormat{Type: "json_schema", JSONSchema: jsonSchema{Name: "answer", Strict: true, Schema: schema}},
			},
		},
	} {
		c.want.Model, c.want.Messages = "a/model", messages
		want, err := json.Marshal(c.want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := New(ClientConfig{}, c.fields).Body(model.Request{Model: "a/model", Messages: messages, Params: c.params})
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	wrong := math.NaN()
	for _, p := range []model.Params{{Temperature: &wrong}, {Schema: json.RawMessage(`{`)}, {Template: json.RawMessage(`{`)}} {
		if got, err := New(ClientConfig{}, Fields{}).Body(model.Request{Params: p}); err == nil {
			t.Errorf("%+v is written as %s", p, got)
		}
	}
}

// Forms of messages go where the server takes them, and are read from there.
func TestForms(t *testing.T) {
	t.Parallel()
	zero := 0.0
	ask := model.Request{Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: "Was?"}, {Role: orbench.Assistant, Content: "<Ja>"}}}
	ask.Params = model.Params{Temperature: &zero, MaxTokens: 9, TopLogprobs: 5}
	for form, want := range map[model.Form]struct{ path, body, reply string }{
		model.Parts: {
			"/v1/chat/completions",
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"Was?"}]},{"role":"assistant","content":[{"type":"text","text":"\u003cJa\u003e"}]}],"temperature":0,"max_tokens":9,"logprobs":true,"top_logprobs":5}`,
			`{"choices":[{"message":{"content":"yes"},"finish_reason":"stop","logprobs":{"content":[{"token":"yes","top_logprobs":[{"token":"no","logprob":-2},{"token":"yes","logprob":-0.5}]}]}}]}`,
		},
		model.Raw: {
			"/v1/completions",
			`{"model":"m","prompt":"\u003cJa\u003e","temperature":0,"max_tokens":9,"logprobs":5}`,
			`{"choices":[{"text":"yes","finish_reason":"stop","logprobs":{"tokens":["yes"],"token_logprobs":[-0.5],"top_logprobs":[{"yes":-0.5,"no":-2}]}}]}`,
		},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.URL.Path != want.path || string(body) != want.body {
				t.Errorf("%s: sent to %s: %s\nwant %s: %s", form, r.URL.Path, body, want.path, want.body)
			}
			_, _ = io.WriteString(w, want.reply)
		}))
		ask.Params.Form = form
		got, err := New(ClientConfig{BaseURL: server.URL + "/v1"}, Fields{}).Ask(t.Context(), ask)
		server.Close()
		likeliest := []model.Place{{Token: "yes", Top: []model.Token{{Token: "no", Logprob: -2}, {Token: "yes", Logprob: -0.5}}}}
		if err != nil || got.Text != "yes" || got.Finish != model.Stop || !reflect.DeepEqual(got.Logprobs, likeliest) {
			t.Errorf("%s: %+v, %v", form, got, err)
		}
	}
	if _, err := New(ClientConfig{}, Fields{}).Body(model.Request{Params: model.Params{Form: model.Raw}}); err == nil {
		t.Error("a raw text is sent of no message")
	}
}
