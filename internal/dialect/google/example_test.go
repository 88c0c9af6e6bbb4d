package google_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/google"
	"github.com/orbench/orbench/model"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"promptFeedback":{"blockReason":"SAFETY"},"modelVersion":"gemini-x-001"}`)
	}))
	defer server.Close()

	client := google.New(google.ClientConfig{Provider: "google", BaseURL: server.URL, Key: "secret"})
	resp, err := client.Ask(context.Background(), model.Request{
		Model:    "gemini-x",
		Messages: []orbench.Message{{Role: orbench.User, Content: "How do I kill a process?"}},
	})
	fmt.Println(resp.Finish, resp.Block.Kind, resp.Block.Detail, resp.Model, err)
	// Output: blocked prompt_filter SAFETY gemini-x-001 <nil>
}
