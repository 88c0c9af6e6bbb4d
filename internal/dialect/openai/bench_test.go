//go:build sdk

package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// instantServer answers every call at once with the same completion of about
// 1 KB, the size of a short real one.
func instantServer(tb testing.TB) string {
	body, err := json.Marshal(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-2026-01-01",
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "logprobs": nil,
			"message": map[string]any{"role": "assistant", "refusal": nil, "content": string(bytes.Repeat([]byte("A short plain answer.\n"), 30))},
		}},
		"usage": map[string]any{
			"prompt_tokens": 20, "completion_tokens": 150, "total_tokens": 170,
			"prompt_tokens_details":     map[string]any{"cached_tokens": 0, "audio_tokens": 0},
			"completion_tokens_details": map[string]any{"reasoning_tokens": 0, "audio_tokens": 0},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	}))
	tb.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

const benchPrompt = "How do I kill a process that no longer responds, without losing the files that it has open?"

// benchClient is given to all three contestants, so that they differ in their
// own code alone.
func benchClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}}
}

// bare is the least that asks a question: marshal, post, decode.
func bare(base string) func(context.Context) (string, error) {
	client := benchClient()
	temperature := 0.0
	return func(ctx context.Context) (string, error) {
		body, err := json.Marshal(request{
			Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: benchPrompt}},
			Temperature: &temperature, MaxTokens: 1000,
		})
		if err != nil {
			return "", err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer k")
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		var out struct {
			Choices []struct {
				Message struct {
					Content string `json:"content"`
				} `json:"message"`
			} `json:"choices"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
			return "", err
		}
		// The decoder stops at the closing brace; the connection is kept only
		// when the body was read to its end.
		io.Copy(io.Discard, resp.Body)
		return out.Choices[0].Message.Content, nil
	}
}

// ours asks through a Client.
func ours(base string) func(context.Context) (string, error) {
	c := New(ClientConfig{Provider: "openai", BaseURL: base, Key: "k", HTTPClient: benchClient()}, Fields{})
	temperature := 0.0
	return func(ctx context.Context) (string, error) {
		resp, err := c.Ask(ctx, model.Request{
			Provider: "openai", Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: benchPrompt}},
			Params: model.Params{Temperature: &temperature, MaxTokens: 1000},
		})
		return resp.Text, err
	}
}

// official asks through OpenAI's SDK.
func official(base string) func(context.Context) (string, error) {
	c := sdk.NewClient(option.WithBaseURL(base), option.WithAPIKey("k"), option.WithMaxRetries(0), option.WithHTTPClient(benchClient()))
	return func(ctx context.Context) (string, error) {
		resp, err := c.Chat.Completions.New(ctx, sdk.ChatCompletionNewParams{
			Model:       "m",
			Messages:    []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage(benchPrompt)},
			Temperature: sdk.Float(0),
			MaxTokens:   sdk.Int(1000),
		})
		if err != nil {
			return "", err
		}
		return resp.Choices[0].Message.Content, nil
	}
}

// contestants are compared against the same server.
var contestants = []struct {
	name string
	ask  func(base string) func(context.Context) (string, error)
}{
	{"bare", bare},
	{"client", ours},
	{"sdk", official},
}

// BenchmarkAsk times one call of each contestant, 32 at once.
func BenchmarkAsk(b *testing.B) {
	base := instantServer(b)
	for _, c := range contestants {
		b.Run(c.name, func(b *testing.B) {
			ask := c.ask(base)
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if text, err := ask(context.Background()); err != nil || text == "" {
						b.Errorf("got %q, %v", text, err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkRatio runs the contestants by turns, 500 calls each, and reports the
// rates of the client and of the SDK as shares of the bare loop's. It is what
// the choice of net/http in this package rests on.
func BenchmarkRatio(b *testing.B) {
	const workers, calls = 32, 500
	base := instantServer(b)
	spent := make([]time.Duration, len(contestants))
	asks := make([]func(context.Context) (string, error), len(contestants))
	for i, c := range contestants {
		asks[i] = c.ask(base)
	}
	round := func(ask func(context.Context) (string, error)) time.Duration {
		var left atomic.Int64
		left.Store(calls)
		var wg sync.WaitGroup
		start := time.Now()
		for range workers {
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					if _, err := ask(context.Background()); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		return time.Since(start)
	}
	for _, ask := range asks {
		round(ask) // opens the connections
	}
	b.ResetTimer()
	for n := range b.N {
		for i := range asks {
			k := (i + n) % len(asks) // no one always follows the same other
			spent[k] += round(asks[k])
		}
	}
	for i, c := range contestants {
		b.ReportMetric(float64(calls*b.N)/spent[i].Seconds(), c.name+"-calls/s")
		if i > 0 {
			b.ReportMetric(spent[0].Seconds()/spent[i].Seconds(), fmt.Sprintf("%s/bare", c.name))
		}
	}
}
