package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/orbench/orbench/model/sim"
)

// TestMain makes the test binary the command orbench, on the PATH of scripts and
// of this package's tests.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"orbench": main, "bareloop": bareLoop})
}

// TestScript runs the command-line stories of testdata/script.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("ORBENCH_UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("ORBENCH_CACHE", e.WorkDir+"/cache")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"simserver": simserver,
			"simasked":  simasked,
		},
	})
}

// exits runs a command and checks its exit code: exits CODE COMMAND ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// simserver starts a server of simulated models for the script and puts its
// address into $SIM: simserver [FAULTS]
func simserver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: simserver [FAULTS]")
	}
	var c sim.Config
	if len(args) == 1 {
		var err error
		c.Faults, err = sim.ParseFaults(args[0])
		ts.Check(err)
	}
	server, err := sim.Serve(context.Background(), "127.0.0.1:0", c)
	ts.Check(err)
	ts.Defer(func() { _ = server.Close() })
	ts.Setenv("SIM", server.BaseURL())
	ts.Setenv("SIM_STATS", strings.TrimSuffix(server.BaseURL(), "/v1")+"/stats")
}

// simasked checks how many requests the server has seen: simasked N
func simasked(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] simasked N")
	}
	stats, err := fetchStats(ts.Getenv("SIM_STATS"))
	ts.Check(err)
	if got := fmt.Sprint(stats.Requests); (got == args[0]) == neg {
		ts.Fatalf("the server saw %s requests, asked for %s", got, args[0])
	}
}
