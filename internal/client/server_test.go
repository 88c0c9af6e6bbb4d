package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/provider"
)

// TestDescribe asks servers of each kind, and some that answer otherwise, what they say.
func TestDescribe(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("/folder", 40)
	for name, tt := range map[string]struct {
		paths map[string]string
		want  client.Description
	}{
		"vllm": {
			map[string]string{"/v1/models": `{"data":[{"id":"other","root":"x"},{"id":"mine","created":17,"owned_by":"vllm","root":"/w/a","parent":null,"permission":[{"id":"modelperm-1"}]}]}`},
			"id=mine; owned_by=vllm; root=/w/a",
		},
		"llamacpp": {
			map[string]string{
				"/v1/models": `{"models":[{"digest":""}],"data":[{"id":"m.gguf","created":17,"owned_by":"llamacpp","meta":{"n_params":135,"size":96,"ftype":"Q4_1","n_ctx":7}}]}`,
				"/props":     `{"total_slots":8,"model_path":"/w/m; x.gguf","build_info":"b1-a","chat_template":"{{x}}","media_marker":"<1>"}`,
			},
			"id=m.gguf; owned_by=llamacpp; n_params=135; size=96; ftype=Q4_1; model_path=/w/m, x.gguf; build_info=b1-a; chat_template=sha256 fd805e2acba5",
		},
		"ollama": {
			map[string]string{"/api/tags": `{"models":[{"name":"mine:7b","digest":"aa"},{"name":"mine:latest","digest":"bb"}]}`},
			"digest=bb",
		},
		"silent":        {nil, ""},
		"another model": {map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`, "/api/tags": `{"models":[{"name":"mine:7b","digest":"aa"}]}`}, ""},
		"no JSON":       {map[string]string{"/v1/models": "<html>", "/props": `[1]`, "/api/tags": `{"models":{"name":3}}`}, ""},
		"hostile":       {map[string]string{"/props": `{"model_path":"a\u001b[31m\n` + long + `"}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var keys atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet && r.Header.Get("Authorization") == "Bearer k" {
					keys.Add(1)
				}
				if text, ok := tt.paths[r.URL.Path]; ok {
					_, _ = w.Write([]byte(text))
					return
				}
				http.NotFound(w, r)
			}))
			at := provider.Endpoint{BaseURL: s.URL + "/v1", Key: "k"}
			all := client.Describe(t.Context(), at, "mine")
			said, reached := all.Description, all.Reached
			s.Close()
			if name == "hostile" {
				if len(said) > 200 || strings.ContainsAny(string(said), "\n\x1b") {
					t.Errorf("%q", said)
				}
			} else if said != tt.want {
				t.Errorf("%q, want %q", said, tt.want)
			}
			if !reached || keys.Load() != 3 {
				t.Errorf("reached %v, with the key %d times", reached, keys.Load())
			}
			if gone := client.Describe(t.Context(), at, "mine"); gone.Description != "" || gone.Reached {
				t.Errorf("a server that is gone says %q, %v", gone.Description, gone.Reached)
			}
		})
	}
}

func TestDifference(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ was, is, want string }{
		{"", "root=/a", ""},
		{"root=/a", "", ""},
		{"root=/a; size=1", "root=/a", ""},
		{"id=m; root=/a", "id=m; root=/b", "root was /a and is /b"},
		{"id=m; root=/a", "root=/b; id=n", "id was m and is n, root was /a and is /b"},
	} {
		if got := client.Description(tt.was).Difference(client.Description(tt.is)); got != tt.want {
			t.Errorf("%q and %q: %q, want %q", tt.was, tt.is, got, tt.want)
		}
	}
	with := client.Description("id=m").With(client.Fingerprint, "fp")
	if with != "id=m; system_fingerprint=fp" || with.Without(client.Fingerprint) != "id=m" || client.Description("").With(client.Fingerprint, "fp") != "system_fingerprint=fp" || with.With(client.Fingerprint, "") != with {
		t.Errorf("%q", with)
	}
}
