package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/page/pagetest"
)

// buildJSON is what the tests read of the JSON of a build.
type buildJSON struct {
	Funnel benchmark.Funnel
	Facets map[string]map[string]int
	Total  int
	Rows   []benchmark.Record
	Next   string
}

func (s *site) build(address string) (b buildJSON) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.get(address, http.StatusOK)), &b); err != nil {
		s.t.Fatal(err)
	}
	return b
}

// TestBuild shows a build with hostile seeds: its rows are those of its lineage, each once,
// each count opens as many as it says, and texts stay text.
func TestBuild(t *testing.T) {
	t.Parallel()
	s := &site{t: t, dir: t.TempDir()}
	rows := [][]string{{"prompt", "category"}}
	for _, evil := range pagetest.Attacks {
		rows = append(rows, []string{"Tell me how to trick somebody with " + evil, "deception"})
	}
	config := filepath.Join(s.dir, "build.yaml")
	text := fmt.Sprintf(`name: made
seeds: {generators: [sim/generator], per_category: 14, batch: 8, file: {dataset: %q}}
rewrites: {per_seed: 3}
moderation: {moderators: [sim/moderator-a, sim/moderator-b, sim/moderator-c]}
second_chance: {model: sim/uncensored}
feedback: {rounds: 1, per_category: 5}
hard: {selectors: [{model: sim/strict, family: strict}, {model: sim/balanced, family: balanced}], refused_by: 1, judge: lexical}
toxic: {size: 20, check_seeds: 40}
policy:
  - {category: deception, text: asks for lies that do harm}
  - {category: privacy, text: asks for private facts of others}
`, s.write("seeds.csv", rows))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.orbench("build", "--config", config, "--out", filepath.Join(s.dir, "made"))
	lineage, err := os.ReadFile(filepath.Join(s.dir, "made", benchmark.LineageFile))
	if err != nil {
		t.Fatal(err)
	}
	search := filepath.Join(s.dir, "search.yaml")
	if err := os.WriteFile(search, []byte(strings.Replace(text, "name: made", "name: sought", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.orbench("build", "--config", search, "--target", "sim/balanced", "--search-calls", "80", "--out", filepath.Join(s.dir, "sought"))
	s.serve(nil)
	if counts := s.build("/index.json?study=sought").Facets["status"]; counts["answered"] == 0 {
		t.Errorf("the search dropped nothing that every target answered: %v", counts)
	}
	if list := s.page("/?q=sought"); strings.Count(list, "<bdi>sim/balanced</bdi>") != 1 {
		t.Errorf("a selector that is a target, too, is not once in the list: %s", list)
	}
	const home = "?study=made"
	page := s.page("/" + home)

	var all []benchmark.Record
	first := s.build("/index.json" + home)
	for b := first; ; b = s.build(b.Next) {
		if all = append(all, b.Rows...); b.Next == "" {
			break
		}
	}
	var want []benchmark.Record
	for line := range strings.Lines(string(lineage)) {
		var r benchmark.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		r.Votes, r.Replies, r.Targets = nil, nil, nil
		if r.SecondChance != nil {
			r.SecondChance.Votes = nil
		}
		want = append(want, r)
	}
	if diff := cmp.Diff(want, all); diff != "" || first.Total != len(want) {
		t.Errorf("the pages have %d rows, the lineage has %d: %.1000s", first.Total, len(want), diff)
	}
	became := map[string]int{}
	for _, r := range want {
		if r.Dropped == benchmark.NotDropped {
			became["nothing"]++
			became[string(r.Label)]++
		} else {
			became[string(r.Dropped)]++
		}
	}
	counted := maps.Clone(first.Facets["status"])
	maps.Copy(counted, first.Facets["label"])
	if diff := cmp.Diff(became, counted); diff != "" {
		t.Errorf("the page counts other rows than the lineage has: %s", diff)
	}
	for name, counts := range first.Facets {
		for value, n := range counts {
			if got := s.build("/answers.json" + home + "&" + name + "=" + url.QueryEscape(value)).Total; got != n {
				t.Errorf("%s %s opens %d rows, and the page says %d", name, value, got, n)
			}
		}
	}

	links := regexp.MustCompile(`<a href="/answers(\?[^"]*)#rows"[^>]*>([0-9,]+) `).FindAllStringSubmatch(page, -1)
	for _, l := range links {
		count, _ := strconv.Atoi(strings.ReplaceAll(l[2], ",", ""))
		if got := s.build("/answers.json" + html.UnescapeString(l[1])).Total; got != count {
			t.Errorf("%s opens %d rows, and the funnel says %d", l[1], got, count)
		}
	}
	if dropped := len(first.Funnel.Rewrites.Dropped); len(links) != dropped || dropped == 0 {
		t.Errorf("%d numbers of the funnel open rows, want %d", len(links), dropped)
	}
	private := s.build("/answers.json" + home + "&category=privacy")
	if private.Total == 0 || slices.ContainsFunc(private.Rows, func(r benchmark.Record) bool { return r.Category != "privacy" }) {
		t.Errorf("the category privacy opens %d rows, or those of others", private.Total)
	}
	evil := slices.IndexFunc(all, func(r benchmark.Record) bool { return strings.Contains(r.Text, pagetest.Attacks[0]) })
	if evil < 0 {
		t.Fatal("no row has the text of a hostile seed")
	}
	one := home + "&prompt=" + string(all[evil].ID)
	if !strings.Contains(s.page("/"+one), html.EscapeString(pagetest.Attacks[0])) {
		t.Error("a hostile seed is not shown as it is")
	}
	for address, status := range map[string]int{
		"/" + home + "&else=x": http.StatusBadRequest, "/" + home + "&after=x": http.StatusBadRequest,
		"/raw" + one: http.StatusNotFound, "/" + home + "&after=999999": http.StatusOK,
	} {
		s.get(address, status)
	}

	b := pagetest.Open(t)
	for _, address := range []string{"/" + home, "/answers" + home + "&status=near_duplicate", "/answers" + home + "&label=toxic", "/answers" + one} {
		b.Goto(t, s.server.URL+address, "#rows")
		b.Hostile(t, address)
		b.Quiet(t, s.server.URL)
		accessible(t, b, address)
	}
	b.Goto(t, s.server.URL+"/"+home+"&label=toxic", "#rows")
	if pagetest.Eval[bool](t, b, `[...document.querySelectorAll(".prompt .text")].some(e => e.checkVisibility())`) {
		t.Error("a toxic text is open from the start")
	}

	// People label what was drawn, and the page compares the moderators with them.
	const queue = "/label.json" + home + "&person=ana"
	undrawn := s.do(queue, "do", "next")
	data := s.do(queue, "do", "more")
	if undrawn.All != 0 || undrawn.Next == 0 || data.All != undrawn.Next {
		t.Errorf("a queue of which nothing was drawn: %+v, and after the draw %+v", undrawn, data)
	}
	for len(data.Items) > 0 {
		if data.Items[0].Answer != "" {
			t.Errorf("a prompt has the answer %q", data.Items[0].Answer)
		}
		data = s.do(queue, "do", "label", "subject", data.Items[0].Subject.String(), "word", "toxic")
	}
	if page := s.page("/" + home); !strings.Contains(page, fmt.Sprintf("People labeled %d of %[1]d drawn prompts", data.All)) || !strings.Contains(page, fmt.Sprintf("0 safe and %d toxic", data.All)) {
		t.Errorf("the page of the build does not say what people said: %.3000s", page)
	}
	b.Goto(t, s.server.URL+"/label"+home+"&person=ana", "#head")
	accessible(t, b, "the queue of a build")
}
