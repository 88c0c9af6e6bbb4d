package main

import (
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// freeport puts a port of this machine that nobody has into $PORT.
func freeport(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: freeport")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv("PORT", port)
}

// probe waits until a server answers with a status: probe URL STATUS
func probe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: probe URL STATUS")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	status := 0
	for range 1000 {
		if resp, err := http.Get(args[0]); err == nil {
			resp.Body.Close()
			if status = resp.StatusCode; status == want {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s has status %d, not %d", args[0], status, want)
}
