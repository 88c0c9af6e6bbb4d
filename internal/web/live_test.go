package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/cli"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/model/sim"
)

// TestCommand is the command line in a process of its own; see site.start.
func TestCommand(t *testing.T) {
	words := os.Getenv("ORBENCH_TEST_COMMAND")
	if words == "" {
		t.Skip("this is for other tests")
	}
	os.Exit(cli.Run(command.Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Args: strings.Split(words, "\n"), Getenv: os.Getenv}))
}

// start starts a command line on the site's store in another process. The channel gets what
// it printed, when it has ended.
func (s *site) start(words ...string) <-chan string {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), os.Args[0], "-test.run", "^TestCommand$")
	c.Env = append(os.Environ(), "HOME="+s.dir, "ORBENCH_INDEX="+indexes, "ORBENCH_TEST_COMMAND="+strings.Join(append(words, "--store", filepath.Join(s.dir, "m.db")), "\n"))
	ended := make(chan string, 1)
	go func() {
		text, _ := c.CombinedOutput()
		ended <- string(text)
	}()
	return ended
}

// startSlow starts a run of 60 prompts by a slow server that fails now and then.
func (s *site) startSlow(name string) <-chan string {
	s.t.Helper()
	faults, err := sim.ParseFaults("slow=0.8,slow-by=0.5,500=0.15")
	if err != nil {
		s.t.Fatal(err)
	}
	server, err := sim.Serve(context.Background(), "127.0.0.1:0", sim.ServerConfig{Faults: faults})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = server.Close() })
	return s.start("eval", "--target", "openai/balanced", "--base-url", "openai="+server.BaseURL(), "--dataset", "starter", "--limit", "60", "--name", name, "--concurrency", "2", "--set", "attempts=1", "--quiet")
}

// progressJSON is what the tests read of the JSON of the list of studies.
type progressJSON struct {
	Studies []struct {
		Name     string
		Progress *struct {
			Answered, Of, Calls, Failed int
			PerSecond                   float64 `json:"per_second"`
			Reasons                     []struct {
				Kind string
				N    int
			}
		}
	}
}

// TestLiveProgress sees in a browser how a run in another process goes on.
func TestLiveProgress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.serve(nil)
	b := pagetest.Open(t)
	b.Goto(t, s.server.URL+"/", "#studies table")
	b.Until(t, `document.querySelector(".figures b.safe") !== null`)
	ended := s.startSlow("other")
	const row = `[...document.querySelectorAll("#studies tr")].find(r => r.textContent.includes("other"))`
	const value = `(` + row + `?.querySelector("progress")?.value ?? -1)`
	b.Until(t, value+" > 0")
	first := pagetest.Eval[int](t, b, value)
	b.Until(t, fmt.Sprintf("%s > %d", value, first))
	b.Until(t, row+`.querySelector(".failed") !== null`)
	if shown := pagetest.Eval[string](t, b, row+`.querySelector(".progress").textContent`); !strings.Contains(shown, " of 60") || !strings.Contains(shown, "a second") || !strings.Contains(shown, "HTTP 500") {
		t.Errorf("the progress is shown as %q", shown)
	}
	var list progressJSON
	if err := json.Unmarshal([]byte(s.get("/index.json", http.StatusOK)), &list); err != nil {
		t.Fatal(err)
	}
	for _, one := range list.Studies {
		switch p := one.Progress; {
		case one.Name == "main" && p != nil:
			t.Errorf("a run that nobody fills has the progress %+v", p)
		case one.Name == "other" && (p == nil || p.Of != 60 || p.Answered < first || p.Answered+p.Failed > 60 || p.Failed != p.Reasons[0].N || p.Reasons[0].Kind != "transient"):
			t.Errorf("the run has the progress %+v", p)
		}
	}
	b.Accessible(t, "the list of studies")
	var text string
	select {
	case text = <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the run does not end")
	}
	b.Until(t, row+`.querySelector(".live") === null && (m => m !== null && +m[1] + +m[2] === 60)(`+row+`.querySelector(".figures").textContent.match(/([0-9]+) answered, ([0-9]+) failed of 60/))`)
	// What the list says in the end is what the command says.
	shown := pagetest.Eval[string](t, b, row+`.querySelector(".figures").textContent.replace(/\s+/g, " ")`)
	var answered, failed int
	at := regexp.MustCompile(`[0-9]+ answered, [0-9]+ failed of 60`).FindString(shown)
	if _, err := fmt.Sscanf(at, "%d answered, %d failed", &answered, &failed); err != nil || answered+failed != 60 || !strings.Contains(shown, "HTTP 500") ||
		!strings.Contains(text, fmt.Sprintf("60 prompts = %d answered + %d failed", answered, failed)) {
		t.Errorf("the list says %q, and the command %q (%v)", shown, text, err)
	}
	b.Quiet(t, s.server.URL)
	// Its counts open as many answers.
	links := regexp.MustCompile(`<a href="(/answers\?[^"]*)">([0-9]+)</a>`).FindAllStringSubmatch(s.page("/figures?study=other"), -1)
	if len(links) != 2 {
		t.Errorf("%d counts, want the answered and the failed", len(links))
	}
	for _, l := range links {
		at, err := url.Parse(html.UnescapeString(l[1]))
		if err != nil {
			t.Fatal(err)
		}
		if n := s.answers(page.Query(at.Query())).Total; strconv.Itoa(n) != l[2] {
			t.Errorf("%s opens %d answers, and the list says %s", at, n, l[2])
		}
	}
}

