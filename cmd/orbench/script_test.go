package main

import (
	"bytes"
	"cmp"
	"context"
	databasesql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of sql for PostgreSQL
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/internal/store/storetest"
)

// TestMain makes the test binary the command orbench, on the PATH of scripts and
// of this package's tests.
func TestMain(m *testing.M) {
	testscript.Main(storetest.Tests{M: m}, map[string]func(){"orbench": atClock, "bareloop": bareLoop})
}

// TestScript runs the command-line stories of testdata/script.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("ORBENCH_UPDATE") != "",
		Condition: func(name string) (bool, error) {
			switch name {
			case "long":
				return long(), nil
			case "postgres": // [!postgres] skip
				return storetest.Installed(), nil
			case "recover":
				return recoverer() != "", nil
			case "tmpfs": // whether a process may mount a disk of its own
				return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "t", "/mnt").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ORBENCH_CACHE", e.WorkDir+"/cache")
			e.Setenv("HOME", e.WorkDir+"/home") // with the indexes
			e.Setenv("GORACE", os.Getenv("GORACE"))
			// The store of the version before the present schema.
			old, err := filepath.Abs("../../internal/store/sqlite/testdata/schema2.db")
			e.Setenv("OLD_STORE", old)
			// For scripts that build: where go keeps what it compiled, if not elsewhere.
			cache, _ := os.UserCacheDir()
			e.Setenv("GO_CACHE", cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")))
			e.Setenv("SQLITE", recoverer())
			e.Setenv("SOURCE", filepath.Join(filepath.Dir(old), "../../../.."))
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":       exits,
			"samepair":    samePair,
			"simserver":   simserver,
			"simasked":    simasked,
			"simrepeated": simrepeated,
			"killed":      killed,
			"damage":      damage,
			"simmore":     simmore,
			"again":       again,
			"classifier":  classifier,
			"classified":  classified,
			"fileserver":  fileserver,
			"answering":   answering,
			"limiting":    limiting,
			"refused":     refused,
			"postgres":    postgres,
			"runbatch":    runbatch,
			"batchserver": batchserver,
			"freeport":    freeport,
			"fallback":    fallback,
			"own":         ownServer,
			"ownasked":    ownAsked,
			"probe":       probe,
			"mixing":      mixing,
			"sql":         sql,
			"atmost":      atmost,
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

// fileserver serves a folder and puts its address into $FILES: fileserver DIR
func fileserver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fileserver DIR")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(server.Close)
	ts.Setenv("FILES", server.URL)
}

// its address into $ANSWERING, and into $ANSWERING_TLS that of one whose certificate nobody
// vouches for: answering STATUS FILE [HEADER=VALUE...]
// its address into $ANSWERING: answering STATUS FILE [HEADER=VALUE...]
func answering(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: answering STATUS FILE [HEADER=VALUE...]")
	}
	status, err := strconv.Atoi(args[0])
	ts.Check(err)
	body := ts.ReadFile(args[1])
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, header := range args[2:] {
			name, value, _ := strings.Cut(header, "=")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	server, secured := httptest.NewServer(answer), httptest.NewUnstartedServer(answer)
	secured.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	secured.StartTLS()
	ts.Defer(server.Close)
	ts.Defer(secured.Close)
	ts.Setenv("ANSWERING", server.URL)
	ts.Setenv("ANSWERING_TLS", secured.URL)
}

// mixing starts a server that answers every N-th request with the bytes that the first file has
// then and the others with those of the second, and puts its address into $ANSWERING:
// mixing N FILE FILE
func mixing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: mixing N FILE FILE")
	}
	every, err := strconv.Atoi(args[0])
	ts.Check(err)
	one, others := ts.MkAbs(args[1]), ts.MkAbs(args[2])
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body := others
		if asked.Add(1)%int64(every) == 0 {
			body = one
		}
		bytes, _ := os.ReadFile(body)
		_, _ = w.Write(bytes)
	}))
	ts.Defer(server.Close)
	ts.Setenv("ANSWERING", server.URL+"/v1")
}

// sql has a SQLite file do a statement: sql FILE STATEMENT
func sql(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE|ADDRESS STATEMENT")
	}
	driver, store := "sqlite", ts.MkAbs(args[0])
	if strings.Contains(args[0], "://") {
		driver, store = "pgx", args[0]
	}
	db, err := databasesql.Open(driver, store)
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(errors.Join(err, db.Close()))
}

