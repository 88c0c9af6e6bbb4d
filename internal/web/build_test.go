package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
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
	Counts map[string]int
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

// TestBuild shows a build with hostile seeds: its rows are those of its lineage, each count
// opens as many as it says, and texts stay text.
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
toxic: {size: 20, check_seeds: 2}
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
	// Every rewrite is kept, or dropped for a reason that the page counts.
	for _, study := range []string{"made", "sought"} {
		counts := s.build("/index.json?study=" + study).Counts
		ended := counts["kept"]
		for _, reason := range benchmark.Reasons {
			ended += counts[string(reason)]
		}
		if counts["rewrite"] == 0 || counts["rewrite"] != ended || study == "sought" && (counts["answered"] == 0 || counts["refused_by_targets"] == 0) {
			t.Errorf("%s: %d rewrites, of which %d ended: %v", study, counts["rewrite"], ended, counts)
		}
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
		want = append(want, r)
	}
	if diff := cmp.Diff(want, all); diff != "" || first.Total != len(want) {
		t.Errorf("the pages have %d rows, the lineage has %d: %.1000s", first.Total, len(want), diff)
	}
	f, n := first.Funnel, first.Counts
	for name, count := range map[string]int{
		"rewrite": f.Rewrites.Items, "kept": f.Rewrites.Kept, "mended": f.Rewrites.Repairs, "mended_well": f.Rewrites.Repaired,
		"near_duplicate": f.Rewrites.Dropped[benchmark.NearDuplicate], "broken_rule": f.Rewrites.Dropped[benchmark.BrokenRule],
		"broke_reversal": f.Rewrites.BrokenAtFirst["reversal"], "breaks_reversal": f.Rewrites.Broken["reversal"],
		"voted_safe": f.Moderation.Voted["safe"], "voted_toxic": f.Moderation.Voted["toxic"], "seed_toxic": f.Moderation.SeedsVoted["toxic"],
		"second_chance": f.SecondChance.Asked, "readmitted": f.SecondChance.Readmitted, "confirmed": f.SecondChance.Confirmed,
		"no_answer": f.SecondChance.Missing, "unclear": f.SecondChance.Unclear, "selectors": f.Selection.Asked,
		"refused_by_0": f.Selection.Asked - f.Selection.HardCandidates, "refused_by_1": f.Selection.HardCandidates - n["refused_by_2"],
		"full": f.Selection.Sets[benchmark.FullSet], "toxic": f.Selection.Sets[benchmark.ToxicSet],
	} {
		if n[name] != count {
			t.Errorf("%s: the page counts %d, the funnel %d", name, n[name], count)
		}
	}

	links := regexp.MustCompile(`<a (?:class="chip" )?href="/(\?[^"]*)#rows">(?:<bdi>)?([0-9,]+)[< ]`).FindAllStringSubmatch(page, -1)
	if len(links) < 20 {
		t.Errorf("%d counts open rows", len(links))
	}
	for _, l := range links {
		count, _ := strconv.Atoi(strings.ReplaceAll(l[2], ",", ""))
		if got := s.build("/index.json" + html.UnescapeString(l[1])).Total; got != count {
			t.Errorf("%s opens %d rows, and the page says %d", l[1], got, count)
		}
	}
	id := string(all[0].ID)
	var calls struct{ Calls []struct{ Hash string } }
	if err := json.Unmarshal([]byte(s.get("/raw.json"+home+"&prompt="+id, http.StatusOK)), &calls); err != nil || len(calls.Calls) < 5 {
		t.Errorf("the first row has %d calls behind it: %v", len(calls.Calls), err)
	}
	for address, status := range map[string]int{
		"/" + home + "&status=else": http.StatusBadRequest, "/" + home + "&after=x": http.StatusBadRequest,
		"/raw" + home + "&prompt=none": http.StatusNotFound, "/" + home + "&after=999999": http.StatusOK,
	} {
		s.get(address, status)
	}

	b := pagetest.Open(t)
	for _, address := range []string{"/" + home, "/" + home + "&status=voted_toxic", "/" + home + "&prompt=" + id + "&category=deception"} {
		b.Goto(t, s.server.URL+address, "#rows")
		b.Hostile(t, address)
		b.Quiet(t, s.server.URL)
		accessible(t, b, address)
	}
	if !strings.Contains(s.page("/"+home+"&category=deception"), html.EscapeString(pagetest.Attacks[0])) {
		t.Error("a hostile seed is not shown as it is")
	}
	b.Goto(t, s.server.URL+"/"+home+"&status=voted_toxic", "#rows")
	if pagetest.Eval[bool](t, b, `[...document.querySelectorAll(".prompt[data-label=toxic] .text, .way .text")].some(e => e.checkVisibility())`) {
		t.Error("a toxic text is open from the start")
	}
	pagetest.Eval[bool](t, b, `document.querySelector(".tools a").click(); true`)
	b.Until(t, `document.querySelector(".raw pre")?.textContent.includes("messages") === true`)
	b.Quiet(t, s.server.URL)
}
