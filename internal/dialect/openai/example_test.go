package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/openai"
	"github.com/orbench/orbench/model"
)

func Example() {
	// A server that speaks the dialect, such as llama.cpp's or vLLM's.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"model":"small-1","choices":[{"finish_reason":"stop","message":{"content":"<think>A process.</think>Use kill."}}],
			"usage":{"prompt_tokens":9,"completion_tokens":8}}`)
	}))
	defer server.Close()

	client := openai.New(openai.ClientConfig{Provider: "llamacpp", BaseURL: server.URL + "/v1"}, openai.Fields{})
	resp, err := client.Ask(context.Background(), model.Request{
		Provider: "llamacpp",
		Model:    "small",
		Messages: []orbench.Message{{Role: orbench.User, Content: "How do I kill a process?"}},
		Params:   model.Params{MaxTokens: 100},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(resp.Text, resp.Finish, resp.Model, resp.Usage.Output)
	// Output: Use kill. stop small-1 8
}

func ExampleNew_blocked() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"code":"content_filter","message":"The prompt was filtered."}}`)
	}))
	defer server.Close()

	client := openai.New(openai.ClientConfig{Provider: "azure", BaseURL: server.URL, Key: "secret", AuthHeader: "api-key"}, openai.Fields{})
	resp, err := client.Ask(context.Background(), model.Request{Model: "mine"})
	fmt.Println(resp.Finish, resp.Block.Kind, resp.Text, err)
	// Output: blocked prompt_filter The prompt was filtered. <nil>
}

func ExampleNew_error() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"error":{"message":"Slow down."}}`)
	}))
	defer server.Close()

	client := openai.New(openai.ClientConfig{Provider: "groq", BaseURL: server.URL, Key: "secret"}, openai.Fields{})
	_, err := client.Ask(context.Background(), model.Request{Model: "m"})
	e := err.(*model.Error)
	fmt.Println(e)
	fmt.Println(e.Retryable(), e.RetryAfter)
	// Output:
	// groq/m: rate limited (HTTP 429): Slow down.
	// true 7s
}
