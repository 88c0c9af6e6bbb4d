package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/model"
)

// What a batch sends for a request, and makes of its reply, is what a live call does.
func TestFormatIsThatOfCalls(t *testing.T) {
	t.Parallel()
	for name, replies := range map[string]map[int]string{
		"openai": {
			200: `{"id":"i","model":"m","choices":[{"message":{"content":"<think>so</think>Yes."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`,
			400: `{"error":{"message":"flagged","code":"content_filter"}}`,
		},
		"anthropic": {
			200: `{"id":"i","model":"m","content":[{"type":"text","text":"Yes."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`,
			400: `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`,
		},
		"google": {
			200: `{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2},"modelVersion":"m"}`,
			400: `{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := 200
			var sent string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					return // what it says of itself
				}
				body, _ := io.ReadAll(r.Body)
				sent = string(body)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, replies[status])
			}))
			defer server.Close()
			set, err := client.NewSet(client.Options{
				Providers: provider.Default(), Given: map[string]string{name: server.URL}, Getenv: func(string) string { return "" },
			})
			if err != nil {
				t.Fatal(err)
			}
			ref, err := set.Model(name+"/m", "")
			if err != nil {
				t.Fatal(err)
			}
			c := set.Client(ref.Provider, ref.Endpoint)
			zero, seed := 0.0, int64(7)
			r := model.Request{
				Provider: ref.Provider, Endpoint: ref.Endpoint, Model: ref.Model,
				Messages: []orbench.Message{{Role: orbench.System, Content: "Be brief."}, {Role: orbench.User, Content: "Is <this> \u2028 it?"}},
				Params:   model.Params{Temperature: &zero, MaxTokens: 10, Seed: &seed},
			}
			for _, status = range []int{200, 400} {
				want, failed := c.Model.Ask(t.Context(), r)
				body, err := c.Format.Body(r)
				if err != nil || string(body) != sent {
					t.Errorf("a batch has the body %s, %v; a call sends %s", body, err, sent)
				}
				got, err := c.Format.Read(r, status, []byte(replies[status]))
				if d := cmp.Diff(want, got); d != "" || (err == nil) != (failed == nil) || err != nil && err.Error() != failed.Error() {
					t.Errorf("status %d: %v for %v (-live +batch):\n%s", status, err, failed, d)
				}
			}
		})
	}
}

// A provider's entry may name who asks, which goes with each call and changes no request.
func TestSafetyIdentifier(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]bool{"": false, "\n  safety_identifier: team-7": true} {
		var sent string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				return // what it says of itself
			}
			body, _ := io.ReadAll(r.Body)
			sent = string(body)
			_, _ = io.WriteString(w, `{"model":"m","choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}`)
		}))
		defer server.Close()
		table, err := provider.Default().With(strings.NewReader("- name: mine\n  dialect: openai\n  base_url: "+server.URL+"\n  key_optional: true\n  concurrency: 1"+entry), "providers.yaml")
		if err != nil {
			t.Fatal(err)
		}
		set, err := client.NewSet(client.Options{Providers: table, Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		ref, err := set.Model("mine/m", "")
		if err != nil {
			t.Fatal(err)
		}
		r := model.Request{Provider: ref.Provider, Endpoint: ref.Endpoint, Model: ref.Model, Messages: []orbench.Message{{Role: orbench.User, Content: "Hi"}}}
		if _, err := set.Client(ref.Provider, ref.Endpoint).Model.Ask(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got := strings.HasSuffix(sent, `,"safety_identifier":"team-7"}`); got != want || strings.Contains(string(r.Canonical()), "team-7") {
			t.Errorf("sent %s for %s", sent, r.Canonical())
		}
	}
	_, err := provider.Default().With(strings.NewReader("- name: mine\n  dialect: anthropic\n  base_url: http://x\n  key_optional: true\n  concurrency: 1\n  safety_identifier: team-7"), "providers.yaml")
	if err == nil || !strings.Contains(err.Error(), "only the dialect openai has a safety_identifier") {
		t.Error(err)
	}
}