// TestEvents reads the stream of events without a browser, until the run has ended.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.serve(nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("the events are %s", got)
	}
	ended := s.startSlow("<script>alert(1)</script>")
	filled := 0
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var rows map[string]string
		if err := json.Unmarshal([]byte(text), &rows); err != nil {
			t.Fatal(err)
		}
		over := false
		for _, shown := range rows {
			if strings.Contains(shown, "<script") {
				t.Fatalf("the name of a study is part of the page: %s", shown)
			}
			if shown == "" {
				over = true
			} else {
				filled++
			}
		}
		if over {
			break
		}
	}
	if filled < 2 {
		t.Errorf("%d events came before the run was over", filled)
	}
	<-ended
}

// TestFiguresOfTheList holds the figures in the list to those of the report.
func TestFiguresOfTheList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.serve(nil)
	type rate struct{ Rate, Lo, Hi float64 }
	var list struct {
		Judge   string
		Of      int
		Counts  []struct{ N int }
		Targets []struct {
			Target      string
			Safe, Toxic *rate
		}
	}
	if err := json.Unmarshal([]byte(s.get("/figures.json?study=main", http.StatusOK)), &list); err != nil {
		t.Fatal(err)
	}
	var report struct {
		Runs []struct {
			Target, Dataset, Label string
			N, Answered            int
			Judges                 []struct {
				Judge string
				Rate  float64
				Range *struct{ Lo, Hi float64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(s.orbench("report", "main", "--format", "json")), &report); err != nil {
		t.Fatal(err)
	}
	of, answered, rates := 0, 0, map[string][]float64{}
	for _, run := range report.Runs {
		of, answered = of+run.N, answered+run.Answered
		for _, j := range run.Judges {
			if j.Judge == list.Judge && j.Range != nil {
				key := run.Target + " " + run.Label
				rates[key] = append(rates[key], j.Rate, j.Range.Lo, j.Range.Hi)
			}
		}
	}
	if list.Of != of || len(list.Counts) != 1 || list.Counts[0].N != answered || list.Judge != "lexical" || len(list.Targets) != 6 {
		t.Errorf("the list has %+v, of %d answers %d came", list, of, answered)
	}
	for _, target := range list.Targets {
		for label, r := range map[string]*rate{"safe": target.Safe, "toxic": target.Toxic} {
			name, _, _ := strings.Cut(target.Target, " ")
			known := rates[name+" "+label]
			found := false
			for i := 0; i+2 < len(known); i += 3 {
				found = found || r != nil && known[i] == r.Rate && known[i+1] == r.Lo && known[i+2] == r.Hi
			}
			if !found {
				t.Errorf("%s: %s is %+v in the list, and %v in the report", target.Target, label, r, known)
			}
		}
	}
	if text := s.page("/figures?study=main"); !strings.Contains(text, `<b class="safe">`) || strings.Contains(text, "<html") {
		t.Errorf("the figures are shown as %s", text)
	}
}
