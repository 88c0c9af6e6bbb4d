package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// exchanged is a server of one's own whose weights are exchanged behind its address. It speaks
// the protocol of its kind, and answers with 120 words that follow from its weights and from
// the words before them.
type exchanged struct {
	mu            sync.Mutex
	kind, weights string
	// noise is how often a word is another than the likeliest, as of batching.
	noise float64
	// calls counts completions.
	calls int
}

// servers are those of each story, by its folder.
var servers sync.Map

// ownServer starts a server of a kind with weights, and puts its address into $OWN; called again
// it exchanges them: own KIND WEIGHTS [NOISE]. Kinds are vllm, llamacpp, ollama and fingerprint,
// of which each tells its weights, and silent, which does not.
func ownServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: own KIND WEIGHTS [NOISE]")
	}
	found, started := servers.LoadOrStore(ts.Getenv("WORK"), &exchanged{})
	s := found.(*exchanged)
	s.mu.Lock()
	s.kind, s.weights, s.noise, s.calls = args[0], args[1], 0, 0
	if len(args) > 2 {
		_, err := fmt.Sscan(args[2], &s.noise)
		ts.Check(err)
	}
	s.mu.Unlock()
	if !started {
		server := httptest.NewServer(s)
		ts.Defer(server.Close)
		ts.Setenv("OWN", server.URL+"/v1")
	}
}

// ownAsked holds the completions that the server was asked since its weights were exchanged to a
// number: ownasked N.
func ownAsked(ts *testscript.TestScript, neg bool, args []string) {
	found, _ := servers.Load(ts.Getenv("WORK"))
	s := found.(*exchanged)
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := fmt.Sprint(s.calls); len(args) != 1 || got != args[0] {
		ts.Fatalf("%s calls, want %v", got, args)
	}
}

func (s *exchanged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	say := func(format string, args ...any) { fmt.Fprintf(w, format, args...) }
	switch {
	case r.URL.Path == "/v1/chat/completions" && err == nil:
		s.calls++
		s.complete(w, body)
	case r.URL.Path == "/v1/models" && s.kind == "vllm":
		// The time is another at each start.
		say(`{"object":"list","data":[{"id":"mine","object":"model","created":%d,"owned_by":"vllm","root":"/checkpoints/%s","parent":null,"max_model_len":4096,"permission":[{"id":"modelperm-%x","created":%[1]d}]}]}`, rand.Int32(), s.weights, rand.Int64())
	case r.URL.Path == "/props" && s.kind == "llamacpp":
		say(`{"default_generation_settings":{"n_ctx":4096},"total_slots":%d,"model_path":"/models/%s.gguf","build_info":"b7000-abc","chat_template":"{{ messages }}","media_marker":"<__media_%x__>"}`, 1+rand.IntN(8), s.weights, rand.Int64())
	case r.URL.Path == "/v1/models" && s.kind == "llamacpp":
		say(`{"object":"list","data":[{"id":"mine","created":%d,"owned_by":"llamacpp","meta":{"n_params":134515008,"size":96576768,"n_ctx":2048}}]}`, rand.Int32())
	case r.URL.Path == "/api/tags" && s.kind == "ollama":
		digest := fnv.New64a()
		digest.Write([]byte(s.weights))
		say(`{"models":[{"name":"mine:latest","model":"mine:latest","modified_at":"2026-11-%02dT00:00:00Z","size":42,"digest":"%064x"}]}`, 1+rand.IntN(28), digest.Sum64())
	default:
		http.NotFound(w, r)
	}
}

func (s *exchanged) complete(w http.ResponseWriter, body []byte) {
	var asked struct {
		Messages  []struct{ Content string }
		MaxTokens int `json:"max_tokens"`
	}
	if err := json.Unmarshal(body, &asked); err != nil || len(asked.Messages) == 0 {
		http.Error(w, `{"error":{"message":"no messages"}}`, http.StatusBadRequest)
		return
	}
	text := writtenBy(s.weights, asked.Messages[len(asked.Messages)-1].Content, min(120, asked.MaxTokens), func() bool { return rand.Float64() < s.noise })
	fingerprint := ""
	if s.kind == "fingerprint" {
		fingerprint = `"system_fingerprint":"fp_` + s.weights + `",`
	}
	n := len(strings.Fields(text))
	fmt.Fprintf(w, `{"id":"x","model":"mine",%s"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, fingerprint, text, n)
}

// writtenBy is a text of so many words, each of which follows from the weights and the words
// before it. Where other says so the second likeliest is taken. Weights that begin with those
// of a checkpoint and a plus are fine-tuned from it: two words of a hundred are others.
func writtenBy(weights, prompt string, words int, other func() bool) string {
	syllables := strings.Fields("ba do fi gu ha je ki lo mu na pe ri so ta vu we")
	base, _, tuned := strings.Cut(weights, "+")
	text := "Sure, here is what you asked for:"
	for range words - 7 {
		next := func(of string) uint64 {
			h := fnv.New64a()
			_, _ = io.WriteString(h, of+"\x00"+prompt+"\x00"+text)
			// The low bits of the hash alone are much alike for texts with one end.
			x := h.Sum64()
			return x ^ x>>29 ^ x>>47
		}
		pick := next(base)
		if tuned && next(weights)%100 < 2 || other() {
			pick += 0x101
		}
		text += " " + syllables[pick%16] + syllables[pick>>8%16]
	}
	return text
}
