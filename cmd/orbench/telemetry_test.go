package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/orbench/orbench/internal/telemetry/telemetrytest"
)

// collector starts a collector of OpenTelemetry and puts its address into $COLLECTOR; what
// it was told is at $COLLECTOR/told.
func collector(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: collector")
	}
	c := telemetrytest.New()
	ts.Defer(c.Close)
	ts.Setenv("COLLECTOR", c.URL)
}

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

// fetch writes what a server answers into a file, once it is there: fetch URL FILE
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fetch URL FILE")
	}
	var resp *http.Response
	var err error
	for range 1000 {
		if resp, err = http.Get(args[0]); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), body, 0o600))
}
