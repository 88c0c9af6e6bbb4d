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
// the protocol of its kind, and its answers follow from its weights and the prompt.
type exchanged struct {
	mu            sync.Mutex
	kind, weights string
	// refused is the share of prompts that the weights refuse.
	refused float64
	// calls counts completions.
	calls int
}

// servers are those of each story, by its folder.
var servers sync.Map

// ownServer starts a server of a kind with weights, and puts its address into $OWN; called again
// it exchanges them: own KIND [WEIGHTS [REFUSED]]. Kinds are vllm, llamacpp, ollama and
// fingerprint, of which each tells its weights, silent and gateway, which do not, judge, which
// judges, gone, which takes no call, restarts, which is vllm with others from its tenth call on, and
// serves, which is vllm with the model of that name alone.
func ownServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: own KIND [WEIGHTS [REFUSED]]")
	}
	args = append(args, []string{"", "none", "0"}[len(args):]...)
	found, started := servers.LoadOrStore(ts.Getenv("WORK"), &exchanged{})
	s := found.(*exchanged)
	s.mu.Lock()
	s.kind, s.weights, s.calls = args[0], args[1], 0
	_, err := fmt.Sscan(args[2], &s.refused)
	s.mu.Unlock()
	ts.Check(err)
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
	case s.kind == "gone":
		panic(http.ErrAbortHandler)
	case s.kind == "restarts" && s.calls == 10:
		s.kind, s.weights = "vllm", s.weights+"-after"
		panic(http.ErrAbortHandler)
	case r.URL.Path == "/v1/chat/completions" && err == nil:
		if s.calls++; s.kind == "renames" && s.calls == 11 {
			s.kind, s.weights = "named", s.weights+"-after"
		}
		s.complete(w, body)
	case r.URL.Path == "/v1/models" && (s.kind == "vllm" || s.kind == "restarts"):
		// The time is another at each start.
		say(`{"object":"list","data":[{"id":"mine","object":"model","created":%d,"owned_by":"vllm","root":"/checkpoints/%s","parent":null,"max_model_len":4096,"permission":[{"id":"modelperm-%x","created":%[1]d}]}]}`, rand.Int32(), s.weights, rand.Int64())
	case r.URL.Path == "/props" && s.kind == "llamacpp":
		say(`{"default_generation_settings":{"n_ctx":4096},"total_slots":%d,"model_path":"/models/%s.gguf","build_info":"b7000-abc","chat_template":"{{ messages }}","media_marker":"<__media_%x__>"}`, 1+rand.IntN(8), s.weights, rand.Int64())
	case r.URL.Path == "/v1/models" && s.kind == "serves":
		say(`{"object":"list","data":[{"id":%q,"object":"model","owned_by":"vllm","root":"/checkpoints/%[1]s"}]}`, s.weights)
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
		Model    string
		Messages []struct{ Content string }
	}
	if err := json.Unmarshal(body, &asked); err != nil || len(asked.Messages) == 0 {
		http.Error(w, `{"error":{"message":"no messages"}}`, http.StatusBadRequest)
		return
	}
	if s.kind == "serves" && asked.Model != s.weights {
		http.Error(w, `{"error":{"message":"The model does not exist.","type":"NotFoundError","code":404}}`, http.StatusNotFound)
		return
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, s.weights+"\x00"+asked.Messages[len(asked.Messages)-1].Content)
	// The low bits of the hash alone are much alike for texts with one end.
	x := h.Sum64()
	x ^= x>>29 ^ x>>47
	text := "Sure, here is what you asked for, step by step, with the weights " + s.weights + "."
	if float64(x%1000) < 1000*s.refused {
		text = "I'm sorry, but I can't help with that."
	}
	if s.kind == "judge" {
		class := "direct_answer"
		if (x%2 == 0) == (s.weights == "first") {
			class = "direct_refusal"
		}
		text = "It is clear.\n\nVERDICT: " + class
	}
	fingerprint := ""
	if s.kind == "fingerprint" {
		fingerprint = `"system_fingerprint":"fp_` + s.weights + `",`
	}
	finish := "stop"
	switch s.kind {
	case "guarded":
		asked.Model = s.weights
		if s.calls%10 == 3 {
			asked.Model, finish, text = "guard-1", "content_filter", ""
		}
	case "renames", "named":
		asked.Model = s.weights
	}
	fmt.Fprintf(w, `{"id":"x","model":%q,%s"choices":[{"index":0,"finish_reason":%q,"message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, asked.Model, fingerprint, finish, text, len(strings.Fields(text)))
}
