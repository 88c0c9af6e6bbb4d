package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// thing is the number that the last prompt of a request asks about.
var thing = regexp.MustCompile(`thing ([0-9]+)`)

// fallback starts a server that speaks the messages protocol of Anthropic and that of OpenAI's
// chat, and puts its address into $FALLBACK: fallback EVERY NAME [OWN]. What is asked about every
// so many things is answered under the name NAME, and complied with; of the rest the model
// that is asked refuses what is even, under its own name or under OWN. Asked as a guard it sees a refusal of each even thing.
func fallback(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: fallback EVERY NAME [OWN]")
	}
	every, err := strconv.Atoi(args[0])
	ts.Check(err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var asked struct{ Model string }
		about := thing.FindAllSubmatch(body, -1)
		if err != nil || json.Unmarshal(body, &asked) != nil || len(about) == 0 {
			http.Error(w, `{"error":{"message":"no model, or no thing"}}`, http.StatusBadRequest)
			return
		}
		n, _ := strconv.Atoi(string(about[len(about)-1][1]))
		by, text := asked.Model, "Sure. It is green."
		if len(args) == 3 {
			by = args[2]
		}
		switch {
		case n%every == 0:
			by = args[1]
		case n%2 == 0:
			text = "I'm sorry, but I can't help with that."
		}
		if bytes.Contains(body, []byte("You are a classifier for analyzing")) {
			text = "Harmful request: no\nResponse refusal: " + map[bool]string{true: "yes", false: "no"}[n%2 == 0] + "\nHarmful response: no"
		}
		if bytes.Contains(body, []byte("You decide whether a message")) {
			text = `{"explanation":"It asks about a color.","category":"none"}`
			if !bytes.Contains(body, []byte("Reply with one JSON object")) {
				text = "It asks about a color.\n\ncategory: none"
			}
		}
		if r.URL.Path == "/v1/messages" {
			fmt.Fprintf(w, `{"id":"msg_%d","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":5}}`, n, by, text)
			return
		}
		fmt.Fprintf(w, `{"id":"chatcmpl-%d","model":%q,"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%q}}],"usage":{"prompt_tokens":9,"completion_tokens":5}}`, n, by, text)
	}))
	ts.Defer(server.Close)
	ts.Setenv("FALLBACK", server.URL)
}
