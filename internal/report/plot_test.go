package report

import (
	"bytes"
	"image/png"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/chart/charttest"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

func TestPlots(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 6, 32} {
		t.Run(strconv.Itoa(n)+" targets", func(t *testing.T) {
			t.Parallel()
			r, _ := fixture{Targets: n, Safe: 20, Toxic: 6, Simulated: n == 6}.make()
			draw := map[string]func(score.Result, string) (chart.Figure, bool){"tradeoff": tradeOff, "categories": heatMap}
			for name, draw := range draw {
				f, ok := draw(r, "lexical")
				if !ok {
					t.Fatalf("no %s", name)
				}
				charttest.Keep(t, name+"-"+strconv.Itoa(n), f)
				texts := charttest.Texts(t, f)
				for i := range n {
					want := fixtureTarget(i)
					if name == "tradeoff" && n > crowd {
						want = untrusted.Shorten(want, 30)
					}
					if name == "categories" && r.Simulated {
						want += " (simulated)"
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

func TestPNGHasTheFiguresSize(t *testing.T) {
	t.Parallel()
	r, _ := fixture{Targets: 2, Safe: 2, Toxic: 2}.make()
	f, _ := tradeOff(r, "lexical")
	var b bytes.Buffer
	if err := f.PNG(&b); err != nil {
		t.Fatal(err)
	}
	config, err := png.DecodeConfig(&b)
	if err != nil {
		t.Fatal(err)
	}
	if want := int(figureWidth.Points() / 72 * 144); config.Width != want {
		t.Errorf("the PNG is %d pixels wide, want %d", config.Width, want)
	}
}

func TestTargetsWithOneSideAreKept(t *testing.T) {
	t.Parallel()
	r, _ := fixture{Targets: 6, Safe: 20, Toxic: 6}.make()
	tests := map[string]struct {
		result   score.Result
		has, not []string
	}{
		"some of each": {
			onlyLabel(onlyLabel(r, orbench.Safe, fixtureTarget(0), fixtureTarget(3)), orbench.Toxic, fixtureTarget(1)),
			[]string{"Safe prompts only", "Toxic prompts only", "safe prompts refused, %"},
			nil,
		},
		"safe only": {
			onlyLabel(r, orbench.Safe),
			[]string{"Safe prompts only"},
			[]string{"Toxic prompts only", "toxic prompts refused, %"},
		},
		"toxic only": {
			onlyLabel(r, orbench.Toxic),
			[]string{"Toxic prompts only"},
			[]string{"Safe prompts only", "safe prompts refused, %"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ok := tradeOff(tt.result, "lexical")
			if !ok {
				t.Fatal("nothing was drawn")
			}
			charttest.Keep(t, "tradeoff "+name, f)
			all := strings.Join(charttest.Texts(t, f), "\n")
			for i := range 6 {
				if !strings.Contains(all, untrusted.Shorten(fixtureTarget(i), 34)) {
					t.Errorf("%s is missing", fixtureTarget(i))
				}
			}
			for _, want := range tt.has {
				if !strings.Contains(all, want) {
					t.Errorf("%q is missing", want)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(all, not) {
					t.Errorf("%q is there", not)
				}
			}
		})
	}
}

func TestNothingToDraw(t *testing.T) {
	t.Parallel()
	r, _ := fixture{Targets: 1, Safe: 2, Toxic: 2}.make()
	for i := range r.Runs {
		r.Runs[i].Judges = []score.JudgeResult{{Judge: "lexical"}}
	}
	if _, ok := tradeOff(r, "lexical"); ok {
		t.Error("a trade-off was drawn of nothing")
	}
	if _, ok := heatMap(r, "lexical"); ok {
		t.Error("a heat map was drawn without categories")
	}
	if _, ok := tradeOff(score.Result{}, "lexical"); ok {
		t.Error("a trade-off was drawn of an empty result")
	}
}

// Names from outside cannot break out of the SVG, nor make it invalid XML.
func TestUntrustedNamesInPlots(t *testing.T) {
	t.Parallel()
	r, _ := fixture{Targets: 1, Safe: 2, Toxic: 2}.make()
	const evil = "</text><script>alert(1)</script>\x00\x1b[31m\u202e&\"'\xff"
	for i := range r.Runs {
		r.Runs[i].Target, r.Runs[i].Dataset = evil, evil
		for k := range r.Runs[i].Judges {
			j := &r.Runs[i].Judges[k]
			j.Judge = evil
			j.ByCategory = map[orbench.Category]score.Count{evil: {N: 4, Refused: 1}, "fine": {N: 1}}
		}
	}
	for name, draw := range map[string]func(score.Result, string) (chart.Figure, bool){"tradeoff": tradeOff, "categories": heatMap} {
		f, ok := draw(r, evil)
		if !ok {
			t.Fatalf("no %s", name)
		}
		charttest.Keep(t, "hostile-"+name, f)
		charttest.Texts(t, f)
		inline, err := f.InlineSVG(evil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(inline, "<script") || strings.ContainsAny(inline, "\x00\x1b\u202e") {
			t.Errorf("%s lets a name through", name)
		}
	}
}

// A dataset with very many categories gives a figure of a bounded size.
func TestManyCategories(t *testing.T) {
	t.Parallel()
	r, _ := fixture{Targets: 2, Safe: 2, Toxic: 2}.make()
	for i := range r.Runs {
		for k := range r.Runs[i].Judges {
			counts := map[orbench.Category]score.Count{}
			for c := range 500 {
				counts[orbench.Category("a rather long name of category "+strconv.Itoa(c))] = score.Count{N: c, Refused: c / 2}
			}
			r.Runs[i].Judges[k].ByCategory = counts
		}
	}
	f, ok := heatMap(r, "lexical")
	if !ok {
		t.Fatal("no heat map")
	}
	charttest.Keep(t, "categories-many", f)
	if f.Width > 3000 {
		t.Errorf("the figure is %v points wide", f.Width)
	}
	all := strings.Join(charttest.Texts(t, f), "\n")
	for _, want := range []string{"the 40 largest of 500 categories", "499"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing", want)
		}
	}
}
