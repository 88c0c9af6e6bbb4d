package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// runbatch works through a file of calls as "vllm run-batch" does, with the models of the
// server in $SIM: the first N calls, or all, and the last of these without success where
// the third word is failing: runbatch FILE OUT [N [failing]]
func runbatch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 4 {
		ts.Fatalf("usage: runbatch FILE OUT [N [failing]]")
	}
	lines := bytes.Split(bytes.TrimSpace([]byte(ts.ReadFile(args[0]))), []byte("\n"))
	if len(args) > 2 {
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		lines = lines[:n]
	}
	var out bytes.Buffer
	for i, line := range lines {
		var call struct {
			ID     string          `json:"custom_id"`
			Method string          `json:"method"`
			URL    string          `json:"url"`
			Body   json.RawMessage `json:"body"`
		}
		ts.Check(json.Unmarshal(line, &call))
		if call.Method != "POST" || call.URL != "/v1/chat/completions" {
			ts.Fatalf("no call of a chat: %s", line)
		}
		resp, err := http.Post(ts.Getenv("SIM")+"/chat/completions", "application/json", bytes.NewReader(call.Body))
		ts.Check(err)
		body, err := io.ReadAll(resp.Body)
		ts.Check(err)
		resp.Body.Close()
		switch {
		case len(args) == 4 && i == len(lines)-1:
			fmt.Fprintf(&out, `{"id":"vllm-%d","custom_id":%q,"response":{"status_code":400,"request_id":"vllm-batch-%d","body":null},"error":{"error":{"message":"too long","type":"BadRequestError","code":400}}}`, i, call.ID, i)
		case i%2 == 0: // the form in vLLM's documentation
			fmt.Fprintf(&out, `{"id":"vllm-%d","custom_id":%q,"response":%s,"error":null}`, i, call.ID, bytes.TrimSpace(body))
		default: // the form that its code writes
			fmt.Fprintf(&out, `{"id":"vllm-%d","custom_id":%q,"response":{"status_code":200,"request_id":"vllm-batch-%d","body":%s},"error":null}`, i, call.ID, i, bytes.TrimSpace(body))
		}
		out.WriteByte('\n')
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}
