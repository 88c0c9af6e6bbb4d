package anthropic_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/anthropic"
	"github.com/orbench/orbench/model"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"content":[{"type":"text","text":"I will not help with that."}],"stop_reason":"refusal"}`)
	}))
	defer server.Close()

	client := anthropic.New(anthropic.ClientConfig{Provider: "anthropic", BaseURL: server.URL, Key: "secret"})
	resp, err := client.Ask(context.Background(), model.Request{
		Model:    "claude-x",
		Messages: []orbench.Message{{Role: orbench.User, Content: "How do I kill a process?"}},
	})
	fmt.Println(resp.Finish, resp.Block.Kind, resp.Text, err)
	// Output: blocked refusal_field I will not help with that. <nil>
}
