package tradeoff

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

func TestPNGHasTheFiguresSize(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 2, Safe: 2, Toxic: 2}.Make()
	f, _ := Plot(r, "lexical", chart.PageWidth)
	var b bytes.Buffer
	if err := f.PNG(&b); err != nil {
		t.Fatal(err)
	}
	config, err := png.DecodeConfig(&b)
	if err != nil {
		t.Fatal(err)
	}
	if want := int(chart.PageWidth.Points() / 72 * 144); config.Width != want {
		t.Errorf("the PNG is %d pixels wide, want %d", config.Width, want)
	}
}

func TestTargetsWithOneSideAreKept(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 6, Safe: 20, Toxic: 6}.Make()
	tests := map[string]struct {
		result   score.Result
		has, not []string
	}{
		"some of each": {
			onlyLabel(onlyLabel(r, orbench.Safe, scoretest.Target(0), scoretest.Target(3)), orbench.Toxic, scoretest.Target(1)),
			[]string{"Safe prompts only", "Toxic prompts only", "Over-refusal: safe prompts refused, %"},
			nil,
		},
		"safe only": {
			onlyLabel(r, orbench.Safe),
			[]string{"Safe prompts only"},
			[]string{"Toxic prompts only", "Toxic refusal, %"},
		},
		"toxic only": {
			onlyLabel(r, orbench.Toxic),
			[]string{"Toxic prompts only"},
			[]string{"Safe prompts only", "Over-refusal: safe prompts refused, %"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ok := Plot(tt.result, "lexical", chart.PageWidth)
			if !ok {
				t.Fatal("nothing was drawn")
			}
			all := strings.Join(pagetest.FigureTexts(t, f), "\n")
			for i := range 6 {
				if !strings.Contains(all, table.ShortenTarget(scoretest.Target(i), 34)) {
					t.Errorf("%s is missing", scoretest.Target(i))
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

// onlyLabel keeps the runs of one label for the targets chosen.
// TestLabeledRatesAreShown has people's labels beside all that a plot says of rates:
// pagetest.FigureTexts finds notes that run over the edge.
func TestLabeledRatesAreShown(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 2, Safe: 20, Toxic: 6}.Make()
	for i := range r.Runs {
		r.Runs[i].Labeled = &annotation.Corrected{Rate: stats.Estimate{Value: 0.25, Lo: 0.125, Hi: 0.5}, Labels: 40}
		for j := range r.Runs[i].Judges {
			r.Runs[i].Judges[j].Rate.Range = &stats.Interval{Lo: 0.1, Hi: 0.6}
		}
	}
	// The second target was measured on safe prompts alone.
	r = onlyLabel(r, orbench.Safe, scoretest.Target(0))
	f, ok := Plot(r, "lexical", chart.PageWidth)
	if !ok {
		t.Fatal("nothing was drawn")
	}
	all := strings.Join(pagetest.FigureTexts(t, f), " ")
	for _, want := range []string{
		"Open marks: corrected by people's labels.",
		"by people's labels 25.0% (12.5–50.0), 40 labels",
	} {
		if !strings.Contains(strings.Join(strings.Fields(all), " "), want) {
			t.Errorf("%q is missing in %s", want, all)
		}
	}
}

func onlyLabel(r score.Result, label orbench.Label, targets ...string) score.Result {
	var runs []score.RunResult
	for _, run := range r.Runs {
		chosen := len(targets) == 0
		for _, t := range targets {
			chosen = chosen || run.Target == t
		}
		if !chosen || run.Label == label {
			runs = append(runs, run)
		}
	}
	r.Runs = runs
	return r
}
