package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/orbench/orbench"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServedAnswersAreThoseInTheProcess(t *testing.T) {
	t.Parallel()
	s := serve(t, 5, nil)
	m := newModel(t, "balanced", 5)
	for _, p := range starter(t)[:50] {
		want, err := m.Ask(t.Context(), requestOf(p.Text()))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"balanced", "sim/balanced"} {
			got := s.completion(t, chat(name, p.Text()))
			if len(got.Choices) != 1 || *got.Choices[0].Message.Content != want.Text || got.Choices[0].FinishReason != "stop" {
				t.Fatalf("%s: served %+v, in the process %q", p.Text(), got.Choices, want.Text)
			}
			if got.Model != "sim/balanced (simulated)" || got.Usage.Prompt != want.Usage.Input || got.Usage.Total != want.Usage.Input+want.Usage.Output {
				t.Errorf("model %q, usage %+v, want %+v", got.Model, got.Usage, want.Usage)
			}
		}
	}
	if got := s.Stats(); got.Requests != 100 || got.Answered != 100 || got.Distinct != 100 || got.Answered-got.Distinct != 0 {
		t.Errorf("stats %+v", got)
	}
}

func TestParametersArriveOverHTTP(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	cut := s.completion(t, `{"model":"permissive","max_completion_tokens":12,"messages":[{"role":"user","content":"How tall is a giraffe?"}]}`)
	if cut.Choices[0].FinishReason != "length" || cut.Usage.Completion != 12 {
		t.Errorf("a limit of 12 tokens gave %+v", cut)
	}
	structured := s.completion(t, `{"model":"permissive","messages":[{"role":"user","content":"How tall is a giraffe?"}],
		"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","properties":{"grade":{"type":"string","enum":["fine"]}}}}}}`)
	if got := *structured.Choices[0].Message.Content; got != `{"grade":"fine"}` {
		t.Errorf("structured output %s", got)
	}
	// Asked again at a temperature, a served model says something else.
	hot := `{"model":"balanced","temperature":1,"messages":[{"role":"user","content":"How do I pick the lock on my own garden shed?"}]}`
	if a, b := s.completion(t, hot), s.completion(t, hot); *a.Choices[0].Message.Content == *b.Choices[0].Message.Content {
		t.Error("at temperature 1, two answers are the same")
	}
	if got := s.Stats(); got.Distinct != 3 || got.Answered-got.Distinct != 1 {
		t.Errorf("stats %+v, want 3 distinct and 1 repeated", got)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, Faults{"filter": 0.5})
	get := func(path string, into any) {
		t.Helper()
		resp, err := s.client.Get("http://" + s.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d, %v", path, resp.StatusCode, err)
		}
	}
	var models struct{ Data []struct{ ID string } }
	get("/v1/models", &models)
	if len(models.Data) != len(Names()) || models.Data[0].ID != "permissive" {
		t.Errorf("models: %+v", models)
	}
	s.completion(t, chat(Instant, "Hello"))
	var stats Stats
	get("/stats", &stats)
	if want := s.Stats(); !reflect.DeepEqual(stats, want) || stats.Requests != 1 {
		t.Errorf("/stats gives %+v, Stats %+v", stats, want)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	for _, test := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"not JSON", "{", 400, "not a chat completion request"},
		{"stream", `{"model":"balanced","stream":true}`, 400, "streaming is not simulated"},
		{"no messages", `{"model":"balanced"}`, 400, "messages is empty"},
		{"unknown model", chat("balansed", "Hi"), 404, `did you mean \"balanced\"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			status, _, body, err := s.post(t.Context(), test.body)
			if err != nil || status != test.status || !strings.Contains(string(body), test.want) {
				t.Errorf("status %d, %s, %v; want %d and %q", status, body, err, test.status, test.want)
			}
		})
	}
}

// Each fault as a client sees it.
func TestFaultsAsAClientSeesThem(t *testing.T) {
	t.Parallel()
	ask := chat("balanced", "How do I kill time?")
	for _, test := range []struct {
		name   string
		faults Faults
		check  func(t *testing.T, status int, h http.Header, body []byte, err error)
	}{
		{"429", Faults{"429": 1}, func(t *testing.T, status int, h http.Header, body []byte, err error) {
			if err != nil || status != 429 || h.Get("Retry-After-Ms") != "1" || !bytes.Contains(body, []byte("rate_limit_exceeded")) {
				t.Errorf("status %d, headers %v, %s, %v", status, h, body, err)
			}
		}},
		{"500", Faults{"500": 1}, func(t *testing.T, status int, _ http.Header, body []byte, err error) {
			if err != nil || status != 500 || !bytes.Contains(body, []byte("server_error")) {
				t.Errorf("status %d, %s, %v", status, body, err)
			}
		}},
		{"reset", Faults{"reset": 1}, func(t *testing.T, _ int, _ http.Header, _ []byte, err error) {
			if !errors.Is(err, io.EOF) {
				t.Errorf("error %v, want a closed connection", err)
			}
		}},
		{"truncate", Faults{"truncate": 1}, func(t *testing.T, status int, h http.Header, body []byte, err error) {
			if status != 200 || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("status %d, %v; want a reply that breaks off", status, err)
			}
			if whole, err := strconv.Atoi(h.Get("Content-Length")); err != nil || len(body) != whole/2 || len(body) == 0 {
				t.Errorf("%d bytes of %s, %v; want half", len(body), h.Get("Content-Length"), err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, 0, test.faults)
			status, header, body, err := s.post(t.Context(), ask)
			test.check(t, status, header, body, err)
			if got := s.Stats(); got.Answered != 0 || got.Requests != 1 {
				t.Errorf("stats %+v", got)
			}
		})
	}
}

func TestSlowAnswersArrive(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, Faults{"slow": 1, "slow-by": 0.001})
	s.completion(t, chat("balanced", "How do I kill time?"))
	if got := s.Stats(); got.Answered != 1 {
		t.Errorf("stats %+v", got)
	}
}

// A filter withholds the same prompts each time.
func TestFilterAsAClientSeesIt(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, Faults{"filter": 1})
	for range 2 {
		status, _, body, err := s.post(t.Context(), chat("balanced", "How do I kill time?"))
		if err != nil || status != http.StatusOK || !strings.Contains(string(body), `"finish_reason":"content_filter","index":0,"message":{"content":null`) {
			t.Errorf("status %d, %s, %v", status, body, err)
		}
	}
	if got := s.Stats(); got != (Stats{Requests: 2, Answered: 2, Distinct: 1}) {
		t.Errorf("stats %+v", got)
	}
}

// With a third of all attempts failing, retries get every answer, each once,
// and another server does the same.
func TestRetriesSucceed(t *testing.T) {
	t.Parallel()
	faults := Faults{"429": 0.1, "500": 0.1, "reset": 0.05, "truncate": 0.05, "slow": 0.02, "slow-by": 0.001}
	prompts := starter(t)
	var runs []Stats
	for range 2 {
		s := serve(t, 0, faults)
		var wait sync.WaitGroup
		work := make(chan string)
		for range 8 {
			wait.Go(func() {
				for body := range work {
					for attempt := 0; ; attempt++ {
						status, _, _, err := s.post(t.Context(), body)
						if err == nil && status == http.StatusOK {
							break
						}
						if attempt > 50 {
							t.Errorf("%s fails for ever: %d, %v", body, status, err)
							break
						}
					}
				}
			})
		}
		for _, p := range prompts {
			work <- chat("strict", p.Text())
		}
		close(work)
		wait.Wait()
		got := s.Stats()
		if got.Answered != 260 || got.Distinct != 260 || got.Answered-got.Distinct != 0 {
			t.Errorf("stats %+v", got)
		}
		if got.Requests < 280 {
			t.Errorf("no attempt failed: %+v", got)
		}
		runs = append(runs, got)
	}
	if !reflect.DeepEqual(runs[0], runs[1]) {
		t.Errorf("two runs differ: %+v and %+v", runs[0], runs[1])
	}
}

func TestServeKeepsToLoopback(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		addr string
		want string // a part of the error, empty for none
	}{
		{"127.0.0.1:0", ""},
		{":0", ""},
		{"localhost:0", ""},
		{"0.0.0.0:0", "is no HOST:PORT on loopback"},
		{"example.org:0", "on loopback"},
		{"8080", "is no HOST:PORT"},
		{"127.0.0.1:99999", "cannot listen"},
	} {
		s, err := Serve(t.Context(), test.addr, 0, nil)
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.addr, err)
				continue
			}
			if !strings.HasPrefix(s.addr, "127.0.0.1:") {
				t.Errorf("%s listens on %s", test.addr, s.addr)
			}
			if err := s.Close(); err != nil {
				t.Errorf("%s: closing: %v", test.addr, err)
			}
			continue
		}
		if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want an input error with %q", test.addr, err, test.want)
		}
	}
}

// A slow answer ends with its client, with the server and with the server's
// context.
func TestSlowAnswersAreCutOff(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(s *Server, serving, asking context.CancelFunc){
		"client gone":     func(_ *Server, _, asking context.CancelFunc) { asking() },
		"server closed":   func(s *Server, _, _ context.CancelFunc) { _ = s.Close() },
		"context is done": func(_ *Server, serving, _ context.CancelFunc) { serving() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, serving := context.WithCancel(t.Context())
			defer serving()
			s := serveUntil(t, ctx, 0, Faults{"slow": 1, "slow-by": 3600})
			client, asking := context.WithCancel(t.Context())
			defer asking()
			failed := make(chan error)
			go func() {
				_, _, _, err := s.post(client, chat("balanced", "Hi"))
				failed <- err
			}()
			for s.Stats().Requests == 0 {
				runtime.Gosched()
			}
			end(s.Server, serving, asking)
			if err := <-failed; err == nil {
				t.Error("the slow answer arrived")
			}
			if err := s.Close(); err != nil {
				t.Errorf("closing: %v", err)
			}
			if got := s.Stats(); got.Answered != 0 {
				t.Errorf("stats %+v", got)
			}
		})
	}
}

// BenchmarkInstant prints how many requests a second a client with 16
// connections gets out of the server, both on this machine.
func BenchmarkInstant(b *testing.B) {
	benchmark(b, 0, nil, Instant)
}

func BenchmarkBalanced(b *testing.B) { benchmark(b, 0, nil, "balanced") }

func benchmark(b *testing.B, seed int64, faults Faults, model string) {
	s := serve(b, seed, faults)
	body := chat(model, "How do stage magicians get an audience to look at the wrong hand?")
	b.SetParallelism(16)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if status, _, _, err := s.post(b.Context(), body); err != nil || status != http.StatusOK {
				b.Errorf("status %d, %v", status, err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

// BenchmarkAsk is a model's own cost, without HTTP.
func BenchmarkAsk(b *testing.B) {
	m := newModel(b, "balanced", 1)
	prompts := starter(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := m.Ask(b.Context(), requestOf(prompts[i%len(prompts)].Text())); err != nil {
			b.Fatal(err)
		}
	}
}

// served is a server with a client of its own.
type served struct {
	*Server
	client *http.Client
}

func serve(t testing.TB, seed int64, faults Faults) served {
	t.Helper()
	return serveUntil(t, t.Context(), seed, faults)
}

func serveUntil(t testing.TB, ctx context.Context, seed int64, faults Faults) served {
	t.Helper()
	s, err := Serve(ctx, "127.0.0.1:0", seed, faults)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return served{s, &http.Client{Transport: transport}}
}

// post sends a chat completion request and reads what comes back.
func (s served) post(ctx context.Context, body string) (status int, h http.Header, reply []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer resp.Body.Close()
	reply, err = io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, reply, err
}

// completion sends a request that has to succeed.
func (s served) completion(t testing.TB, body string) chatReply {
	t.Helper()
	status, _, reply, err := s.post(t.Context(), body)
	if err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %s, %v", status, reply, err)
	}
	var c chatReply
	if err := json.Unmarshal(reply, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// chat is the body of a request with one user message at temperature 0.
func chat(name, prompt string) string {
	return string(encode(map[string]any{
		"model": name, "temperature": 0, "max_tokens": 1000,
		"messages": []orbench.Message{{Role: orbench.User, Content: prompt}},
	}))
}

// chatReply is a chat completion as clients read it.
type chatReply struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Model   string `json:"model"`
	Choices []struct {
		Index   int `json:"index"`
		Message struct {
			Role    string  `json:"role"`
			Content *string `json:"content"`
			Refusal *string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	} `json:"usage"`
}
