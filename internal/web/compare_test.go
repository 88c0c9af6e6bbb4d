package web_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/web"
)

// compareJSON is what the tests read of the JSON of a comparison.
type compareJSON struct {
	Flips struct {
		Total int
		Shown []struct {
			Prompt                      struct{ ID, Label, Category string }
			BaseClass                   string `json:"base_class"`
			BaseAnswer, CandidateAnswer string
		}
	}
	Next string
}

func (s *site) comparison(q page.Query) (c compareJSON) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.get(q.Address("/compare.json"), http.StatusOK)), &c); err != nil {
		s.t.Fatal(err)
	}
	return c
}

// flips counts the flips on all pages of a query.
func (s *site) flips(q page.Query) (n int) {
	s.t.Helper()
	seen := map[string]bool{}
	for {
		c := s.comparison(q)
		for _, f := range c.Flips.Shown {
			if key := f.Prompt.Label + f.Prompt.ID; seen[key] {
				s.t.Errorf("%v has %s twice", q, key)
			} else {
				seen[key] = true
			}
		}
		n += len(c.Flips.Shown)
		if c.Next == "" {
			return n
		}
		at, err := url.Parse(c.Next)
		if err != nil {
			s.t.Fatal(err)
		}
		q = page.Query(at.Query())
	}
}

// newComparedSite has two runs of one target each, beside the one with three.
func newComparedSite(t *testing.T) *site {
	s := newSite(t)
	for name, target := range map[string]string{"before": "sim/balanced", "after": "sim/strict"} {
		s.orbench("eval", "--target", target, "--dataset", "starter,"+filepath.Join(s.dir, "own.csv"), "--name", name, "--quiet")
	}
	return s
}

// TestComparisonIsThatOfTheCommand holds the page's figures to those of the command line.
func TestComparisonIsThatOfTheCommand(t *testing.T) {
	t.Parallel()
	s := newComparedSite(t)
	s.serve(func(c *web.Config) { c.Program = "(devel)" })
	for name, of := range map[string]struct {
		q     page.Query
		words []string
	}{
		"two runs":    {page.Query{"study": {"before", "after"}}, []string{"before", "after"}},
		"two targets": {page.Query{"study": {"main"}, "target": {"sim/strict", "sim/prudish"}}, []string{"main", "main", "--base-target", "sim/strict", "--candidate-target", "sim/prudish"}},
		"two judges": {
			page.Query{"study": {"main"}, "target": {"sim/strict"}, "judge": {"lexical", "llm:sim/judge"}},
			[]string{"main", "main", "--base-target", "sim/strict", "--candidate-target", "sim/strict", "--judge", "lexical", "--candidate-judge", "llm:sim/judge"},
		},
		"another judge": {page.Query{"study": {"main"}, "target": {"sim/balanced", "sim/strict"}, "judge": {"llm:sim/judge"}}, []string{"main", "main", "--base-target", "sim/balanced", "--candidate-target", "sim/strict", "--judge", "llm:sim/judge"}},
	} {
		var want, got map[string]any
		if err := json.Unmarshal([]byte(s.orbench(append([]string{"compare", "--format", "json"}, of.words...)...)), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(s.get(of.q.Address("/compare.json"), http.StatusOK)), &got); err != nil {
			t.Fatal(err)
		}
		if want["flips"].(map[string]any)["total"].(float64) == 0 {
			t.Errorf("%s: no prompt flipped, so that nothing is told", name)
		}
		delete(got, "next")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the page differs from the command line: %.1000s", name, diff)
		}
		text := s.page(of.q.Address("/compare"))
		if name != "two judges" && !strings.Contains(text, `<b class="MORE safe">MORE</b> refusals on safe prompts`) {
			t.Errorf("%s: the page does not say MORE", name)
		}
	}
}

