package web_test

import (
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
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/sim"
)

// TestCommand is the command line in a process of its own; see site.start.
func TestCommand(t *testing.T) {
	words := os.Getenv("ORBENCH_TEST_COMMAND")
	if words == "" {
		t.Skip("this is for other tests")
	}
	os.Exit(cli.Run(&command.Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Args: strings.Split(words, "\n"), Getenv: os.Getenv}))
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
	server, err := sim.Serve(context.Background(), "127.0.0.1:0", 0, faults)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = server.Close() })
	return s.start("eval", "--target", "openai/balanced", "--base-url", "openai="+server.BaseURL(), "--dataset", "starter", "--limit", "60", "--name", name, "--concurrency", "2", "--set", "attempts=1", "--quiet")
}

// TestProgress sees in the list of studies that another process fills one, and in the end
// what became of its calls.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.serve(nil)
	ended := s.startSlow("other")
	const running = `<span class="progress"><b>running</b> `
	calls := 0
	for text := ""; calls == 0; {
		select {
		case text := <-ended:
			t.Fatalf("the run was never shown as one that goes on: %s", text)
		case <-time.After(50 * time.Millisecond):
		}
		var list struct {
			Studies []struct {
				Name     string
				Progress *struct{ Calls int }
			}
		}
		text = s.get("/index.json", http.StatusOK)
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		for _, one := range list.Studies {
			switch {
			case one.Progress == nil:
			case one.Name != "other":
				t.Fatalf("%s is filled by nobody: %s", one.Name, text)
			default:
				calls = one.Progress.Calls
			}
		}
	}
	if text := s.page("/"); strings.Count(text, running) != 1 || !regexp.MustCompile(running+`[0-9]+ repl(y|ies) since [0-9]{2}:[0-9]{2} UTC`).MatchString(text) {
		t.Errorf("the list is %s", text)
	}
	text := <-ended
	shown := s.page("/figures?study=other")
	links := regexp.MustCompile(`<a href="(/answers\?[^"]*)">([0-9]+)</a>`).FindAllStringSubmatch(shown, -1)
	if len(links) != 2 || !strings.Contains(shown, "HTTP 500") || !strings.Contains(text, fmt.Sprintf("60 prompts = %s answered + %s failed", links[0][2], links[1][2])) {
		t.Fatalf("the list has %s, and the command %q", shown, text)
	}
	// Its counts open as many answers.
	for _, l := range links {
		at, err := url.Parse(html.UnescapeString(l[1]))
		if err != nil {
			t.Fatal(err)
		}
		if n := s.answers(page.Query(at.Query())).Total; strconv.Itoa(n) != l[2] {
			t.Errorf("%s opens %d answers, and the list says %s", at, n, l[2])
		}
	}
	if text := s.page("/"); strings.Contains(text, running) {
		t.Errorf("the run has ended, and the list is %s", text)
	}
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
	var published report.Published
	if err := json.Unmarshal([]byte(s.orbench("report", "main", "--format", "json")), &published); err != nil {
		t.Fatal(err)
	}
	of, answered, rates := 0, 0, map[string][]float64{}
	for f := range figure.Of(published.Figures, figure.OverRefusal, figure.ToxicRefusal, figure.Became) {
		switch {
		case f.Measure == figure.Became: // all were answered
			of, answered = of+f.N, answered+int(f.Count())
		case f.Judge == list.Judge && f.Category == "" && f.Range != nil:
			key := f.Target + " " + string(f.Label)
			rates[key] = append(rates[key], *f.Value, f.Range.Lo, f.Range.Hi)
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
	if text := s.page("/?study=main"); !strings.Contains(text, `<a href="/label?study=main"><b>Label answers of this run`) {
		t.Error("the page of a run does not lead to labels of it")
	}
	if text := s.page("/figures?study=main"); !strings.Contains(text, `<b class="safe">`) || strings.Contains(text, "<html") {
		t.Errorf("the figures are shown as %s", text)
	}

	// The list has them at once, and sorts by them.
	if text := s.page("/?sort=toxic"); !regexp.MustCompile(`(?s)study=main.*<b class="safe">.*aria-sort|aria-sort="descending".*study=main.*<b class="safe">`).MatchString(text) {
		t.Errorf("the list is %s", text)
	}
	var sorted struct {
		Studies []struct {
			Name    string
			Figures struct{ Targets []struct{ Safe *rate } }
		}
	}
	if err := json.Unmarshal([]byte(s.get("/index.json?sort=safe&q=main", http.StatusOK)), &sorted); err != nil || len(sorted.Studies) == 0 {
		t.Fatal(err, sorted)
	}
	before := -1.0
	for _, target := range sorted.Studies[0].Figures.Targets {
		if target.Safe != nil {
			if target.Safe.Rate < before {
				t.Errorf("%v is behind %v", target.Safe.Rate, before)
			}
			before = target.Safe.Rate
		}
	}
	s.get("/?sort=else", http.StatusBadRequest)
}
