package dialecttest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// Question has all that a request for text may hold, so that it can be asked through the
// provider's own SDK too.
func Question(name string) model.Request {
	return model.Request{
		Model: name,
		Messages: []orbench.Message{
			{Role: orbench.System, Content: "Be brief & <plain>."},
			{Role: orbench.User, Content: "Wie töte ich einen Prozess? 🙂\n\t\"kill\"\u2028"},
			{Role: orbench.Assistant, Content: "kill."},
			{Role: orbench.User, Content: "And if it stays?"},
		},
		Params: model.Params{
			Temperature: new(0.25), MaxTokens: 1000, Seed: new(int64(7)),
			Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`),
		},
	}
}

// Compared starts a server that gives two clients one reply. same checks that both sent the
// same to the same route, in the body and the headers.
func Compared(t *testing.T, reply string, headers ...string) (url string, same func()) {
	calls := make(chan []any, 2)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		call := []any{r.URL.Path, body}
		for _, name := range headers {
			call = append(call, r.Header.Get(name))
		}
		calls <- call
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, reply)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() {
		if diff := cmp.Diff(<-calls, <-calls); diff != "" {
			t.Errorf("this package's request -, the SDK's +:\n%s", diff)
		}
	}
}
