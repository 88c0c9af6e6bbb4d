package report

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/report/tradeoff"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/internal/table"
)

func TestPlots(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 6, 32} {
		t.Run(strconv.Itoa(n)+" targets", func(t *testing.T) {
			t.Parallel()
			r, _ := scoretest.Fixture{Targets: n, Safe: 20, Toxic: 6, Simulated: n == 6}.Make()
			for _, plot := range plots(r, "lexical") {
				name, f := plot.name, plot.figure
				texts := pagetest.FigureTexts(t, f)
				for i := range n {
					want := table.ShortenTarget(scoretest.Target(i), 34)
					if name == "radar" || strings.HasPrefix(name, "categories") {
						want = table.ShortenTarget(table.Name(scoretest.Target(i), r.Simulated), gridName)
					}
					if !slices.Contains(texts, want) {
						t.Errorf("%s does not name %s", name, want)
					}
				}
				all := strings.Join(texts, "\n")
				for _, want := range []string{"starter@1a2b3c4d", "lexical"} {
					if !strings.Contains(all, want) {
						t.Errorf("%s does not say %q", name, want)
					}
				}
				if strings.Contains(strings.ToLower(all), "simulated") != r.Simulated {
					t.Errorf("%s of a simulated result (%v) says:\n%s", name, r.Simulated, all)
				}
			}
		})
	}
}

// TestPublishedBeside has the published models stand beside their own prompts alone.
func TestPublishedBeside(t *testing.T) {
	t.Parallel()
	for set, beside := range map[string]bool{"or-bench-hard-1k": true, "starter": false} {
		r, _ := scoretest.Fixture{Targets: 2, Safe: 20, Toxic: 6}.Make()
		for i := range r.Runs {
			if r.Runs[i].Dataset = set; beside && r.Runs[i].Label == orbench.Toxic {
				r.Runs[i].Dataset = "or-bench-toxic"
			}
		}
		f, _ := tradeoff.Plot(r, "lexical", chart.PageWidth)
		if shown := strings.Contains(strings.Join(pagetest.FigureTexts(t, f), "\n"), "32 published models"); shown != beside {
			t.Errorf("%s: the published models are shown: %v; want %v", set, shown, beside)
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 1, Safe: 2, Toxic: 2}.Make()
	for i := range r.Runs {
		r.Runs[i].Judges = []score.JudgeResult{{Judge: "lexical"}}
		r.Runs[i].Finish()
	}
	if all := append(plots(r, "lexical"), plots(score.Result{}, "lexical")...); len(all) > 0 {
		t.Errorf("%s was drawn of nothing", all[0].name)
	}
}

// Names from outside cannot break out of the SVG, nor make it invalid XML.
func TestUntrustedNamesInPlots(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 1, Safe: 2, Toxic: 2}.Make()
	const evil = "</text><script>alert(1)</script>\x00\x1b[31m\u202e&\"'\xff"
	for i := range r.Runs {
		r.Runs[i].Target, r.Runs[i].Dataset = evil, evil
		for k := range r.Runs[i].Judges {
			j := &r.Runs[i].Judges[k]
			j.Judge = evil
			j.ByCategory = map[orbench.Category]score.Count{evil: {N: 4, Refused: 1}, "fine": {N: 1}}
		}
		r.Runs[i].Finish()
	}
	for _, plot := range plots(r, evil) {
		f := plot.figure
		pagetest.FigureTexts(t, f)
		inline, err := f.InlineSVG(evil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(inline, "<script") || strings.ContainsAny(inline, "\x00\x1b\u202e") {
			t.Errorf("%s lets a name through", plot.name)
		}
	}
}

// TestRadarNamesAll has a target that was asked safe prompts alone, and one that was asked toxic
// prompts alone, beside one that was asked both.
func TestRadarNamesAll(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 3, Safe: 20, Toxic: 6}.Make()
	r.Runs = slices.DeleteFunc(r.Runs, func(run score.RunResult) bool {
		return run.Target == scoretest.Target(0) && run.Label == orbench.Toxic || run.Target == scoretest.Target(2) && run.Label == orbench.Safe
	})
	f, ok := radar(r, "lexical")
	if !ok {
		t.Fatal("there is no radar")
	}
	texts := pagetest.FigureTexts(t, f)
	for i := range 3 {
		if want := table.ShortenTarget(scoretest.Target(i), gridName); !slices.Contains(texts, want) {
			t.Errorf("%s is not in the radar", want)
		}
	}
}
