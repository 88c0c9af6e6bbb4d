package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// limiting starts a server that passes so many calls on to the models of the server in $SIM
// and answers all further ones as a provider does that has limited the account, with the
// bytes of a file. Its address is in $LIMITING: limiting N STATUS FILE
func limiting(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: limiting N STATUS FILE")
	}
	most, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	status, err := strconv.Atoi(args[1])
	ts.Check(err)
	sim, err := url.Parse(strings.TrimSuffix(ts.Getenv("SIM"), "/v1"))
	ts.Check(err)
	body, pass := ts.ReadFile(args[2]), httputil.NewSingleHostReverseProxy(sim)
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := calls.Load() - most; {
		case r.URL.Path == "/refused":
			_, _ = io.WriteString(w, strconv.FormatInt(max(0, n), 10))
		case r.Method == http.MethodGet:
			http.NotFound(w, r) // what it says of itself is no call
		case calls.Add(1) <= most:
			pass.ServeHTTP(w, r)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv("LIMITING", server.URL+"/v1")
}

// refused checks that the server in $LIMITING was called at least once and at most so often
// after it had limited the account: refused MOST
func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: refused MOST")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	resp, err := http.Get(strings.TrimSuffix(ts.Getenv("LIMITING"), "/v1") + "/refused")
	ts.Check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	n, err := strconv.Atoi(string(text))
	ts.Check(err)
	if n < 1 || n > most {
		ts.Fatalf("the provider was called %d times after it had limited the account, want 1 to %d", n, most)
	}
}
