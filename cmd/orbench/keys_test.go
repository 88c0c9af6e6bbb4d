package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orbench/orbench/model"
)

// TestKeySentBack has a server send the key back: in its answers, in disguise, and in a
// response that nobody asked for, which net/http logs.
func TestKeySentBack(t *testing.T) {
	t.Parallel()
	const key = "sk-very-secret-0123456789"
	forms := []string{key, strings.Join(strings.Split(key, ""), " "), hex.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte("Bearer " + key)), `\u0073` + key[1:]}
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said, err := json.Marshal("You sent " + forms[int(calls.Add(1))%len(forms)])
		if err != nil {
			t.Error(err)
		}
		body := fmt.Sprintf(`{"id":%q,"model":"m","choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`, key, said)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%sHTTP/1.1 200 OK\r\nEcho: %s\r\n\r\n", len(body), body, r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	c, stdout, stderr := orbench("eval", "--target", "openai/m", "--base-url", server.URL, "--dataset", writePrompts(t, len(forms)),
		"--concurrency", "1", "--store", filepath.Join(dir, "m.db"), "--out", filepath.Join(dir, "out"))
	c.Env = append(os.Environ(), "OPENAI_API_KEY="+key)
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if !strings.Contains(stderr.String(), "orbench: Unsolicited response received") {
		t.Errorf("the log of net/http is lost: %s", stderr)
	}
	secrets := model.NewSecrets(key)
	check := func(where, text string) {
		if secrets.Clean(text) != text {
			t.Errorf("the key is in %s", where)
		}
	}
	check("standard output", stdout.String())
	check("standard error", stderr.String())
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		check(path, string(content))
		if entry.Name() == "answers.jsonl" && strings.Count(string(content), "You sent [key]")+strings.Count(string(content), `You sent \\[key]`) != len(forms) {
			t.Errorf("the answers are not marked: %s", content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