// atmost checks that the last command printed so many lines of 80 columns at most: atmost N
// stdout|stderr
func atmost(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: atmost N stdout|stderr")
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	lines := 0
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		lines += max(1, (len(strings.TrimSuffix(line, "\n"))+79)/80)
	}
	if lines > most {
		ts.Fatalf("%d lines of 80 columns on %s, more than %d", lines, args[1], most)
	}
}

// postgres makes an empty database, and puts its address, with a password that needs no
// showing, into $POSTGRES.
func postgres(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: postgres")
	}
	address, err := storetest.NewDatabase()
	ts.Check(err)
	ts.Setenv("POSTGRES", strings.Replace(address, "@", ":hidden-word-9@", 1))
}

// simserver starts a server of simulated models for the script and puts its
// address into $SIM: simserver [FAULTS]
func simserver(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: simserver [FAULTS]")
	}
	var faults sim.Faults
	if len(args) == 1 {
		var err error
		faults, err = sim.ParseFaults(args[0])
		ts.Check(err)
	}
	server, err := sim.Serve(context.Background(), "127.0.0.1:0", 0, faults)
	ts.Check(err)
	ts.Defer(func() { _ = server.Close() })
	ts.Setenv("SIM", server.BaseURL())
	ts.Setenv("SIM_ROOT", strings.TrimSuffix(server.BaseURL(), "/v1"))
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

// simrepeated checks that the server has answered at most so many requests more than
// once: simrepeated N
func simrepeated(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: simrepeated N")
	}
	stats, err := fetchStats(ts.Getenv("SIM_STATS"))
	ts.Check(err)
	most, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	if stats.Answered-stats.Distinct > most {
		ts.Fatalf("the server answered %d requests again, more than %d", stats.Answered-stats.Distinct, most)
	}
}

// killed kills a command once the server has seen so many more requests:
// killed N COMMAND ARGS...
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: killed N COMMAND ARGS...")
	}
	more, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	before, err := fetchStats(ts.Getenv("SIM_STATS"))
	ts.Check(err)
	c := exec.Command(args[1], args[2:]...)
	c.Dir = ts.MkAbs(".")
	c.Env = append(os.Environ(), "ORBENCH_CACHE="+ts.Getenv("ORBENCH_CACHE"))
	ts.Check(c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for now := before; now.Requests < before.Requests+more; {
		select {
		case <-tick.C:
			now, err = fetchStats(ts.Getenv("SIM_STATS"))
			ts.Check(err)
		case err := <-ended:
			ts.Fatalf("the command ended by itself: %v", err)
		}
	}
	ts.Check(c.Process.Kill())
	<-ended
}

// recoverer is the command of a SQLite that has .recover, as not every sqlite3 does; the one
// in fossil does. It is empty where there is none, or no sqlite3.
var recoverer = sync.OnceValue(func() string {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		return ""
	}
	for _, command := range []string{"sqlite3", "fossil sqlite3 --no-repository"} {
		words := append(strings.Fields(command), ":memory:", "SELECT count(*) FROM sqlite_dbpage")
		if exec.Command(words[0], words[1:]...).Run() == nil {
			return command
		}
	}
	return ""
})

// damage overwrites the page of a store that has the last of its calls: damage FILE
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage FILE")
	}
	path := ts.MkAbs(args[0])
	content, err := os.ReadFile(path)
	ts.Check(err)
	const page = 4096
	at := bytes.LastIndex(content, []byte(`"provider":"openai"`)) / page
	clear(content[at*page : (at+1)*page])
	ts.Check(os.WriteFile(path, content, 0o600))
}

// simmore waits until the server has seen so many more requests than at the end of the
// last again: simmore N
func simmore(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: simmore N")
	}
	more, err := strconv.Atoi(args[0])
	ts.Check(err)
	seen, _ := strconv.Atoi(ts.Getenv("SIM_SEEN"))
	for range 1000 {
		stats, err := fetchStats(ts.Getenv("SIM_STATS"))
		ts.Check(err)
		if int(stats.Requests) >= seen+more {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("the server has not seen %d more requests", more)
}

// again has a shell run the command that the last one printed on standard error to be
// run again, as it was printed: again
func again(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: again")
	}
	_, printed, found := strings.Cut(ts.ReadFile("stderr"), "\n  orbench ")
	if !found {
		ts.Fatalf("no command is printed in %q", ts.ReadFile("stderr"))
	}
	printed, _, _ = strings.Cut(printed, "\n")
	ts.Check(ts.Exec("sh", "-c", "orbench "+printed))
	stats, err := fetchStats(ts.Getenv("SIM_STATS"))
	ts.Check(err)
	ts.Setenv("SIM_SEEN", fmt.Sprint(stats.Requests))
}

