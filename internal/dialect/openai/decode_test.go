package openai

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		want       model.Response
	}{
		{
			"as llama.cpp sends it",
			`{"choices":[{"finish_reason":"stop","index":0,"message":{"role":"assistant","content":"Yes."}}],"created":1,"model":"gguf","object":"chat.completion","usage":{"completion_tokens":3,"prompt_tokens":9,"total_tokens":12},"id":"chatcmpl-x","timings":{"prompt_ms":1.5}}`,
			model.Response{Text: "Yes.", Finish: model.Stop, Model: "gguf", ID: "chatcmpl-x", Usage: model.Usage{Input: 9, Output: 3}},
		},
		{
			"with the likeliest tokens",
			`{"choices":[{"finish_reason":"stop","message":{"content":"No"},"logprobs":{"content":[{"token":"No","logprob":-0.1,"bytes":[78,111],"top_logprobs":[{"token":"No","logprob":-0.1,"bytes":[78,111]},{"token":"Yes","logprob":-2.5,"bytes":null}]},{"token":"<eos>","logprob":0,"top_logprobs":[]}],"refusal":null}}]}`,
			model.Response{Text: "No", Finish: model.Stop, Logprobs: []model.Place{
				{Token: "No", Top: []model.Token{{Token: "No", Logprob: -0.1}, {Token: "Yes", Logprob: -2.5}}}, {Token: "<eos>"},
			}},
		},
		{
			"with none of the likeliest tokens", `{"choices":[{"finish_reason":"stop","message":{"content":"No"},"logprobs":null}]}`,
			model.Response{Text: "No", Finish: model.Stop},
		},
		{
			"a text in the place of the content", `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","text":"Yes."}}]}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"an end in calls of which there are none", `{"choices":[{"finish_reason":"tool_calls","message":{"content":"Yes.","tool_calls":[]}}]}`,
			model.Response{Text: "Yes.", Finish: model.OtherFinish},
		},
		{
			"a part that is a thought", `{"choices":[{"finish_reason":"stop","message":{"content":[{"text":"Hm.","thought":true},{"text":"Yes."}]}}]}`,
			model.Response{Text: "Yes.", Thinking: "Hm.", Finish: model.Stop},
		},
		{
			"Triton's own form", `{"model_name":"m","text_output":"Yes, it is."}`,
			model.Response{Text: "Yes, it is.", Finish: model.OtherFinish},
		},
		{
			"a text alone", `"Yes, it is."`,
			model.Response{Text: "Yes, it is.", Finish: model.OtherFinish},
		},
		{
			"Mistral's list of parts",
			`{"choices":[{"finish_reason":"stop","message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"Yes"},{"type":"text","text":"."}]}}]}`,
			model.Response{Text: "Yes.", Thinking: "Hm.", Finish: model.Stop},
		},
		{
			"messages in place of a message",
			`{"choices":[{"finish_reason":"stop","messages":[{"role":"tool","content":"{}"},{"role":"assistant","content":"Yes."}]}]}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"reasoning under its other name",
			`{"choices":[{"finish_reason":"stop","message":{"content":"Yes.","reasoning":"Hm."}}]}`,
			model.Response{Text: "Yes.", Thinking: "Hm.", Finish: model.Stop},
		},
		{
			"reasoning under both names",
			`{"choices":[{"finish_reason":"stop","message":{"content":"Yes.","reasoning":"Hm.","reasoning_content":"Hm."}}]}`,
			model.Response{Text: "Yes.", Thinking: "Hm.", Finish: model.Stop},
		},
		{
			"DeepSeek's cache",
			`{"choices":[{"finish_reason":"stop","message":{"content":"Yes."}}],"usage":{"prompt_tokens":100,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36,"completion_tokens":2}}`,
			model.Response{Text: "Yes.", Finish: model.Stop, Usage: model.Usage{Input: 100, Cached: 64, Output: 2}},
		},
		{
			"a total that says more than its parts",
			`{"choices":[{"finish_reason":"stop","message":{"content":"Yes."}}],"usage":{"prompt_tokens":10,"completion_tokens":0,"total_tokens":210}}`,
			model.Response{Text: "Yes.", Finish: model.Stop, Usage: model.Usage{Input: 10, Output: 200}},
		},
		{
			"a total that says less than its parts",
			`{"choices":[{"finish_reason":"stop","message":{"content":"Yes."}}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":-5}}`,
			model.Response{Text: "Yes.", Finish: model.Stop, Usage: model.Usage{Input: 10, Output: 20}},
		},
		{
			"null where objects should be",
			`{"id":null,"model":null,"error":null,"choices":[{"finish_reason":"stop","message":{"content":"Yes.","refusal":null},"error":null}],"usage":null}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"only thinking, cut by the limit",
			`{"choices":[{"finish_reason":"length","message":{"content":null,"reasoning_content":"Hm, let me see"}}]}`,
			model.Response{Thinking: "Hm, let me see", Finish: model.Length},
		},
		{
			"an open think block",
			`{"choices":[{"finish_reason":"length","message":{"content":"<think>Hm, let me see"}}]}`,
			model.Response{Thinking: "Hm, let me see", Finish: model.Length},
		},
		{
			"no content, as gateways write an empty answer",
			`{"choices":[{"finish_reason":"stop","message":{"role":"assistant"}}]}`,
			model.Response{Finish: model.Stop},
		},
		{
			"a tool call",
			`{"choices":[{"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[{"id":"1"}]}}]}`,
			model.Response{Finish: model.Called},
		},
		{
			"a message that is a text",
			`{"choices":[{"finish_reason":"stop","message":"Yes."}]}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"words beside a call of a tool",
			`{"choices":[{"finish_reason":"stop","message":{"content":"One moment.","tool_calls":[{"id":"1"}]}}]}`,
			model.Response{Text: "One moment.", Finish: model.Called},
		},
		{
			"a first choice without text",
			`{"choices":[{"finish_reason":"stop","message":{"content":""}},{"finish_reason":"length","message":{"content":"Yes"}}]}`,
			model.Response{Text: "Yes", Finish: model.Length},
		},
		{
			"a first choice that was filtered",
			`{"choices":[{"finish_reason":"content_filter","message":{"content":""}},{"finish_reason":"stop","message":{"content":"Yes."}}]}`,
			model.Response{Finish: model.Blocked, Block: &model.Block{Kind: model.OutputFilter, Detail: "content_filter"}},
		},
		{
			"a text that is an object",
			`{"choices":[{"finish_reason":"stop","message":{"content":[{"type":"text","text":{"value":"Yes."}}]}}]}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"Ollama's own form",
			`{"model":"m","message":{"role":"assistant","content":"Yes."},"done":true,"done_reason":"length"}`,
			model.Response{Text: "Yes.", Finish: model.Length, Model: "m"},
		},
		{
			"a byte order mark, and the end of a stream",
			"\ufeff" + `{"choices":[{"finish_reason":"stop","message":{"content":"Yes."}}]}` + "\n\ndata: [DONE]\n",
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"a stream that nobody asked for",
			": waiting\n\ndata: " + `{"model":"m","choices":[{"delta":{"reasoning_content":"Hm."}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"content":"Ye"}}]}` + "\n\ndata: " + `{"choices":[{"delta":{"content":"s."},"finish_reason":"stop"}]}` + "\n\ndata: " + `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n",
			model.Response{Text: "Yes.", Thinking: "Hm.", Finish: model.Stop, Model: "m", Usage: model.Usage{Input: 3, Output: 2}},
		},
		{
			"a block in place of choices",
			`{"choices":null,"base_resp":{"status_code":1026,"status_msg":"input new_sensitive"}}`,
			model.Response{Text: "input new_sensitive", Finish: model.Blocked, Block: &model.Block{Kind: model.PromptFilter, Detail: "MiniMax"}},
		},
		{
			"no finish reason",
			`{"choices":[{"finish_reason":null,"message":{"content":"Yes."}}]}`,
			model.Response{Text: "Yes.", Finish: model.OtherFinish},
		},
		{
			"Together's end of sequence",
			`{"choices":[{"finish_reason":"eos","message":{"content":"Yes."}}]}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"a router's word and that of the provider behind it",
			`{"provider":"DeepInfra","choices":[{"finish_reason":"stop","native_finish_reason":"stop","message":{"content":"Yes."}}]}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"an answer that the limit cut behind a router",
			`{"choices":[{"finish_reason":"stop","native_finish_reason":"MAX_TOKENS","message":{"content":"Ye"}}]}`,
			model.Response{Text: "Ye", Finish: model.Length},
		},
		{
			"the word of the provider alone",
			`{"choices":[{"finish_reason":null,"native_finish_reason":"end_turn","message":{"content":"Yes."}}]}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"an answer that broke off behind a router, paid for",
			`{"choices":[{"finish_reason":"stop","native_finish_reason":"network_error","message":{"content":"Ye"}}]}`,
			model.Response{Text: "Ye", Finish: model.Broken},
		},
		{
			"a router's fields of the wrong type",
			`{"provider":{"name":"x"},"choices":[{"finish_reason":"stop","native_finish_reason":7,"provider_specific_fields":[1],"message":{"content":"Yes.","provider_specific_fields":"x"}}]}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"a paid answer with fields of the wrong type",
			`{"id":7,"model":{"name":"m"},"choices":[{"finish_reason":0,"message":{"content":"Yes."}}],"usage":{"prompt_tokens":"9","completion_tokens":2.5}}`,
			model.Response{Text: "Yes.", Finish: model.OtherFinish},
		},
		{
			"an answer that is an object",
			`{"choices":[{"finish_reason":"stop","message":{"content":{"verdict":"yes"}}}]}`,
			model.Response{Text: `{"verdict":"yes"}`, Finish: model.Stop},
		},
		{
			"negative usage",
			`{"choices":[{"finish_reason":"stop","message":{"content":"Yes."}}],"usage":{"prompt_tokens":-1,"completion_tokens":-5}}`,
			model.Response{Text: "Yes.", Finish: model.Stop},
		},
		{
			"a broken character",
			"{\"choices\":[{\"finish_reason\":\"stop\",\"message\":{\"content\":\"a\xffb \\ud800\"}}]}",
			model.Response{Text: "a\ufffdb \ufffd", Finish: model.Stop},
		},
		{
			"a completion in a list", `[{"choices":[{"message":{"content":"It is red."},"finish_reason":"length"}]}]`,
			model.Response{Text: "It is red.", Finish: model.Length},
		},
		{
			"a completion in an envelope", `{"ok":true,"data":{"choices":[{"message":{"content":"It is red."},"finish_reason":"stop"}]}}`,
			model.Response{Text: "It is red.", Finish: model.Stop},
		},
		{
			"a constant of Python", `{"score":NaN,"choices":[{"message":{"content":"NaN is no number."},"finish_reason":"stop"}]}`,
			model.Response{Text: "NaN is no number.", Finish: model.Stop},
		},
		{
			"a guardrail of Bedrock", `{"choices":[{"message":{"content":"Not this."},"finish_reason":"stop"}],"amazon-bedrock-guardrailAction":"INTERVENED"}`,
			model.Response{Text: "Not this.", Finish: model.Blocked, Block: &model.Block{Kind: model.PromptFilter, Detail: "intervened"}},
		},
		{
			"a warning in place of a choice", `{"choices":[],"warnings":[{"type":"UNSUITABLE_INPUT","message":"Not this."}]}`,
			model.Response{Finish: model.Blocked, Block: &model.Block{Kind: model.PromptFilter, Detail: "unsuitable_input"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readReply(200, []byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestDecodeFault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		kind       model.Kind
		status     int
		message    string
	}{
		{"OpenRouter's numbered error", `{"error":{"code":502,"message":"Upstream is down"}}`, model.Transient, 502, "Upstream is down"},
		{"OpenRouter's rate limit", `{"error":{"code":429,"message":"Slow down"}}`, model.RateLimited, 429, "Slow down"},
		{"OpenRouter's credit", `{"error":{"code":402,"message":"Add credits"}}`, model.Quota, 402, "Add credits"},
		{"an error in the choice", `{"choices":[{"finish_reason":"error","error":{"code":502,"message":"Broke off"},"message":{"content":"It"}}]}`, model.Transient, 502, "Broke off"},
		{"nothing of a provider that broke off behind a router", `{"choices":[{"finish_reason":"stop","native_finish_reason":"network_error","message":{"content":null}}]}`, model.Transient, 0, "broke off: network_error"},
		{"nothing and the finish reason of an error", `{"choices":[{"finish_reason":"error","message":{"content":""}}]}`, model.Transient, 0, "broke off: error"},
		{"the fault of the provider behind a router", `{"error":{"code":429,"message":"Provider returned error","metadata":{"provider_name":"X","raw":"too busy"}}}`, model.RateLimited, 429, "too busy"},
		{"a bare text", `{"error":"model is loading"}`, model.Transient, 0, "model is loading"},
		{"no choice, no filter", `{"choices":[],"prompt_filter_results":[{"content_filter_results":{"hate":{"filtered":false}}}]}`, model.Transient, 0, "no choice"},
		{"a message that is a number", `{"choices":[{"finish_reason":"stop","message":7}]}`, model.Transient, 0, "not have the form"},
		{"a choice of a stream", `{"choices":[{"finish_reason":"stop","delta":{"content":"Yes."}}]}`, model.Transient, 0, "no message"},
		{"a choice that is null", `{"choices":[null]}`, model.Transient, 0, "no message"},
		{"choices that are no list", `{"choices":{"index":7}}`, model.Transient, 0, "no choice"},
		{"a list", `[]`, model.Transient, 0, "no choice"},
		{"two values", `{}{}`, model.Transient, 0, "not JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readReply(200, []byte(tt.body))
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			if err.Kind != tt.kind || err.Status != tt.status || !strings.Contains(err.Message, tt.message) {
				t.Errorf("got %v with status %d and message %q", err.Kind, err.Status, err.Message)
			}
		})
	}
}

func TestFailed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		status  int
		body    string
		kind    model.Kind
		message string
	}{
		{"out of credit looks like a rate limit", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, model.Quota, "You exceeded"},
		{"xAI's wrong key", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***."}`, model.Denied, "Incorrect API key"},
		{"Groq's retired model", 400, `{"error":{"message":"The model is retired","type":"invalid_request_error","code":"model_decommissioned"}}`, model.NotFound, "retired"},
		{"FastAPI's list of faults", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}`, model.Invalid, "extra_forbidden"},
		{"Mistral's flat error", 401, `{"object":"error","message":"Unauthorized","type":"auth","code":1}`, model.Denied, "Unauthorized"},
		{"Google's list", 404, `[{"error":{"code":404,"message":"models/x is not found","status":"NOT_FOUND"}}]`, model.NotFound, "models/x is not found"},
		{"an invalid prompt that no one flagged", 400, `{"error":{"message":"Invalid prompt: too many messages","code":"invalid_prompt"}}`, model.Invalid, "too many"},
		{"a plain 403", 403, `{"error":{"message":"No access to this model","code":"permission-denied"}}`, model.Denied, "No access"},
		{"the allowance of a month", 429, `{"message":"This key is limited to 500 calls / month."}`, model.Quota, "500 calls"},
		{"the allowance of today", 429, `{"error":{"message":"All free calls for today are used."}}`, model.Quota, "for today"},
		{"the allowance of a minute", 429, `{"message":"This key is limited to 20 calls / minute."}`, model.RateLimited, "20 calls"},
		{"Google's allowance of a day", 429, `{"error":{"code":429,"message":"Enough.","details":[{"violations":[{"quotaId":"RequestsPerDayPerModel"}]}]}}`, model.Quota, "of a day"},
		{"a fault in a fault's message", 400, `{"message":"{\"status\":\"invalid_request\",\"guard\":[]}"}`, model.Invalid, "invalid_request"},
		{"a string in place of an object", 500, `"oops"`, model.Transient, "oops"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readReply(tt.status, []byte(tt.body))
			if err == nil {
				t.Fatalf("got %+v, want an error", got)
			}
			if err.Kind != tt.kind || err.Status != tt.status || !strings.Contains(err.Message, tt.message) {
				t.Errorf("got %v with status %d and message %q", err.Kind, err.Status, err.Message)
			}
		})
	}
}

// readReply gives the meaning of a reply, and an error as what it is.
func readReply(status int, body []byte) (model.Response, *model.Error) {
	response, err := New(ClientConfig{}, Fields{}).Read(model.Request{}, status, body)
	failed, _ := err.(*model.Error)
	return response, failed
}

// FuzzDecode checks what every outcome must be, whatever a server sends.
func FuzzDecode(f *testing.F) {
	for _, b := range blocks {
		f.Add(b.Status, []byte(b.Body))
	}
	f.Add(200, []byte(`{"choices":[{"finish_reason":"stop","message":{"content":[{"type":"thinking","thinking":[{"text":"Hm."}]},"a",1,null,{"type":"text","text":"<think>x</think>y"}]}}]}`))
	f.Add(200, []byte(`{"choices":[{"finish_reason":7,"message":[]}],"usage":{"prompt_tokens":-9}}`))
	f.Add(200, []byte(`{"provider":"X","choices":[{"finish_reason":"error","native_finish_reason":"SAFETY","provider_specific_fields":{"native_finish_reason":[]},"error":{"metadata":{"raw":"{\"error\":{\"metadata\":{\"raw\":\"x\"}}}"}}}]}`))
	f.Add(429, []byte(`[{"error":{"code":"429","detail":{"a":[1]},"metadata":{"reasons":[1,"x"]}}}]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		r, err := readReply(status, body)
		if err != nil {
			if !reflect.DeepEqual(r, model.Response{}) {
				t.Errorf("an error came with the response %+v", r)
			}
			if err.Kind == "" || err.RetryAfter < 0 {
				t.Errorf("the error is incomplete: %+v", err)
			}
			return
		}
		if (r.Finish == model.Blocked) != (r.Block != nil) {
			t.Errorf("finish %q with block %v", r.Finish, r.Block)
		}
		if r.Finish == "" || r.Block != nil && (r.Block.Kind == "" || r.Block.Detail == "") {
			t.Errorf("the response is incomplete: %+v", r)
		}
		if !utf8.ValidString(r.Text) || !utf8.ValidString(r.Thinking) {
			t.Errorf("the text is not UTF-8: %q %q", r.Text, r.Thinking)
		}
		if u := r.Usage; u.Input < 0 || u.Output < 0 || u.Reasoning < 0 || u.Cached < 0 {
			t.Errorf("negative usage: %+v", u)
		}
	})
}

func TestConfig(t *testing.T) {
	t.Parallel()
	seed := int64(3)
	type call struct {
		header http.Header
		body   string
	}
	calls := make(chan call, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		r.Body.Read(body)
		calls <- call{r.Header, string(body)}
		w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"Yes."}}]}`))
	}))
	t.Cleanup(srv.Close)
	c := New(ClientConfig{Provider: "azure", BaseURL: srv.URL, Key: "secret-1", AuthHeader: "api-key"},
		Fields{MaxTokens: MaxCompletionTokens, Seed: RandomSeed})
	_, err := c.Ask(t.Context(), model.Request{
		Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: "Hello."}},
		Params: model.Params{MaxTokens: 5, Seed: &seed, TopLogprobs: 4, Template: []byte(`{"guideline":"* No."}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := <-calls
	if got.header.Get("api-key") != "secret-1" || got.header.Get("Authorization") != "" {
		t.Errorf("got the header %v", got.header)
	}
	if want := `{"model":"m","messages":[{"role":"user","content":"Hello."}],"max_completion_tokens":5,"random_seed":3,"logprobs":true,"top_logprobs":4,"chat_template_kwargs":{"guideline":"* No."}}`; got.body != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
}

func TestNoKeyNoHeader(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, sent := r.Header["Authorization"]; sent {
			t.Errorf("an authorization was sent without a key: %v", r.Header)
		}
		w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"Yes."}}]}`))
	}))
	t.Cleanup(srv.Close)
	if _, err := New(ClientConfig{BaseURL: srv.URL}, Fields{}).Ask(t.Context(), model.Request{Model: "m"}); err != nil {
		t.Fatal(err)
	}
}

// TestBlockQuotesNoKey covers the one place where a provider's message becomes
// part of a response, and so of the store.
func TestBlockQuotesNoKey(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(403)
		w.Write([]byte(`{"error":"Content violates usage guidelines. Key: secret-1234"}`))
	}))
	t.Cleanup(srv.Close)
	resp, err := New(ClientConfig{BaseURL: srv.URL, Key: "secret-1234"}, Fields{}).Ask(t.Context(), model.Request{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "Content violates usage guidelines. Key: [key]"; resp.Text != want {
		t.Errorf("got %q, want %q", resp.Text, want)
	}
}

func TestBadBaseURL(t *testing.T) {
	t.Parallel()
	_, err := New(ClientConfig{Provider: "openai", BaseURL: "http://a b", Key: "secret-1234"}, Fields{}).Ask(t.Context(), model.Request{Model: "m"})
	e, ok := err.(*model.Error)
	if !ok || e.Kind != model.Invalid {
		t.Errorf("got %v, want an error of kind invalid", err)
	}
}

func TestUnencodable(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	_, err := New(ClientConfig{BaseURL: "http://127.0.0.1:1"}, Fields{}).Ask(t.Context(), model.Request{Model: "m", Params: model.Params{Temperature: &nan}})
	e, ok := err.(*model.Error)
	if !ok || e.Kind != model.Invalid {
		t.Errorf("got %v, want an error of kind invalid", err)
	}
}

// TestBrokenOffRefusal sends the start of a 400 that may have been a filter's.
func TestBrokenOffRefusal(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "500")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":{"message":"The response was`))
	}))
	defer server.Close()
	_, err := New(ClientConfig{Provider: "p", BaseURL: server.URL}, Fields{}).Ask(context.Background(), model.Request{
		Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: "x"}},
	})
	var failed *model.Error
	if !errors.As(err, &failed) || failed.Kind != model.Transient {
		t.Errorf("got %v, want a transient error", err)
	}
}