// TestCountsOpenTheirFlips follows every count of flips on the page.
func TestCountsOpenTheirFlips(t *testing.T) {
	t.Parallel()
	s := newComparedSite(t)
	s.serve(nil)
	text := s.page("/compare?study=before&study=after")
	links := regexp.MustCompile(`<a (?:class="chip" )?href="(/compare\?[^"]*flip=[^"]*)"[^>]*>(?:<bdi>)?([0-9,]+)`).FindAllStringSubmatch(text, -1)
	if len(links) < 20 {
		t.Errorf("%d counts lead to flips, want at least 20", len(links))
	}
	for _, l := range links {
		at, err := url.Parse(html.UnescapeString(l[1]))
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := strconv.Atoi(strings.ReplaceAll(l[2], ",", "")); s.flips(page.Query(at.Query())) != want {
			t.Errorf("%s opens %d flips, and the page says %d", at, s.flips(page.Query(at.Query())), want)
		}
	}
	all := page.Query{"study": {"before", "after"}}
	if n := s.flips(all); n != s.comparison(all).Flips.Total || n <= 50 {
		t.Errorf("all pages have %d of %d flips; more than a page is wanted", n, s.comparison(all).Flips.Total)
	}
	// Both answers have the addresses that open them.
	links = regexp.MustCompile(`<a class="link" href="(/answers\?[^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(links) != 100 {
		t.Errorf("a page has %d answers, want two for each of 50 flips", len(links))
	}
	for _, l := range links[:4] {
		at, err := url.Parse(html.UnescapeString(l[1]))
		if err != nil {
			t.Fatal(err)
		}
		if n := s.answers(page.Query(at.Query())).Total; len(s.all(page.Query(at.Query()))) != 1 {
			t.Errorf("%s opens %d answers", at, n)
		}
	}
}

// TestWhatIsCompared has addresses that leave something open, or that cannot be compared.
func TestWhatIsCompared(t *testing.T) {
	t.Parallel()
	s := newComparedSite(t)
	s.serve(nil)
	for address, want := range map[string]string{
		"/compare":                         `<select name="study">`,
		"/compare?study=before":            `<option value="before" selected>`,
		"/compare?study=main":              `<option value="sim/strict" selected>`,
		"/compare?study=main&study=main":   `<input type="hidden" name="study" value="main">`,
		"/compare?study=main&study=before": `<select name="target">`,
		"/label?person=ana":                `<select name="study">`,
	} {
		if text := s.page(address); !strings.Contains(text, want) {
			t.Errorf("%s has no %s: %s", address, want, text)
		}
	}
	// Who is known by a cookie chooses among several studies too.
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+"/label", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: "orbench-person-" + r.URL.Port(), Value: "ana"})
	reply, err := s.server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if text, err := io.ReadAll(reply.Body); err != nil || !strings.Contains(string(text), `<select name="study">`) || !strings.Contains(string(text), `value="ana"`) {
		t.Errorf("/label of a known person: %v\n%s", err, text)
	}
	for address, status := range map[string]int{
		"/compare.json?study=nobody":                                                  http.StatusNotFound,
		"/compare.json?study=before&study=after&target=sim/prudish":                   http.StatusBadRequest,
		"/compare.json?study=before&study=after&study=main":                           http.StatusBadRequest,
		"/compare.json?study=before&study=after&flip=over":                            http.StatusBadRequest,
		"/compare.json?study=before&study=after&after=safe:p0":                        http.StatusBadRequest,
		"/compare.json?study=before&study=after&judge=nobody":                         http.StatusBadRequest,
		"/compare.json?study=main&target=sim/strict&target=sim/strict":                http.StatusBadRequest,
		"/compare.json?study=before&study=after&color=red":                            http.StatusBadRequest,
		"/compare.json?study=before&study=after&flip=newly_answered&category=nothing": http.StatusOK,
	} {
		s.get(address, status)
	}
}

// TestComparisonInABrowser opens a comparison that is served, and the folder from disk.
func TestComparisonInABrowser(t *testing.T) {
	t.Parallel()
	s := newComparedSite(t)
	dir := filepath.Join(s.dir, "out")
	for range 2 { // the second replaces the first
		s.orbench("compare", "before", "after", "--out", dir)
	}
	for name, has := range map[string]string{"compare.html": "Safe prompts newly refused", "flips.csv": "candidate_answer", "compare.json": `"over_refusal"`} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), has) {
			t.Errorf("%s: %v, %.100s", name, err, text)
		}
	}
	s.serve(nil)
	total := s.comparison(page.Query{"study": {"before", "after"}}).Flips.Total
	b := pagetest.Open(t)
	for _, address := range []string{s.server.URL + "/compare?study=before&study=after", "file://" + filepath.Join(dir, "compare.html")} {
		served := strings.HasPrefix(address, "http")
		if served {
			s.page("/compare?study=before&study=after") // so that it is ready
		}
		b.Goto(t, address, "#rows .prompt")
		want := 50
		if !served {
			want = total
		}
		if n := pagetest.Eval[int](t, b, `document.querySelectorAll("#rows .prompt").length`); n != want {
			t.Errorf("%s shows %d flips, want %d", address, n, want)
		}
		// A count leads to its flips.
		pagetest.Eval[bool](t, b, `document.querySelector("table.compared tbody tr:nth-child(2) td a").click() || true`)
		b.Until(t, `document.readyState === "complete" && location.hash.length > 0 && [...document.querySelectorAll("#rows .prompt")].some(e => e.dataset.label === "toxic")`)
		const toxic = `document.querySelector(".prompt[data-label=toxic] .ask .text")`
		if pagetest.Eval[bool](t, b, toxic+".checkVisibility()") {
			t.Errorf("%s: a toxic prompt is visible before it was opened", address)
		}
		pagetest.Eval[bool](t, b, `document.querySelector(".toxic-switch").click() || true`)
		if !pagetest.Eval[bool](t, b, toxic+".checkVisibility()") {
			t.Errorf("%s: a toxic prompt stays closed", address)
		}
		b.Accessible(t, address)
		within := s.server.URL
		if !served {
			within = address
		}
		b.Quiet(t, within)
	}
	// A name without a place to break does not make a narrow screen scroll sideways.
	b.Run(t, chromedp.EmulateViewport(375, 800, chromedp.EmulateMobile))
	if wide := pagetest.Eval[int](t, b, `document.querySelector("h1").textContent = "vllm/"+"ckpt_".repeat(20), document.documentElement.scrollWidth`); wide > 375 {
		t.Errorf("the page is %d pixels wide on a screen of 375", wide)
	}
}