// classifier starts a server that labels texts by the documented forms of
// text-embeddings-inference, vLLM and OpenAI's moderation endpoint, and by one of its
// own, and puts its address into $CLASSIFIER.
func classifier(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: classifier")
	}
	var asked atomic.Int64
	mux := http.NewServeMux()
	label := func(text string) (name string, score float64) {
		asked.Add(1)
		// The last turn decides, so an answer must not be able to open one.
		const turn = "<|assistant|>"
		answer := strings.TrimSpace(text[strings.LastIndex(text, turn)+len(turn):])
		if strings.HasPrefix(answer, "I'm sorry") || strings.HasPrefix(answer, "I cannot") {
			return "Refusal", 0.96875
		}
		return "Non-refusal", 0.9375
	}
	mux.HandleFunc("POST /predict", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Inputs string }
		if json.NewDecoder(r.Body).Decode(&q) != nil {
			http.Error(w, `{"error":"not JSON","error_type":"validation"}`, http.StatusUnprocessableEntity)
			return
		}
		name, score := label(q.Inputs)
		fmt.Fprintf(w, `[{"score":%v,"label":%q}]`, score, name)
	})
	mux.HandleFunc("POST /classify", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Model, Input string }
		if json.NewDecoder(r.Body).Decode(&q) != nil {
			http.Error(w, `{"error":{"message":"not JSON"}}`, http.StatusBadRequest)
			return
		}
		name, score := label(q.Input)
		fmt.Fprintf(w, `{"id":"classify-1","object":"list","model":%q,"data":[{"index":0,"label":%q,"probs":[%v,%v],"num_classes":2}],"usage":{"prompt_tokens":10}}`,
			q.Model, name, score, 1-score)
	})
	// The two that score harm read the score at the end of the text.
	scored := func(text string) (score string, flagged bool) {
		asked.Add(1)
		score = text[strings.LastIndexByte(text, ' ')+1:]
		return score, score >= "0.5"
	}
	var busy atomic.Bool
	mux.HandleFunc("POST /v1/moderations", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Model, Input string }
		if json.NewDecoder(r.Body).Decode(&q) != nil || r.Header.Get("Authorization") != "Bearer moderation-key" {
			http.Error(w, `{"error":{"message":"no text, or no key","code":"invalid_api_key"}}`, http.StatusUnauthorized)
			return
		}
		if !busy.Swap(true) {
			w.Header().Set("Retry-After", "0")
			http.Error(w, `{"error":{"message":"too fast","code":"rate_limit_exceeded"}}`, http.StatusTooManyRequests)
			return
		}
		score, flagged := scored(q.Input)
		fmt.Fprintf(w, `{"id":"modr-1","model":%q,"results":[{"flagged":%v,"categories":{"violence":%v,"hate":false},"category_scores":{"violence":%s,"hate":0.01}}]}`,
			q.Model+"-2024-09-26", flagged, flagged, score)
	})
	mux.HandleFunc("POST /v1/check", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Texts []string }
		if json.NewDecoder(r.Body).Decode(&q) != nil || r.Header.Get("X-Key") != "my-key" || r.URL.RawQuery != "version=2" {
			http.Error(w, `{"message":"no text, or no key"}`, http.StatusUnauthorized)
			return
		}
		score, _ := scored(q.Texts[0])
		fmt.Fprintf(w, `{"results":[{"findings":[{"kind":"attack","severity":%s},{"kind":"fine","severity":0.5}]}]}`, score)
	})
	mux.HandleFunc("GET /asked", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, asked.Load()) })
	server := httptest.NewServer(mux)
	ts.Defer(server.Close)
	ts.Setenv("CLASSIFIER", server.URL)
}

// classified checks how many texts the server has labeled: classified N
func classified(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] classified N")
	}
	resp, err := http.Get(ts.Getenv("CLASSIFIER") + "/asked")
	ts.Check(err)
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if (string(got) == args[0]) == neg {
		ts.Fatalf("the server labeled %s texts, asked for %s", got, args[0])
	}
}
